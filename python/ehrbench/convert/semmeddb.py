"""Turn SemMedDB's CSV dumps into Parquet, once: streaming, resumable, in little memory.

How a line is read is decided in one place, macros/semmeddb_lines.sql, which dbt uses too; names
and types of the columns are those of models/staging/semmeddb/_semmeddb__sources.yml. So a build
from the Parquet equals a build from the dumps.
"""

from __future__ import annotations

import codecs
import gzip
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import jinja2
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from ehrbench import paths, sql
from ehrbench.convert.common import WRITE_OPTIONS, Line, share_read, space_in
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.progress import say

PART_ROWS = 1_000_000
GROUP_ROWS = 100_000
MEMORY_LIMIT = "1GB"
SOURCE_FILE = "source.json"
MENDED = "mended.csv.gz"
# How DuckDB says that a byte is not of the encoding.
WRONG_BYTES = re.compile(r"is not [\w-]+ encoded|Invalid unicode")
DUMP = re.compile(r"(semmedVER\d+_\d+_R)_(.+)\.csv(\.gz)?", re.I)
REPAIRED = ("line_break", "stray_quote")
TYPES = {"bigint": pa.int64(), "integer": pa.int32(), "varchar": pa.string()}
SOURCES_YML = "models/staging/semmeddb/_semmeddb__sources.yml"


class WrongBytes(EhrbenchError):
    """A dump holds bytes that its encoding does not have."""


@dataclass(frozen=True)
class Dump:
    """One table of the dump: its columns in order with their SQL types."""

    name: str
    files: tuple[str, ...]
    encoding: str
    columns: dict[str, str]

    @property
    def schema(self) -> pa.Schema:
        """Columns of the Parquet; `_problem` is null for a sound line."""
        fields = [(name, TYPES[kind]) for name, kind in self.columns.items()]
        return pa.schema([*fields, ("_problem", pa.string())])


def declared_dumps(root: Path) -> dict[str, Dump]:
    """Table name as in the dump (PREDICATION ...) -> what the sources' yml says of it."""
    document = yaml.safe_load((root / SOURCES_YML).read_text(encoding="utf-8"))
    dumps = {}
    for table in document["sources"][0]["tables"]:
        meta = table["config"]["meta"]
        types = meta.get("types") or {}
        columns = [name for name in meta["columns"] if not name.startswith("_")]
        files = tuple(name for name in meta["file"] if not name.endswith(".parquet"))
        name = DUMP.fullmatch(files[0]).group(2)
        dumps[name] = Dump(
            name,
            files,
            meta.get("encoding", "latin-1"),
            {column: types.get(column, "varchar") for column in columns},
        )
    return dumps


def convert_semmeddb(
    source: Path,
    out: Path,
    tables: Sequence[str] = (),
    part_rows: int = PART_ROWS,
    group_rows: int = GROUP_ROWS,
) -> dict[str, int]:
    """Write `out/TABLE/part-<first row>.parquet` for each table of the dump; returns rows by table.

    `source` is the folder of the dumps, `tables` the ones to convert (all without). A table's
    folder appears when it is whole; a run that was stopped goes on after its last finished part.
    Raises EhrbenchError for another release, a missing or unreadable file, or a full disk.
    """
    dumps = declared_dumps(paths.project_root())
    wanted = [name.upper() for name in tables] or list(dumps)
    for name in wanted:
        if name not in dumps:
            raise EhrbenchError(f"no table {name}: --tables takes {', '.join(dumps)}")
    files = {name: find_dump(source, dumps[name]) for name in wanted}
    if out.resolve() == source.resolve():
        raise EhrbenchError(f"--out is the folder of the dumps, {source}: name another one")
    counts = {}
    with space_in(out):
        out.mkdir(parents=True, exist_ok=True)
        for name, file in files.items():
            counts[name] = convert_table(file, dumps[name], out, part_rows, group_rows)
    return counts


def find_dump(source: Path, dump: Dump) -> Path:
    """The file of one table; upper and lower case do not count."""
    if not source.is_dir():
        raise EhrbenchError(f"{source} is no folder: name the folder of the dumps")
    present = {file.name.lower(): file for file in sorted(source.iterdir()) if file.is_file()}
    for name in dump.files:
        if name.lower() in present:
            return present[name.lower()]
    release = DUMP.fullmatch(dump.files[0]).group(1)
    for file in present.values():
        other = DUMP.fullmatch(file.name)
        if other and other.group(1).lower() != release.lower():
            raise EhrbenchError(
                f"{file.name} is of another release, only {release} is read: fetch that one"
            )
    raise EhrbenchError(
        f"no {dump.files[0]} in {source}: fetch it, or leave it out with --tables"
    )


def convert_table(file: Path, dump: Dump, out: Path, part_rows: int, group_rows: int) -> int:
    """Convert one dump; returns its rows."""
    folder, unfinished = out / dump.name, out / f".{dump.name}.unfinished"
    stamp = {
        "file": file.name,
        "bytes": file.stat().st_size,
        "part_rows": part_rows,
        "group_rows": group_rows,
        "columns": dump.columns,
    }
    if folder.exists():
        if read_stamp(folder) == stamp:
            rows = sum(pq.read_metadata(part).num_rows for part in parts_of(folder))
            say(f"{dump.name}: {rows:,} rows, converted before")
            return rows
        raise EhrbenchError(
            f"{folder} holds another conversion: remove it, or name another --out"
        )
    if unfinished.exists() and read_stamp(unfinished) != stamp:
        shutil.rmtree(unfinished)
    if not unfinished.exists():
        unfinished.mkdir()
        writing = unfinished / f".{SOURCE_FILE}"
        writing.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
        writing.rename(unfinished / SOURCE_FILE)
    for left in unfinished.glob(".part-*"):
        left.unlink()
    done = parts_of(unfinished)
    kept = sum(pq.read_metadata(part).num_rows for part in done)
    last = first_row(done[-1]) + pq.read_metadata(done[-1]).num_rows - 1 if done else 0
    line = Line(dump.name)
    line.first = kept
    if kept:
        say(f"{dump.name}: going on after {kept:,} finished rows")
    rows, problems = kept, Counter()
    for part in done:
        problems.update(problems_of(pq.read_table(part, columns=["_problem"])))
    while True:
        text, encoding = mended_copy(unfinished) or (file, dump.encoding)
        tables = read(text, encoding, dump, last)
        try:
            for first, part in split(tables, part_rows, group_rows):
                writing = unfinished / f".part-{first:010d}.parquet"
                found, taken = Counter(), 0
                with pq.ParquetWriter(writing, dump.schema, **WRITE_OPTIONS) as writer:
                    for group in part:
                        writer.write_table(group)
                        taken += group.num_rows
                        found.update(problems_of(group))
                        line.show(rows + taken, share_read(text))
                writing.rename(unfinished / f"part-{first:010d}.parquet")
                rows, last = rows + taken, first + taken - 1
                problems.update(found)
            break
        except WrongBytes:
            if text != file:
                raise
            say(f"{dump.name}: holds bytes that are not {dump.encoding}; reading a mended copy")
            replaced = mend_bytes(file, dump.encoding, unfinished)
            say(f"{dump.name}: {replaced:,} characters could not be told")
    for copy in unfinished.glob(f"{MENDED}*"):
        copy.unlink()
    if not rows:
        writing = unfinished / ".part-0000000001.parquet"
        pq.write_table(dump.schema.empty_table(), writing, **WRITE_OPTIONS)
        writing.rename(unfinished / "part-0000000001.parquet")
    unfinished.rename(folder)
    mended = sum(count for name, count in problems.items() if name in REPAIRED)
    broken = sum(problems.values()) - mended
    more = f"; {broken} broken lines kept for the quarantine" if broken else ""
    line.close(rows, more + (f"; {mended} mended" if mended else ""))
    return rows


def read_stamp(folder: Path) -> dict | None:
    """What a conversion was made from; None when it does not say."""
    try:
        return json.loads((folder / SOURCE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def parts_of(folder: Path) -> list[Path]:
    """Finished parts in the order of their rows."""
    return sorted(folder.glob("part-*.parquet"))


def first_row(part: Path) -> int:
    """Row of the dump at which a part begins."""
    return int(part.stem.removeprefix("part-"))


def problems_of(table: pa.Table) -> Counter:
    """How many rows have which problem."""
    found = table.column("_problem").drop_null()
    return Counter(found.to_pylist()) if len(found) else Counter()


def connected() -> duckdb.DuckDBPyConnection:
    """A DuckDB in memory for one streamed read."""
    connection = duckdb.connect()
    connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'; set threads = 2")
    # Reading streams, so nothing needs to spill.
    connection.execute("set temp_directory = ''; set enable_progress_bar = false")
    return connection


def lines_sql(file: Path, encoding: str, dump: Dump) -> str:
    """The select over a dump's lines that dbt's raw() uses as well."""
    macro = paths.project_root() / "macros" / "semmeddb_lines.sql"
    module = jinja2.Environment().from_string(macro.read_text(encoding="utf-8")).module
    return module.semmeddb_lines(sql.files([file]), list(dump.columns), encoding)


def mend_bytes(file: Path, encoding: str, folder: Path) -> int:
    """Write a UTF-8 copy of a dump with every byte told or replaced; returns the replaced ones.

    DuckDB stops at a byte that its encoding does not have. MySQL's latin1 is cp1252, so those of
    80 to 9F are read as that.
    """
    decoder = codecs.getincrementaldecoder("utf-8" if encoding == "utf-8" else "cp1252")("replace")
    is_packed = file.suffix.lower() == ".gz"
    replaced = 0
    temporary = folder / f".{MENDED}"
    with (
        (gzip.open if is_packed else open)(file, "rb") as source,
        gzip.open(temporary, "wb", compresslevel=1) as copy,
    ):
        for block in iter(lambda: source.read(1 << 22), b""):
            text = decoder.decode(block)
            replaced += text.count("\ufffd")
            copy.write(text.encode())
        copy.write(decoder.decode(b"", final=True).encode())
    temporary.rename(folder / MENDED)
    return replaced


def mended_copy(folder: Path) -> tuple[Path, str] | None:
    """The mended copy of a dump and its encoding, when one was made."""
    copy = folder / MENDED
    return (copy, "utf-8") if copy.is_file() else None


def read(file: Path, encoding: str, dump: Dump, after: int) -> Iterator[pa.Table]:
    """Rows of a dump after row `after`, in order, with `_row`.

    Raises WrongBytes for a byte that the encoding does not have, EhrbenchError for a file that
    cannot be unpacked or is no such dump.
    """
    selected = ", ".join(
        f"try_cast({name} as {kind}) as {name}" if kind != "varchar" else name
        for name, kind in dump.columns.items()
    )
    lines = lines_sql(file, encoding, dump)
    sql = f"select {selected}, _problem, _row from ({lines}) where _row > {after}"
    schema = pa.schema([*dump.schema, ("_row", pa.int64())])
    try:
        with connected() as connection:
            n_lines, n_sound = connection.execute(
                "select count(*), count(*) filter (where _problem is null) "
                f"from ({lines} limit 100)"
            ).fetchall()[0]
            if n_lines and not n_sound:
                raise EhrbenchError(
                    f"none of the first lines of {file} has {len(dump.columns)} fields: "
                    "only the dumps of VER43_2024_R are read, fetch that release"
                )
            for batch in connection.sql(sql).to_arrow_reader(50_000):
                yield pa.Table.from_batches([batch]).cast(schema)
    except duckdb.Error as error:
        if WRONG_BYTES.search(str(error)):
            raise WrongBytes(f"{file} is not {encoding}") from error
        raise EhrbenchError(f"{file} cannot be read: {one_line(error)}; fetch it again") from error


def split(
    tables: Iterator[pa.Table], part_rows: int, group_rows: int
) -> Iterator[tuple[int, Iterator[pa.Table]]]:
    """Cut rows into parts: (first row, its row groups).

    A part holds `part_rows` rows that follow each other in the dump; where a line was joined to
    the one before it, the count has a gap and a new part begins. So a part's name and a row's
    place in it give the line of the dump.
    """
    runs = consecutive(tables)
    pending = next(runs, None)
    while pending is not None:
        first = pending.column("_row")[0].as_py()

        def groups(first: int = first) -> Iterator[pa.Table]:
            nonlocal pending
            held, taken = [], 0
            while pending is not None and taken < part_rows:
                if pending.column("_row")[0].as_py() != first + taken:
                    break
                room = min(part_rows - taken, group_rows - sum(t.num_rows for t in held))
                piece = pending.slice(0, room)
                held.append(piece)
                taken += piece.num_rows
                rest = pending.slice(room)
                pending = rest if rest.num_rows else next(runs, None)
                if sum(t.num_rows for t in held) == group_rows:
                    yield whole(held)
                    held = []
            if held:
                yield whole(held)

        yield first, groups()


def whole(pieces: list[pa.Table]) -> pa.Table:
    """Pieces as one table without `_row`."""
    return pa.concat_tables(pieces).drop_columns(["_row"]).combine_chunks()


def consecutive(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows, each table without a gap in `_row`."""
    for table in tables:
        rows = table.column("_row").to_numpy()
        while len(rows):
            if rows[-1] - rows[0] == len(rows) - 1:
                yield table
                break
            gaps = (rows[1:] - rows[:-1] != 1).nonzero()[0]
            cut = int(gaps[0]) + 1
            yield table.slice(0, cut)
            table, rows = table.slice(cut), rows[cut:]
