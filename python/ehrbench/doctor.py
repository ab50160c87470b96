"""`ehrbench doctor`: is everything there that a target reads, and is it what it should be?

What to expect (files, formats, columns) is read from the dbt sources (models/staging/*/
_*__sources.yml), so it is written down once.
"""

from __future__ import annotations

import csv
import gzip
import importlib.metadata
import io
import os
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from ehrbench import convert, paths
from ehrbench.engines import vllm_offline
from ehrbench.errors import EhrbenchError, one_line

OK, MISSING, WRONG = "ok", "missing", "wrong"
# Sources that dbt writes or reads from the build folder: not brought by a user.
INTERNAL = ("completions", "truth", "weights")
SEMMEDDB_FILE = re.compile(r"(semmedVER[0-9]+_[0-9]+_R)_([A-Z_]+)\.", re.I)


@dataclass
class Finding:
    """One line of the report; `more` are further problems of the same thing."""

    state: str
    name: str
    text: str
    more: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The finding as printed lines."""
        head = f"{self.state:<8} {self.name:<16} {self.text}"
        return [head, *(f"{'':<25} {problem}" for problem in self.more)]


@dataclass(frozen=True)
class Table:
    """What a source's yml says about one raw file."""

    name: str
    files: list[str]
    format: str
    columns: list[str]
    optional: list[str]
    may_be_missing: bool = False


def declared_sources(root: Path) -> dict[str, list[Table]]:
    """Source name -> tables, as declared for dbt."""
    sources: dict[str, list[Table]] = {}
    for file in sorted((root / "models" / "staging").glob("*/_*sources.yml")):
        try:
            document = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
        except yaml.YAMLError as error:
            raise EhrbenchError(f"{file.name} is not YAML: {one_line(error)}") from error
        for source in document.get("sources", []):
            tables = []
            for table in source.get("tables", []):
                meta = (table.get("config") or {}).get("meta") or table.get("meta") or {}
                if "file" not in meta:
                    continue
                files = [meta["file"]] if isinstance(meta["file"], str) else list(meta["file"])
                tables.append(
                    Table(
                        name=table["name"],
                        files=files,
                        format=meta.get("format", "csv"),
                        columns=list(meta.get("columns", [])),
                        optional=list(meta.get("optional", [])),
                        may_be_missing=bool(meta.get("may_be_missing")) or paths.MARKER in files,
                    )
                )
            sources[source["name"]] = tables
    return sources


def shown(path: Path) -> str:
    """A path relative to the project where that is shorter."""
    short = os.path.relpath(path, paths.project_root())
    return short if len(short) < len(str(path)) else str(path)


def find_files(folder: Path, table: Table) -> list[Path]:
    """Files of a table: those of the first alternative that matches anything."""
    for pattern in table.files:
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        if found:
            return found
    return []


def check_source(name: str, tables: list[Table], target: str) -> Finding:
    """State of one source for a target."""
    folder = paths.source_dir(name, target)
    variable = f"EHRBENCH_{name.upper()}_DIR"
    if folder is None:
        return Finding(MISSING, name, f"{variable} is not set")
    if not folder.is_dir():
        if target == "synthetic":
            return Finding(MISSING, name, f"no {shown(folder)}: run ehrbench synth")
        if os.environ.get(variable):
            return Finding(
                WRONG, name, f"{variable} names {shown(folder)}, which is no folder: correct it"
            )
        return Finding(MISSING, name, f"no {shown(folder)} and {variable} is not set")
    required = [table for table in tables if not table.may_be_missing]
    found = {table.name: find_files(folder, table) for table in tables}
    absent = [table for table in required if not found[table.name]]
    if required and len(absent) == len(required) and not wrong_release(folder, absent):
        return Finding(WRONG, name, f"{shown(folder)} holds none of its files: check {variable}")
    problems = []
    for table in tables:
        for file in found[table.name]:
            problem = check_file(file, table)
            if problem:
                problems.append(f"{table.name}: {shown(file)} {problem}")
    others = wrong_release(folder, absent)
    problems += others.values()
    lacking = [
        f"{table.name}: no {table.files[0]} in {shown(folder)}"
        for table in absent
        if table.name not in others
    ]
    # What synth does not write is not needed by its target.
    if target != "synthetic":
        problems += [f"{line}: add it" for line in lacking]
    if problems:
        return Finding(WRONG, name, problems[0], problems[1:])
    text = f"{len(required) - len(absent)} of {len(required)} tables in {shown(folder)}"
    return Finding(OK, name, text, [f"{line}: read as empty" for line in lacking])


def check_file(file: Path, table: Table) -> str | None:
    """What is wrong with a raw file, looking at its beginning only; None when nothing is."""
    if file.stat().st_size == 0:
        return "is empty: fetch it again"
    if table.format == "parquet":
        return check_parquet(file, table)
    with file.open("rb") as handle:
        is_gzip = handle.read(2) == b"\x1f\x8b"
    if file.suffix == ".gz" and not is_gzip:
        return "is named .gz but is not gzip: fetch it again"
    if file.suffix != ".gz" and is_gzip:
        return "is gzip but not named .gz: rename it"
    try:
        first = first_line(file, table)
    except (OSError, EOFError) as error:
        return f"cannot be unpacked ({one_line(error, 80)}): fetch it again"
    except UnicodeDecodeError:
        return "does not begin with text: fetch it again"
    if not first.strip():
        return "has no first line: fetch it again"
    if table.format == "csv":
        header = {name.strip().lower() for name in next(csv.reader([first]))}
        for column in table.columns:
            if column.lower() not in header and column not in table.optional:
                return f"has no column {column} in its header: use the release that README names"
        return None
    return check_width(first, table)


def first_line(file: Path, table: Table) -> str:
    """First line of a text file, packed or not (a quoted field may hold line ends)."""
    opener = gzip.open if file.suffix == ".gz" else open
    encoding = "latin-1" if table.format == "semmeddb" else "utf-8-sig"
    with opener(file, "rt", encoding=encoding, newline="") as handle:
        if table.format in ("semmeddb", "csv_positional"):
            lines = ""
            # A field in quotes can span lines: read on while the quotes are odd.
            for _ in range(50):
                lines += handle.readline()
                if lines.replace('\\"', "").count('"') % 2 == 0:
                    break
            return lines
        return handle.readline()


def check_width(line: str, table: Table) -> str | None:
    """Compare the number of fields of a headerless file's first line with what is declared."""
    wanted = len(table.columns)
    if table.format == "rrf":
        text = line.rstrip("\r\n")
        found = text.count("|") + (not text.endswith("|"))
    elif table.format == "semmeddb":
        reader = csv.reader(io.StringIO(line), escapechar="\\", doublequote=False)
        found = len(next(reader))
    elif table.format == "csv_positional":
        found = len(next(csv.reader(io.StringIO(line))))
    else:
        return None
    if found != wanted:
        return f"has {found} fields in its first line, not {wanted}: use the release README names"
    return None


def check_parquet(file: Path, table: Table) -> str | None:
    """Check that a file is Parquet and has the declared columns."""
    try:
        names = {name.lower() for name in pq.read_schema(file).names}
    except Exception as error:  # pyarrow raises several kinds for a file that is none
        return f"is not Parquet ({one_line(error, 80)}): convert it again"
    for column in table.columns:
        if column.lower() not in names and column not in table.optional:
            return f"has no column {column}: convert it again"
    return None


def wrong_release(folder: Path, absent: list[Table]) -> dict[str, str]:
    """Absent tables of SemMedDB that are there in another release: table -> problem."""
    others = {}
    for file in sorted(folder.iterdir()):
        match = SEMMEDDB_FILE.match(file.name)
        if match:
            others[match.group(2).upper()] = match.group(1)
    problems = {}
    for table in absent:
        match = SEMMEDDB_FILE.match(table.files[0])
        found = others.get(match.group(2).upper()) if match else None
        if found:
            problems[table.name] = (
                f"{table.name}: release {found} found, {match.group(1)} is read: "
                "fetch the final release"
            )
    return problems


# --------------------------------------------------------------------------------- the rest


def check_versions() -> Finding:
    """Versions of what does the work."""
    names = ("dbt-core", "dbt-duckdb", "duckdb")
    parts = [f"python {platform.python_version()}"]
    for name in names:
        try:
            parts.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            return Finding(WRONG, "versions", f"{name} is not installed: pip install -e .")
    dbt = tuple(int(part) for part in importlib.metadata.version("dbt-core").split(".")[:2])
    if dbt != (1, 11):
        return Finding(
            WRONG,
            "versions",
            f"dbt-core {dbt[0]}.{dbt[1]} is installed, 1.11 works: pip install -e .",
        )
    return Finding(OK, "versions", ", ".join(parts))


def check_engine() -> Finding:
    """State of the offline engine; not having one is fine."""
    state, line = vllm_offline.problem()
    return Finding(state, "engine", line)


def check_embedded_model() -> Finding:
    """State of the model that needs no download."""
    if convert.is_converted():
        return Finding(OK, "embedded model", shown(convert.converted_path()))
    if convert.gguf_path() is not None:
        return Finding(
            MISSING, "embedded model", "not converted yet: ehrbench convert embedded-model"
        )
    return Finding(MISSING, "embedded model", f"{convert.PINNED} is not installed (extra cpu)")


def check_data_class(target: str) -> Finding:
    """Whose data the target reads, as the data-use guard sees it."""
    return Finding(OK, "data class", paths.data_class(target))


def examine_sources(target: str) -> list[Finding]:
    """One finding per source that a user brings."""
    root = paths.project_root()
    return [
        check_source(name, tables, target)
        for name, tables in sorted(declared_sources(root).items())
        if name not in INTERNAL
    ]


def examine(target: str) -> list[Finding]:
    """The whole report for a target."""
    return [
        check_versions(),
        *examine_sources(target),
        check_data_class(target),
        check_engine(),
        check_embedded_model(),
    ]
