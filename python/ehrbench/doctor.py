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
import shutil
import tomllib
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import yaml

from ehrbench import (
    built,
    convert,
    dbt,
    embed,
    generate,
    macros,
    paths,
    score_texts,
    seeds,
    spark,
    sql,
)
from ehrbench.engines import ModelSpec, vllm_offline
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.progress import Progress, size

# WARN is worth a look and stops nothing.
OK, MISSING, WARN, WRONG = "ok", "missing", "warn", "wrong"
# Sources that dbt writes or reads from the build folder: not brought by a user.
INTERNAL = ("completions", "truth", "weights")
# Without these nothing of a source of patients counts; every other table may be missing.
PEOPLE_AND_VISITS = ("patients", "admissions", "person", "visit_occurrence")
# What else is lost with a missing table.
MISSED = {("mimic_iii", "icustays"): "beside MIMIC-IV no patient counts (var mimic_iii_stays)"}
# Names that no site may have: sources of their own, and `all` of the reports.
RESERVED = {*paths.PATIENT_FILES, "all"}
# Files together larger than this are not read whole by a look (bytes).
READ_AT_MOST = 2**28
# Packed files up to here are unpacked to their end (bytes), larger ones when asked (check_packing).
UNPACK_AT_MOST = 2**26
# A first line is read up to here (characters): a file without line ends is no table.
LINE_AT_MOST = 2**20
# The one in C where there is one: ten times as fast, and as safe.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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
    sites: bool = False
    header: dict[str, str] = field(default_factory=dict)
    fields: list[str] = field(default_factory=list)
    encoding: str = "utf-8"
    looks: dict[str, object] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    torn_lines: bool | str = False
    delim: str = ","

    def meta(self) -> dict[str, object]:
        """What macros read of it."""
        return asdict(self)

    def in_file(self) -> list[str]:
        """Columns that the file itself has; those that begin with `_` come from the reading."""
        return [name for name in self.columns if not name.startswith("_")]


def declared_sources(root: Path) -> dict[str, list[Table]]:
    """Source name -> tables, as declared for dbt."""
    sources: dict[str, list[Table]] = {}
    for file in sorted((root / "models" / "staging").glob("*/_*sources.yml")):
        try:
            document = yaml.load(file.read_text(encoding="utf-8"), LOADER) or {}
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
                        sites=bool(meta.get("sites")),
                        header=dict(meta.get("header") or {}),
                        fields=list(meta.get("fields", [])),
                        encoding=meta.get("encoding", "utf-8"),
                        looks=dict(meta.get("looks") or {}),
                        types=dict(meta.get("types") or {}),
                        torn_lines=meta.get("torn_lines", False),
                        delim=meta.get("delim", ","),
                    )
                )
            sources[source["name"]] = tables
    return sources


@cache
def _declared(root: Path) -> dict[str, list[Table]]:
    return declared_sources(root)


def shown(path: Path) -> str:
    """A path relative to the project where that is shorter."""
    short = os.path.relpath(path, paths.project_root())
    return short if len(short) < len(str(path)) else str(path)


def check_source(name: str, tables: list[Table], target: str) -> list[Finding]:
    """State of one source for a target: one finding, or one per site of a source with sites."""
    folder = paths.source_dir(name, target)
    variable = paths.variable(name)
    if folder is None:
        return [Finding(MISSING, name, f"{variable} is not set")]
    if not folder.is_dir():
        if target == "synthetic":
            return [Finding(MISSING, name, f"no {shown(folder)}: run ehrbench synth")]
        if os.environ.get(variable):
            text = f"{variable} names {shown(folder)}, which is no folder: correct it"
            return [Finding(WRONG, name, text)]
        return [Finding(MISSING, name, f"no {shown(folder)} and {variable} is not set")]
    if not any(table.sites for table in tables):
        return [check_folder(name, tables, target, folder)]
    wanted = [pattern for table in tables if not table.may_be_missing for pattern in table.files]
    sites = [site for site in paths.sites(name, folder) if paths.matching_files(site, wanted)]
    if not sites and target == "demo" and not os.environ.get(variable):
        return [Finding(MISSING, name, f"no site in {shown(folder)} and {variable} is not set")]
    if not sites:
        return [check_folder(name, tables, target, folder)]
    names = [paths.site_name(site) for site in sites]
    taken = {one for one in names if names.count(one) > 1} | (RESERVED - {name})
    return [
        Finding(WRONG, name, f"site {one}: this name is taken: rename {shown(site)}")
        if one in taken
        else check_site(name, tables, target, site)
        for site, one in zip(sites, names, strict=True)
    ]


def check_site(name: str, tables: list[Table], target: str, site: Path) -> Finding:
    """State of one site: its tables, whose data they are, and rows that belong to no visit."""
    found = check_folder(name, tables, target, site)
    found.text = f"site {paths.site_name(site)}: {found.text}"
    if found.state == OK:
        found.text += f", {paths.site_class(name, site)} data"
        found.more += [*wrong_name(site, tables), *rows_without_visits(site, tables)]
    return found


def wrong_name(site: Path, tables: list[Table]) -> list[str]:
    """A line for a demo whose rules go by its name (seed source_overlaps) under another one."""
    patterns = [pattern for table in tables if table.name == "person" for pattern in table.files]
    people = paths.matching_files(site, patterns)
    if not people or people[0].stat().st_size > READ_AT_MOST:
        return []
    try:
        [(digest,)] = query(
            f"select md5(string_agg(id, '|' order by id)) from ({ids(people[0], 'person_id')})"
        )
    except duckdb.Error as error:
        return [unreadable("person", error)]
    named = {row["source"] for row in seed("source_overlaps")}
    return [
        f"this is the {row['comment']}, whose rules go by its name: name its folder "
        f"{row['source'].replace('_', '-')}"
        for row in seed("demo_counts")
        if row["subject_digest"] == digest
        and row["source"] in named
        and row["source"] != paths.site_name(site)
    ]


def seed(name: str) -> list[dict[str, str]]:
    """Rows of a seed."""
    file = paths.project_root() / "seeds" / f"{name}.csv"
    with file.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def rows_without_visits(site: Path, tables: list[Table]) -> list[str]:
    """A line per table of a site most of whose rows name no visit that the site has.

    Such rows make no event. Large files are not read for this: the build counts them all.
    """
    files = {table.name: paths.matching_files(site, table.files)[:1] for table in tables}
    if not files.get("visit_occurrence"):
        return []
    lines = []
    for table in ("condition_occurrence", "drug_exposure", "procedure_occurrence"):
        read = [*files["visit_occurrence"], *files.get(table, [])]
        if len(read) < 2 or sum(file.stat().st_size for file in read) > READ_AT_MOST:
            continue
        visits, rows = (ids(file) for file in read)
        try:
            [(n_rows, n_lost)] = query(
                f"with visits as ({visits}), rows as ({rows}) "
                "select count(*), count(*) filter (where id is null "
                "or id not in (select id from visits where id is not null)) from rows"
            )
        except duckdb.Error as error:
            lines.append(unreadable(table, error))
            continue
        if n_lost * 2 > n_rows:
            lines.append(
                f"{table}: {n_lost:,} of {n_rows:,} rows name no visit of visit_occurrence and "
                "make no event: rebuild the visits"
            )
    return lines


def query(sql: str) -> list[tuple]:
    """Rows of a query on files, on a connection of its own."""
    with duckdb.connect() as connection:
        return connection.execute(sql).fetchall()


def unreadable(table: str, error: duckdb.Error) -> str:
    """DuckDB's first line about a file, and the mend; what follows it may quote rows."""
    said = one_line(error)
    return f"{table}: cannot be read to its end ({said}{dbt.file_and_mend(said, str(error))})"


def ids(file: Path, column: str = "visit_occurrence_id") -> str:
    """SQL that reads a column of ids of a file as macro omop_id does, header rows left out."""
    name = sql.file(file)
    if file.suffix.lower() == ".parquet":
        reader = f"read_parquet({name})"
    else:
        # Torn lines are read as the build reads them (raw() with torn_lines).
        reader = (
            f"read_csv({name}, header = true, all_varchar = true, null_padding = true, "
            "strict_mode = false, parallel = false, comment = '')"
        )
    return (
        f"select nullif(regexp_replace(trim(cast({column} as varchar)), "
        f"'\\.0+$', ''), '') as id from {reader} "
        f"where {column} is null or lower(cast({column} as varchar)) <> '{column}'"
    )


def check_folder(name: str, tables: list[Table], target: str, folder: Path) -> Finding:
    """State of the files of a source (or of one of its sites) in one folder."""
    variable = paths.variable(name)
    required = [table for table in tables if not table.may_be_missing]
    found = {table.name: paths.matching_files(folder, table.files) for table in tables}
    misplaced = {
        table.name: place
        for table in tables
        if not found[table.name] and (place := folder_in_place(folder, table.files))
    }
    absent = [
        table for table in required if not found[table.name] and table.name not in misplaced
    ]
    nothing = len(absent) == len(required) and not any(found.values())
    if tables and nothing and not wrong_release(folder, absent):
        return Finding(WRONG, name, f"{shown(folder)} holds none of its files: check {variable}")
    problems = [
        f"{table}: {shown(place)} is a folder: put the file in its place"
        for table, place in misplaced.items()
    ]
    for table in tables:
        for file in found[table.name]:
            try:
                problem = check_file(name, file, table)
            except macros.Stopped as stopped:
                line = str(stopped).removeprefix(f"{name}.")
                problems.append(line.replace(str(file), shown(file)))
                continue
            if problem:
                problems.append(f"{table.name}: {shown(file)} {problem}")
    others = wrong_release(folder, absent)
    problems += others.values()
    lacking = []
    for table in absent:
        line = f"{table.name}: no {table.files[0]} in {shown(folder)}"
        if table.name in PEOPLE_AND_VISITS:
            problems.append(f"{line}: add it")
        elif table.name not in others:
            missed = MISSED.get((name, table.name))
            lacking.append(f"{line}: read as empty" + (f", so {missed}" if missed else ""))
    if problems:
        return Finding(WRONG, name, problems[0], [*problems[1:], *lacking])
    if required:
        text = f"{len(required) - len(absent)} of {len(required)} tables in {shown(folder)}"
    else:
        n_found = sum(1 for files in found.values() if files)
        text = f"{n_found} of {len(tables)} tables in {shown(folder)}, none of them a must"
    return Finding(OK, name, text, lacking)


def folder_in_place(folder: Path, patterns: list[str]) -> Path | None:
    """A folder with the name of a file."""
    for pattern in patterns:
        for path in sorted(folder.glob(paths.any_case(pattern))) if "*" not in pattern else ():
            if path.is_dir():
                return path
    return None


def check_file(source: str, file: Path, table: Table) -> str | None:
    """What is wrong with a raw file, looking at its beginning only; None when nothing is.

    Raises Stopped where a macro of the build finds it.
    """
    if "?" in str(file):
        return "has a question mark in its path, which DuckDB cannot read: rename it"
    if "\\" in file.as_posix():
        return "has a backslash in its path, which DuckDB cannot search: rename it"
    try:
        return check_beginning(source, file, table)
    except (OSError, EOFError, zlib.error) as error:
        return torn(error)
    except UnicodeDecodeError:
        return "does not begin with UTF-8 text: fetch it again, or re-encode it"
    except csv.Error:
        return "does not begin with a line of a table: fetch it again"


def check_beginning(source: str, file: Path, table: Table) -> str | None:
    """What is wrong with the size, the packing or the first line of a file."""
    if file.stat().st_size == 0:
        return "is empty: fetch it again"
    if table.format == "parquet" or file.suffix.lower() == ".parquet":
        return check_parquet(source, file, table)
    with file.open("rb") as handle:
        is_gzip = handle.read(2) == b"\x1f\x8b"
    named_gzip = file.suffix.lower() == ".gz"
    if named_gzip and not is_gzip:
        return "is named .gz but is not gzip: fetch it again"
    if not named_gzip and is_gzip:
        return "is gzip but not named .gz: rename it"
    first = first_line(file, table)
    if not first.strip():
        return "has no first line: fetch it again"
    if "\0" in first:
        return "holds zero bytes in its first line: fetch it again, or re-encode it as UTF-8"
    if table.format == "csv":
        delimiter = "\t" if "\t" in first else ","
        names = [name.strip().lower() for name in next(csv.reader([first], delimiter=delimiter))]
        check_columns(source, file, table, names)
        problem = None
    else:
        problem = check_width(first, table)
    if problem is None and is_gzip and file.stat().st_size <= UNPACK_AT_MOST:
        unpack(file)
    return problem or check_looks(source, file, table)


def unpack(file: Path, told: Callable[[int], None] = lambda n: None) -> None:
    """Read a packed file to its end, which DuckDB does without comparing checksums.

    told: called with packed bytes that were read. Raises what gzip raises for a damaged file.
    """
    with file.open("rb") as packed, gzip.GzipFile(fileobj=packed) as handle:
        before = 0
        while handle.read(2**20):
            told(packed.tell() - before)
            before = packed.tell()
        told(packed.tell() - before)


def torn(error: Exception) -> str:
    """What is said of a file that cannot be unpacked."""
    return f"cannot be unpacked ({one_line(error, 80)}): fetch it again"


@cache
def _macros(root: Path) -> macros.Macros:
    """The build's own macros, on a database of their own."""
    nodes = [
        macros.node(source, table.name, table.meta())
        for source, tables in _declared(root).items()
        for table in tables
    ]
    return macros.Macros(root, duckdb.connect(), nodes)


def check_columns(source: str, file: Path, table: Table, found: list[str]) -> None:
    """Raises Stopped with the build's line where the titles (lower case) are not the table's."""
    _macros(paths.project_root()).call(
        "check_columns", source, table.name, table.meta(), sql.file(file), found
    )


def check_looks(source: str, file: Path, table: Table) -> str | None:
    """Whether the first values of a column are those of the table; raises Stopped if not."""
    if not table.looks:
        return None
    known, meta = _macros(paths.project_root()), table.meta()
    try:
        reader = known.call("file_reader", meta, [sql.file(file)])["reader"]
        known.call("check_looks", source, table.name, meta, sql.file(file), reader)
    except duckdb.Error as error:
        said = one_line(error)
        mend = dbt.file_and_mend(said, str(error))
        if not mend:
            return "does not begin with lines of a table: fetch it again"
        return f"cannot be read to its end ({said}{mend})"
    return None


def first_line(file: Path, table: Table) -> str:
    """First line of a text file, packed or not (a quoted field may hold line ends)."""
    opener = gzip.open if file.suffix.lower() == ".gz" else open
    is_latin = table.format == "semmeddb" or table.encoding == "latin-1"
    encoding = "latin-1" if is_latin else "utf-8-sig"
    with opener(file, "rt", encoding=encoding, newline="") as handle:
        if table.format in ("semmeddb", "csv_positional"):
            lines = ""
            # A field in quotes can span lines: read on while the quotes are odd.
            for _ in range(50):
                lines += handle.readline(LINE_AT_MOST)
                if lines.replace('\\"', "").count('"') % 2 == 0:
                    break
            return lines
        return handle.readline(LINE_AT_MOST)


def check_width(line: str, table: Table) -> str | None:
    """Compare the number of fields of a headerless file's first line with what is declared."""
    wanted = len(table.fields or table.in_file())
    if table.fields:
        text = line.rstrip("\r\n")
        found = text.count("|") + (not text.endswith("|"))
    elif table.format == "semmeddb":
        reader = csv.reader(io.StringIO(line), escapechar="\\", doublequote=False)
        values = next(reader)
        found = len(values)
    elif table.format == "csv_positional":
        found = len(next(csv.reader(io.StringIO(line))))
    else:
        return None
    if found != wanted:
        others = [
            other.name
            for tables in _declared(paths.project_root()).values()
            for other in tables
            if table in tables
            and other.format == table.format
            and found == len(other.fields or other.in_file())
            and other.columns != ["line"]
        ]
        if others:
            return (
                f"has {found} fields in its first line, as {others[0]}, not {wanted}: "
                "put each file in its place"
            )
        return f"has {found} fields in its first line, not {wanted}: use the release README names"
    if table.format == "semmeddb":
        for place, (name, value) in enumerate(zip(table.in_file(), values, strict=True), start=1):
            if name in table.types and not re.fullmatch(r"-?[0-9]*|\\?N", value):
                return (
                    f"has no number in field {place} ({name}), so its fields are in another order: "
                    "use the release README names"
                )
    return None


def check_parquet(source: str, file: Path, table: Table) -> str | None:
    """Check that a file is Parquet and has the declared columns."""
    try:
        names = [name.lower() for name in pq.read_schema(file).names]
    except Exception as error:  # pyarrow raises several kinds for a file that is none
        return f"is not Parquet ({one_line(error, 80)}): convert it again"
    check_columns(source, file, table, names)
    return check_looks(source, file, table)


def wrong_release(folder: Path, absent: list[Table]) -> dict[str, str]:
    """Absent tables of SemMedDB that are there in another release: table -> problem."""
    others = {}
    for file in sorted(folder.iterdir()):
        match = SEMMEDDB_FILE.match(file.name)
        if match and file.is_file():
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
        found = installed(name)
        if found is None:
            return Finding(WRONG, "versions", f"{name} is not installed: pip install -e .")
        if name == "dbt-core" and found.split(".")[:2] != ["1", "11"]:
            text = f"dbt-core {found} is installed, 1.11 works: pip install -e ."
            return Finding(WRONG, "versions", text)
        parts.append(f"{name} {found}")
    others = other_versions()
    return Finding(WARN if others else OK, "versions", ", ".join(parts), others)


def pins(extra: str | None = None) -> dict[str, str]:
    """Packages that pyproject.toml pins and their versions: the base ones, or those of an extra."""
    text = (paths.project_root() / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    wanted = project["optional-dependencies"][extra] if extra else project["dependencies"]
    pinned = (one.split("==", 1) for one in wanted if "==" in one)
    # An extra of the package itself, as in ray[data], is no part of its name.
    return {name.split("[")[0]: version for name, version in pinned}


def installed(package: str) -> str | None:
    """Version of an installed package, None when it is not there (nothing is imported)."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def other_versions(extra: str | None = None) -> list[str]:
    """A line per package that is installed in another version than the tested one."""
    return [
        f"{name} {found} is installed, {wanted} is tested: pip install -e ."
        + (f"[{extra}]" if extra else "")
        for name, wanted in pins(extra).items()
        if (found := installed(name)) is not None and found != wanted
    ]


def check_engine() -> Finding:
    """State of the offline engine; not having one is fine."""
    state, line = vllm_offline.problem()
    return Finding(state, "engine", line)


def check_embedded_model() -> Finding:
    """State of the model that needs no download."""
    if convert.is_converted():
        return Finding(OK, "embedded model", shown(convert.converted_path()))
    if convert.is_installed():
        return Finding(
            MISSING, "embedded model", "not converted yet: ehrbench convert embedded-model"
        )
    (pin,) = convert.PACKAGED[paths.EMBEDDED_MODEL].pins
    return Finding(MISSING, "embedded model", f"{pin} is not installed (extra cpu)")


def check_embeddings() -> Finding:
    """State of the embedding model that needs no download; without one recorded vectors count."""
    (name,) = embed.PACKAGED
    spec = ModelSpec(model=name, engine=embed.ENGINE, weights=f"sentence-transformers/{name}")
    why = embed.problem(spec)
    if why:
        return Finding(MISSING, "embeddings", f"{why} (baseline B6 needs stored vectors)")
    where = embed.weights_folder(spec.weights, name)
    return Finding(OK, "embeddings", f"{name} in {shown(where)}, {embed.LIBRARY} {embed.version()}")


def check_text_scores() -> Finding:
    """Whether open-ended replies can be compared with their references; recorded ones count."""
    (name,) = embed.PACKAGED
    spec = ModelSpec(model=name, engine=embed.ENGINE, weights=f"sentence-transformers/{name}")
    why = score_texts.problem()
    if why:
        return Finding(MISSING, "text scores", f"{why} (ROUGE and BERTScore of replies)")
    why = score_texts.bert_problem(spec)
    libraries = ", ".join(" ".join(pair) for pair in score_texts.versions().items())
    if why:
        return Finding(MISSING, "text scores", f"{libraries}; no BERTScore: {why}")
    return Finding(OK, "text scores", f"{libraries}, BERTScore by {name}")


def check_data_class(target: str) -> Finding:
    """Whose data the target reads, as the data-use guard sees it."""
    return Finding(OK, "data class", paths.data_class(target))


def examine_sources(target: str) -> list[Finding]:
    """One finding per source that a user brings."""
    root = paths.project_root()
    return [
        finding
        for name, tables in sorted(declared_sources(root).items())
        if name not in INTERNAL
        for finding in check_source(name, tables, target)
    ]


def check_seeds() -> Finding:
    """Whether the seeds are what their yml says; users edit them."""
    wrong = seeds.problems(paths.project_root())
    if wrong:
        return Finding(WRONG, "seeds", wrong[0], wrong[1:])
    return Finding(OK, "seeds", f"{len(seeds.declared(paths.project_root()))} seeds")


def check_packing(target: str) -> Finding:
    """Whether packed files that a look leaves aside are whole: unpacked to their end, minutes."""
    large = {
        file: f"{name}.{table.name}"
        for name, tables in sorted(_declared(paths.project_root()).items())
        if name not in INTERNAL and (folder := paths.source_dir(name, target)) is not None
        for place in (paths.sites(name, folder) if folder.is_dir() else ())
        for table in tables
        for file in paths.matching_files(place, table.files)
        if file.suffix.lower() == ".gz" and file.stat().st_size > UNPACK_AT_MOST
    }
    if not large:
        return Finding(OK, "packing", f"no packed file over {size(UNPACK_AT_MOST)}")
    problems = []
    total = sum(file.stat().st_size for file in large)
    with Progress("packed files", total, unit="bytes") as progress:
        for file, table in large.items():
            try:
                unpack(file, progress.advance)
            except (OSError, EOFError, zlib.error) as error:
                problems.append(f"{table}: {shown(file)} {torn(error)}")
    if problems:
        return Finding(WRONG, "packing", problems[0], problems[1:])
    return Finding(OK, "packing", f"{len(large)} large files are whole, {size(total)}")


def examine(target: str, thorough: bool = False) -> list[Finding]:
    """The whole report for a target; its last line is what to do next.

    thorough: read large packed files to their end as well.
    """
    edited = check_seeds()
    if edited.state == WRONG:
        # Other checks read them.
        mend = Finding("next", "what to do", next_step(target, [edited]))
        return [check_versions(), edited, mend]
    sources = examine_sources(target)
    database = check_database(target)
    found = [
        check_versions(),
        edited,
        *sources,
        *([check_packing(target)] if thorough else []),
        check_data_class(target),
        *check_licences(target, sources),
        database,
        check_disk(target),
        check_memory(target),
        check_engine(),
        check_embedded_model(),
        check_embeddings(),
        check_text_scores(),
        *(check_extra(extra, what) for extra, what in EXTRAS.items()),
        check_browser(),
    ]
    return [*found, Finding("next", "what to do", next_step(target, found))]


def check_licences(target: str, sources: list[Finding]) -> list[Finding]:
    """Under which licence each source that was found comes, from the seed licences."""
    rows = {(row["source"], row["terms_of"]): row for row in seed("licences")}
    held: dict[str, list[str]] = {}
    for name in dict.fromkeys(finding.name for finding in sources if finding.state == OK):
        for kind in terms_of(name, target):
            row = rows.get((name, kind)) or rows[("*", kind)]
            held.setdefault(f"{row['licence']}; {row['terms']}", []).append(name)
    lines = [f"{', '.join(names)}: {terms}" for terms, names in held.items()]
    lines += [
        f"weights of {row['model']}: {row['licence']}"
        for row in seed("models")
        if row["licence"] and paths.model_weights(row["weights"], row["model"])
    ]
    return [Finding(OK, "licences", lines[0], lines[1:])] if lines else []


def terms_of(name: str, target: str) -> list[str]:
    """Kinds of a source's data, as the seed licences names them."""
    folder = paths.source_dir(name, target)
    if target == "synthetic" or folder is None:
        return ["synthetic"]
    if name in paths.PATIENT_FILES:
        classes = {paths.site_class(name, site) for site in paths.sites(name, folder)} - {None}
        return sorted(classes, key=paths.DATA_CLASSES.index)
    is_shared = target == "demo" and not os.environ.get(paths.variable(name))
    return ["open" if is_shared else "licensed"]


def check_database(target: str) -> Finding:
    """State of the file that dbt builds: not there, held by a process, half done, or finished."""
    file = paths.database(target)
    if not file.is_file():
        return Finding(MISSING, "database", f"no {shown(file)}: not built yet")
    try:
        with built.connect_marts(file, target) as connection:
            release = built.release_id(connection)
            data_class = built.data_class_of(connection)
    except EhrbenchError as error:
        return Finding(WARN, "database", one_line(error).replace(str(file), shown(file)))
    return Finding(
        OK,
        "database",
        f"{shown(file)}, {size(file.stat().st_size)}, {data_class} data, release {release[:12]}",
    )


def need(target: str) -> dict[str, int]:
    """Bytes of free disk and memory that a target wants (seed target_needs)."""
    [row] = [row for row in seed("target_needs") if row["target"] == target]
    return {name: int(row[f"{name}_gb"]) * 10**9 for name in ("disk", "memory")}


def check_disk(target: str) -> Finding:
    """Free disk where the database and what DuckDB spills lie."""
    places = [str(paths.database(target)), os.environ.get("EHRBENCH_TEMP_DIR")]
    folders = [existing(Path(place)) for place in places if place]
    free = {folder: shutil.disk_usage(folder).free for folder in folders}
    place = min(folders, key=free.get)
    text = f"{size(free[place])} free in {shown(place)}"
    wanted = need(target)["disk"]
    if free[place] < wanted:
        text += f", target {target} wants {size(wanted)}: free some, or set EHRBENCH_DB"
        return Finding(WARN, "disk", text)
    return Finding(OK, "disk", text)


def existing(place: Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    place = place.absolute()
    return next(folder for folder in (place, *place.parents) if folder.is_dir())


def check_memory(target: str) -> Finding:
    """Free memory, a container's own limit included."""
    free = free_memory()
    if free is None:
        return Finding(MISSING, "memory", "this system does not say how much is free")
    wanted = need(target)["memory"]
    text = f"{size(free)} free"
    if free < wanted:
        return Finding(
            WARN,
            "memory",
            f"{text}, target {target} wants {size(wanted)}: end other programs, or lower "
            "EHRBENCH_MEMORY_LIMIT (DuckDB then spills to disk)",
        )
    return Finding(OK, "memory", text)


def free_memory(
    system: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup")
) -> int | None:
    """Bytes of memory that a new program can have; None where the system does not say."""
    try:
        found = re.search(r"^MemAvailable: +(\d+) kB", system.read_text("ascii"), re.MULTILINE)
    except OSError:
        return None
    if not found:
        return None
    free = int(found[1]) * 1024
    try:
        limit = (group / "memory.max").read_text("ascii").strip()
        used = (group / "memory.current").read_text("ascii").strip()
    except OSError:
        return free
    return min(free, max(int(limit) - int(used), 0)) if limit.isdigit() else free


EXTRAS = {
    "report": "ehrbench report",
    "audit": "spreadsheets of ehrbench audit",
    "evals": "running exports in datasets, lm-eval and inspect",
    "ray": "ehrbench generate --engine ray",
    "spark": "ehrbench run --spark",
}


def check_extra(extra: str, what: str) -> Finding:
    """Whether the packages of an extra that a command needs are there, and what they need."""
    wanted = pins(extra)
    lacking = [name for name in wanted if installed(name) is None]
    if lacking:
        return Finding(
            MISSING,
            f"extra {extra}",
            f"no {', '.join(lacking)}: for {what}, pip install -e '.[{extra}]'",
        )
    versions = ", ".join(f"{name} {installed(name)}" for name in wanted)
    lack = lacking_beside(extra)
    if lack:
        return Finding(MISSING, f"extra {extra}", f"{versions}, but {lack}", other_versions(extra))
    return Finding(OK, f"extra {extra}", versions, other_versions(extra))


def lacking_beside(extra: str) -> str | None:
    """What an extra cannot work without and has not brought: its workers' vLLM, Spark's Java."""
    if extra == "ray":
        state, line = vllm_offline.problem()
        return None if state == OK else line
    if extra == "spark":
        try:
            spark.check_installed()
        except EhrbenchError as error:
            return str(error)
    return None


def check_browser() -> Finding:
    """Whether the tests of the report page can run: the system's Chromium and playwright."""
    found = shutil.which("chromium")
    if not found or installed("playwright") is None:
        lacks = "playwright (extra test)" if found else "chromium (a package of the system)"
        return Finding(MISSING, "browser", f"no {lacks}: only tests of the report page need it")
    return Finding(OK, "browser", f"{found}, playwright {installed('playwright')}")


def next_step(target: str, findings: list[Finding]) -> str:
    """The one thing to do next."""
    states = {finding.name: finding.state for finding in findings if finding.state != WRONG}
    wrong = [finding.name for finding in findings if finding.state == WRONG]
    run = f"ehrbench run --target {target}"
    if wrong:
        return f"mend {wrong[0]} (marked wrong above), then ehrbench doctor --target {target}"
    if not any(states.get(source) == OK for source in paths.PATIENT_FILES):
        if target == "demo":
            return "ehrbench fetch mimic-iv-demo"
        if target == "full":
            return "set EHRBENCH_MIMIC_IV_DIR, EHRBENCH_MIMIC_III_DIR or EHRBENCH_OMOP_DIR"
    [database] = [finding for finding in findings if finding.name == "database"]
    if database.state == WARN and "writes it" in database.text:
        return "wait until the database is free, then look again"
    if database.state == WARN and "cannot be opened" in database.text:
        return f"move {shown(paths.database(target))} away, or set EHRBENCH_DB; then {run}"
    if database.state != OK:
        return run
    file, store = paths.database(target), paths.completions_dir(target)
    try:
        n = sum(row[3] for row in generate.pending_counts(file, store))
    except EhrbenchError as error:
        return f"{run} ({one_line(error)})"
    if n and states.get("engine") == OK:
        return f"{run} (asks the {n} requests that have no answer yet)"
    return f"ehrbench report --target {target}"
