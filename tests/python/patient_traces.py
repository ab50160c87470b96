"""Finds patients of raw files in what the project writes for others: logs, results, pages, exports.

A trace is an identifier of a person, a visit or an order, or a date of one. Titles of codes and names
of drugs are none: released items are made of them.
"""

from __future__ import annotations

import csv
import gzip
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SOURCES = ("mimic_iv", "mimic_iii", "omop")
# Seven digits and more, alone: no part of a hash, a decimal or a longer name.
IDENTIFIER = re.compile(r"(?<![\w.])[0-9]{7,}(?!\w)")
DATE = re.compile(r"(?<!\d)[0-9]{4}-[0-9]{2}-[0-9]{2}(?!\d)")


def of_patients(raw: Path) -> set[str]:
    """Identifiers and dates in the raw files of patients below a folder."""
    found: set[str] = set()
    for source in SOURCES:
        for file in sorted((raw / source).rglob("*.csv*"), key=str) + sorted(
            (raw / source).rglob("*.CSV*"), key=str
        ):
            opener = gzip.open if file.suffix.lower() == ".gz" else open
            with opener(file, "rt", encoding="utf-8", errors="replace", newline="") as lines:
                for row in csv.DictReader(lines):
                    found |= set(_traces(row))
    return found


def of_project(root: Path) -> set[str]:
    """Numbers and dates that the project's own tests and fixtures hold: dbt's artefacts repeat them."""
    found: set[str] = set()
    for folder in ("models", "tests", "seeds", "macros"):
        for file in (root / folder).rglob("*"):
            if file.suffix in (".yml", ".sql", ".csv"):
                text = file.read_text(encoding="utf-8")
                found.update((*IDENTIFIER.findall(text), *DATE.findall(text)))
    return found


def _traces(row: dict[str, str]) -> Iterator[str]:
    for column, value in row.items():
        name = (column or "").lower()
        if not isinstance(value, str) or "concept" in name or name.startswith("valid_"):
            continue
        if name.endswith("_id"):
            yield from IDENTIFIER.findall(value)
        elif DATE.match(value):
            # Dates of patients lie in the future; those of the project and its vocabularies do not.
            yield from (date for date in DATE.findall(value) if date > "2050")


def texts(file: Path) -> Iterator[str]:
    """What a file says, unpacked."""
    if file.suffix == ".parquet":
        table = pq.read_table(file)
        for name, column in zip(table.column_names, table.columns, strict=True):
            if not pa.types.is_nested(column.type):
                yield "\n".join([name, *map(str, column.unique().to_pylist())])
    elif zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as packed:
            for name in packed.namelist():
                yield packed.read(name).decode("utf-8", "replace")
    else:
        data = file.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        yield data.decode("utf-8", "replace")


def in_text(text: str, wanted: set[str]) -> set[str]:
    """The traces in a text."""
    return wanted.intersection((*IDENTIFIER.findall(text), *DATE.findall(text)))


def in_files(places: Iterable[Path], wanted: set[str]) -> dict[str, list[str]]:
    """File -> the first traces in it, for the files at and below some places."""
    found = {}
    for place in places:
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        for file in files:
            if not file.is_file():
                continue
            traces = set().union(*(in_text(text, wanted) for text in texts(file)))
            if traces:
                found[str(file.relative_to(place.parent))] = sorted(traces)[:5]
    return found
