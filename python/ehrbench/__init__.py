"""The thin Python layer of EHRBench: everything that is not SQL.

SQL plans, checks and scores; this package makes test data (`synth`), calls models (`generate`),
keeps their answers (`completions`) and alternates the two with dbt (`run`).
"""

from ehrbench import offline

__version__ = "0.1.0"

# Before any other library is imported: most read it once.
offline.set_defaults()
