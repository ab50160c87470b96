"""The clinicians' audit: sheets for raters, and their answers on the way back to the store."""
