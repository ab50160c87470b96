"""What an exported item holds, and the files of items: JSON lines and Parquet of the same rows."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ehrbench import built, canary
from ehrbench.errors import EhrbenchError
from ehrbench.text import json_text

Row = dict[str, object]

# Rows that are held at once, and of a row group of Parquet.
BATCH = 10_000
# Of DuckDB, which spills what is more: a million items are an export of less than 4 GB.
LIMITS = "set memory_limit = '2GB'; set threads = 2; set preserve_insertion_order = false"
TEXT, NUMBER, YES_NO, TEXTS = pa.string(), pa.int32(), pa.bool_(), pa.list_(pa.string())


@dataclass(frozen=True)
class Column:
    """A column of exported items: its type, the forms of items that have it, what it says."""

    name: str
    kind: pa.DataType
    says: str
    forms: tuple[str, ...] = ("mcq", "oeq")
    is_gold: bool = False


COLUMNS = (
    Column("item_id", TEXT, "hash of case, question, options and wording: same content, same id"),
    Column("task", TEXT, "dx (diagnoses of a visit), tx (treatments), px (next inpatient visit)"),
    Column("source", TEXT, "data set that the visit is from"),
    Column("format", TEXT, "mcq (multiple choice) or oeq (open-ended)"),
    Column("n_options", NUMBER, "4, 5 or 6", ("mcq",)),
    Column("variant", NUMBER, "which of five wordings of the question", ("mcq",)),
    Column("n_context", NUMBER, "events shown beside the one that the answer is about"),
    Column(
        "draw",
        TEXT,
        "how distractors were drawn: blocks (no signal in the options) or weighted (some)",
        ("mcq",),
    ),
    Column("in_subset", YES_NO, "belongs to the evaluation subset, which the leaderboard is on"),
    Column("pooled", YES_NO, "false: its source has the people of another; not in pooled figures"),
    Column(
        "context_critical",
        YES_NO,
        "a distractor would be right but for a conflict with the context",
        ("mcq",),
    ),
    Column("tags", TEXTS, "leak rules that mark the item without holding it back"),
    Column("half", NUMBER, "0 or 1; a split by it cuts no block of items that share options"),
    Column("stem", TEXT, "same for items that show the same case: the unit of clustered errors"),
    Column("scenario", TEXT, "the case as it is shown"),
    Column("question", TEXT, "the question as it is asked"),
    Column("options", TEXTS, "texts of the options, A first", ("mcq",)),
    Column("letters", TEXTS, "their letters", ("mcq",)),
    Column("system", TEXT, "system message"),
    Column("prompt", TEXT, "user message: case, question and options as models are asked"),
    Column("answer", TEXT, "letter of the right option, or the reference answer", is_gold=True),
    Column(
        "aliases",
        TEXTS,
        "other names of the reference answer, as far as released items show them",
        ("oeq",),
        is_gold=True,
    ),
)


def columns(form: str, with_answers: bool = True, only: tuple[str, ...] = ()) -> list[Column]:
    """Columns of a form of items, in order; `only` names those that are wanted."""
    return [
        column
        for column in COLUMNS
        if form in column.forms
        and (with_answers or not column.is_gold)
        and (not only or column.name in only)
    ]


# ------------------------------------------------------------------------------------ reading


def query(name: str) -> str:
    """Text of a query of this package."""
    folder = importlib.resources.files("ehrbench.export").joinpath("queries")
    return folder.joinpath(f"{name}.sql").read_text(encoding="utf-8")


class Release:
    """The released items of a built database, kept as a temporary table for the queries on them.

    Without answers one item of each template stays, which keeps the version of all.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, with_answers: bool = True):
        self.connection, self.with_answers = connection, with_answers
        connection.execute(LIMITS)
        try:
            connection.execute(f"create temp table export_items as\n{query('items')}")
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            raise EhrbenchError(
                "the database holds no items of this version: run ehrbench run first"
            ) from error
        self.version = self.rows("version")[0]["version"]
        if not self.version:
            raise EhrbenchError("no item is released: rpt_item_quality says why each is held back")
        self.data_class = built.data_class_of(connection)
        self.release_id = built.release_id(connection)
        if not with_answers:
            connection.execute(query("one_each"))
        self.parts = self.rows("parts")

    def rows(self, name: str) -> list[Row]:
        """Rows of a named query."""
        result = self.connection.execute(query(name))
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def items(self, form: str, task: str, wanted: list[Column]) -> Iterator[list[Row]]:
        """Items of a form and task in the order of their ids, a batch at a time."""
        names = [column.name for column in wanted]
        result = self.connection.execute(
            f"""
            select {", ".join(names)}
            from export_items
            where format = ? and task = ?
            order by item_id
            """,
            [form, task],
        )
        while batch := result.fetchmany(BATCH):
            yield [dict(zip(names, row, strict=True)) for row in batch]


# ------------------------------------------------------------------------------------ writing


class JsonLines:
    """One item per line, each with the line of the canary."""

    def __init__(self, file: Path, wanted: list[Column]):
        self.names = [column.name for column in wanted]
        self._out = file.open("w", encoding="utf-8", newline="\n")
        self._canary = canary.text()

    def write(self, rows: list[Row]) -> None:
        """Add items."""
        for row in rows:
            item = {**{name: row[name] for name in self.names}, "canary": self._canary}
            self._out.write(json_text(item) + "\n")

    def close(self) -> None:
        """Finish the file."""
        self._out.close()


class Parquet:
    """The same rows and columns as Parquet; the metadata carry the line of the canary too."""

    def __init__(self, file: Path, wanted: list[Column]):
        fields = [(column.name, column.kind) for column in wanted] + [("canary", TEXT)]
        self._canary = canary.text()
        self._schema = canary.mark(pa.schema(fields).empty_table()).schema
        self._out = pq.ParquetWriter(file, self._schema, compression="zstd")

    def write(self, rows: list[Row]) -> None:
        """Add items as one row group."""
        marked = [{**row, "canary": self._canary} for row in rows]
        self._out.write_table(pa.Table.from_pylist(marked, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        self._out.close()
