"""Text from data as a reader sees it: hidden characters made visible."""

from __future__ import annotations

import unicodedata

# Categories whose characters are not seen or move what stands around them: controls, format
# characters (bidi, zero width), surrogates, private use, line and paragraph separators.
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
KEPT = {"\n", "\t"}


def visible(text: str) -> str:
    """The text with hidden characters written as their code, ⟨U+200B⟩; line feeds and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"⟨U+{ord(letter):04X}⟩"
        if letter not in KEPT and unicodedata.category(letter) in HIDDEN
        else letter
        for letter in text
    )
