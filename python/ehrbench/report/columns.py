"""Columns and sentences that several pages share."""

from __future__ import annotations

from ehrbench.report.data import Data, Row
from ehrbench.report.tables import Column

Context = dict[str, object]

N = Column("n", "answers", "count", tip="asked")
PERSONS = Column("n_clusters", "persons", "count", tip="persons")
TASK = Column("task", "task", "words", tip="task")
SOURCE = Column("source", "source")
MODEL = Column("model", "model")
MODE = Column("mode", "mode", "words", tip="mode")
POLICY = Column("policy", "policy", tip="policy")
GENERATOR = Column("generator", "generator", "words", tip="generator")
OPTIONS = Column("n_options", "options", "count")
STATUS = Column("status", "status", "words")


def ask_for_answers(data: Data) -> str:
    """What an empty figure on answers says."""
    return (
        "Too few answers yet. To ask the planned models: "
        f"ehrbench run --target {data.target}, then ehrbench report --target {data.target}."
    )


def build_first(data: Data) -> str:
    """What an empty figure on triples or items says."""
    return (
        f"Nothing here yet. To build: ehrbench run --target {data.target}, "
        f"then ehrbench report --target {data.target}."
    )


def usual(rows: list[Row], column: str) -> str | None:
    """The value that most rows have: what is shown first."""
    values = list(dict.fromkeys(row[column] for row in rows))
    return max(values, key=lambda one: sum(row[column] == one for row in rows), default=None)
