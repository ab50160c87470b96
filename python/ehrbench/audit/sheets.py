"""The layout of the sheets and what they ask, read from the built database.

Triples and items have a sheet each; what is shown comes from queries/, what is asked from the seed
audit_columns. Verdicts, keys and evidence are read by none of the queries.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
from dataclasses import dataclass
from functools import cached_property

import duckdb

from ehrbench import built
from ehrbench.errors import EhrbenchError

# Sheet -> title, column of its ids, columns shown (query column, heading, width in characters).
LAYOUT = {
    "triples": (
        "Triples",
        "triple_id",
        (
            ("triple_id", "Id", 11),
            ("subject", "Subject", 38),
            ("relation", "Relation", 38),
            ("object", "Object", 38),
            ("context", "Other records of the patient", 46),
        ),
    ),
    "items": (
        "Items",
        "item_id",
        (
            ("item_id", "Id", 11),
            ("scenario", "Records of the patient", 52),
            ("question", "Question", 34),
            ("options", "Options", 46),
        ),
    ),
}
# The sheet of instructions, and where the rater's name and the sample's id stand in it.
FRONT, NAME_CELL, SAMPLE_CELL = "Read me first", "B3", "B4"
# Characters that a cell can hold.
LONGEST = 32767
TABLES = ("fct_audit_sample", "fct_audit_items", "audit_columns")


@dataclass(frozen=True)
class Question:
    """A column that raters fill; `answers` are words, of which `letter` stands for the item's."""

    name: str
    heading: str
    wording: str
    answers: tuple[str, ...]

    def allowed(self, letters: tuple[str, ...]) -> tuple[str, ...]:
        """Answers of one row, which has these letters."""
        return tuple(
            answer
            for word in self.answers
            for answer in (letters if word == "letter" else (word,))
        )


@dataclass(frozen=True)
class Shown:
    """A row as raters see it: `texts` in the order of the layout, the id first."""

    texts: tuple[str, ...]
    letters: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.texts[0]


@dataclass(frozen=True)
class Sheet:
    """One sheet: its title, the columns shown and asked, and the rows in a rater's order."""

    name: str
    title: str
    id_column: str
    columns: tuple[tuple[str, str, int], ...]
    questions: tuple[Question, ...]
    rows: tuple[Shown, ...]

    @cached_property
    def by_id(self) -> dict[str, Shown]:
        """The rows by their ids."""
        return {row.id: row for row in self.rows}

    @property
    def headings(self) -> tuple[str, ...]:
        """The first row."""
        asked = tuple(question.heading for question in self.questions)
        return (*(heading for _, heading, _ in self.columns), *asked, "Comment")

    @property
    def names(self) -> tuple[str, ...]:
        """The same columns by their names in the file of ratings."""
        asked = tuple(question.name for question in self.questions)
        return (*(name for name, _, _ in self.columns), *asked, "comment")


def query(name: str) -> str:
    """Text of a file in queries/."""
    folder = importlib.resources.files("ehrbench.audit") / "queries"
    return (folder / f"{name}.sql").read_text(encoding="utf-8")


def read(connection: duckdb.DuckDBPyConnection, rater: int) -> list[Sheet]:
    """The sheets of one rater (from 1), out of a database of `built.connect_marts`.

    Raises EhrbenchError where models are not built, draw nothing, or know a relation that the
    seed relations does not.
    """
    for table in TABLES:
        if built.find_relation(connection, table) is None:
            raise EhrbenchError(f"the database has no {table}: run dbt build again, then try again")
    asked: dict[str, list[Question]] = {name: [] for name in LAYOUT}
    for sheet, name, heading, wording, answers in connection.execute(query("columns")).fetchall():
        asked[sheet].append(Question(name, heading, wording, tuple(answers.split("/"))))
    found = []
    for name, (title, id_column, columns) in LAYOUT.items():
        rows = connection.execute(query(name), {"rater": str(rater)}).fetchall()
        shown = tuple(
            Shown(
                tuple(text or "" for text in row[: len(columns)]),
                tuple(row[len(columns)].split("/")) if len(row) > len(columns) else (),
            )
            for row in rows
        )
        found.append(Sheet(name, title, id_column, columns, tuple(asked[name]), shown))
    drawn = connection.execute("select count(*) from fct_audit_sample").fetchone()[0]
    if len(found[0].rows) != drawn:
        raise EhrbenchError(
            f"{drawn} triples are drawn and {len(found[0].rows)} have a relation of the seed "
            "relations: run dbt build again"
        )
    if not any(sheet.rows for sheet in found):
        raise EhrbenchError("no triple and no item is drawn: the frames of the audit are empty")
    return found


def sample_id(sheets: list[Sheet]) -> str:
    """Id of what is shown, whatever its order: ratings of other texts are no ratings of these."""
    texts = sorted((sheet.name, *row.texts) for sheet in sheets for row in sheet.rows)
    return hashlib.md5(json.dumps(texts).encode(), usedforsecurity=False).hexdigest()
