"""Writers with fixed bytes: gzip without a clock or file name, plain text with fixed line ends."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO


@contextlib.contextmanager
def gzip_text(path: Path, encoding: str = "utf-8", level: int = 4) -> Iterator[TextIO]:
    """Open a gzip file for text; equal text gives equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as raw:
        with gzip.GzipFile(
            filename="", mode="wb", fileobj=raw, compresslevel=level, mtime=0
        ) as packed:
            with io.TextIOWrapper(packed, encoding=encoding, newline="") as out:
                yield out


@contextlib.contextmanager
def plain_text(path: Path, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Open a plain text file; line ends are written as given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding=encoding, newline="") as out:
        yield out


def write_csv(path: Path, header: list[str], rows: list) -> int:
    """Write a small CSV (gzip when the name ends in .gz) and return its number of rows."""
    opener = gzip_text if path.suffix == ".gz" else plain_text
    with opener(path) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return len(rows)


def write_lines(path: Path, lines: list[str], encoding: str = "utf-8", end: str = "\n") -> int:
    """Write lines with a fixed line end and return their number."""
    with plain_text(path, encoding) as out:
        out.writelines(line + end for line in lines)
    return len(lines)


NULL = object()


def dump_row(values: list) -> str:
    r"""One row of a SemMedDB dump: text quoted with backslash escapes, numbers bare, NULL as \N."""
    parts = []
    for value in values:
        if value is NULL:
            parts.append("\\N")
        elif isinstance(value, int):
            parts.append(str(value))
        else:
            text = value.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'")
            parts.append(f'"{text}"')
    return ",".join(parts) + "\n"
