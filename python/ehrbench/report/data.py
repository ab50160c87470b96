"""The rows behind the report: named queries on the built database, and what may be shown of them.

Every query is a file in queries/: SQL decides what is shown and in which order.
"""

from __future__ import annotations

import datetime
import decimal
import importlib.resources
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from ehrbench import built
from ehrbench.errors import one_line

Row = dict[str, object]

# In credentialed data counts are multiples of ten: one of 1 to 9 is not shown, nor is a figure on
# fewer than 10 persons.
SMALLEST_CELL = 10
PERSONS = ("n_persons", "n_clusters", "n_patients")
# Whole numbers that count no people's data; every other one is rounded.
NO_COUNTS = {
    *("n_options", "n_models", "n_judges", "n_runs", "n_runs_asked", "n_planned", "n_context"),
    *("n_inversions", "n_separated", "rank", "rank_low", "rank_high", "tier"),
    *("place", "position", "bin", "step_number", "min_pmids"),
}
# What the figures of a row are shares or means of: the smallest of these in the row. A figure moves
# in steps of no less than ten of them, and without one of them it is not shown.
WHOLES = (
    *("n", "n_part", "null_n", "n_first", "n_second", "n_rest", "n_triples", "n_checked"),
    *("n_rated", "n_stems", "n_rouge", "n_bertscore", "n_pairs"),
)
# The same for figures with a whole of their own.
OWN_WHOLE = {
    "share_events": ("n_all_events",),
    "share_codes": ("n_all_codes",),
    "share_of_triples": ("n_triples",),
    **dict.fromkeys(("overall", "chance_corrected", "valid_only"), ("n_dx", "n_tx", "n_px")),
    **{name: (f"n_{name}",) for name in ("dx", "tx", "px", "acc_4", "acc_5", "acc_6")},
}
STEPS = tuple(float(f"{digit}e{power}") for power in range(-3, 9) for digit in (1, 2, 5))
# Per one: steps that are wider say nothing.
WIDEST_STEP = 0.2
P_VALUES = ("p_value", "p_holm")
P_STEPS = (*(digit / whole for whole in (1000, 100, 10) for digit in range(1, 10)), 1.0)
# Types that JSON does not have, or not to six digits.
UNEVEN = ("DECIMAL", "DOUBLE", "FLOAT", "DATE", "TIMESTAMP")
# Figures that rest on no data of this build.
PUBLIC = {"theirs", "uniform", "allowed_rate", "declared_difference"}
# A number by itself in a sentence, not a part of a name.
NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?![\w-]|\.\d)")


class Hidden:
    """Stands for a number that is not shown because it rests on too few persons."""

    def __repr__(self) -> str:
        return f"< {SMALLEST_CELL}"


HIDDEN = Hidden()


@dataclass
class Data:
    """What the pages read. `protected` is credentialed data without the flag that opens it."""

    connection: duckdb.DuckDBPyConnection
    target: str
    data_class: str
    release_id: str
    protected: bool
    # Query -> why it gave nothing: what is not built yet.
    missing: dict[str, str] = field(default_factory=dict)

    def rows(self, name: str, **parameters: object) -> list[Row]:
        """Rows of one query; none, with a word in `missing`, where its tables are not built."""
        result = self._execute(name, query(name), parameters)
        if result is None:
            return []
        names = [column[0] for column in result.description]
        uneven = [column[0] for column in result.description if str(column[1]).startswith(UNEVEN)]
        found = [dict(zip(names, values, strict=True)) for values in result.fetchall()]
        for name in uneven:
            for row in found:
                row[name] = plain(row[name])
        return [self.protect(row) for row in found] if self.protected else found

    def keep(self, table: str, name: str, **parameters: object) -> None:
        """Keep the rows of a query as a temporary table for the queries that follow."""
        start = f"create or replace temp table {table} as\n"
        self._execute(name, query(name), parameters, start)

    def _execute(
        self, name: str, sql: str, parameters: Row, start: str = ""
    ) -> duckdb.DuckDBPyConnection | None:
        """Run a query; None, with a word in `missing`, where its tables are not built."""
        # A statement with parameters cannot be looked at.
        wanted = duckdb.get_table_names(re.sub(r"\$\w+", "null", sql))
        absent = sorted(set(wanted) - self.tables())
        if absent:
            self.missing[name] = f"{', '.join(absent)} not built yet"
            return None
        try:
            return self.connection.execute(start + sql, parameters or None)
        except duckdb.BinderException as error:
            self.missing[name] = f"built by another version ({one_line(error, 120)})"
            return None

    def tables(self) -> set[str]:
        """Names of the tables and views there are, temporary ones too."""
        found = self.connection.execute("select table_name from information_schema.tables")
        return {name for (name,) in found.fetchall()}

    def protect(self, row: Row) -> Row:
        """The row without what tells of fewer than SMALLEST_CELL persons.

        Counts are rounded to tens, figures to steps of no less than ten of what they are made of.
        Counts of 1 to 9 go, with every figure of their row; where fewer than 10 persons stand
        behind a row, all its counts go as well.
        """
        counts = {
            name: value
            for name, value in row.items()
            if type(value) is int and name not in NO_COUNTS
        }
        small = any(is_small(count) for count in counts.values())
        few = any(is_small(counts.get(name)) for name in PERSONS)
        shown: Row = {}
        for name, value in row.items():
            if name in counts:
                shown[name] = HIDDEN if is_small(value) or (few and value) else tens(value)
            elif type(value) is float and name not in PUBLIC:
                shown[name] = HIDDEN if small else coarse(name, row, counts)
            elif name == "reason" and value and " " in value:
                shown[name] = NUMBER.sub("…", value)
            else:
                shown[name] = value
        return shown


def is_small(value: object) -> bool:
    """Whether a count is above zero and below the smallest cell."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < SMALLEST_CELL


def tens(count: int) -> int:
    """A count to the nearest ten."""
    return (count + 5) // 10 * 10


def coarse(name: str, row: Row, counts: dict[str, int]) -> float | Hidden:
    """A figure in steps of no less than ten of what it is made of.

    The ends of an interval are rounded outwards, p upwards to one digit. A figure above 1 moves in
    steps of its size; hidden is what would move in steps wider than WIDEST_STEP.
    """
    value = row[name]
    if name == "chance" and row.get("n_options"):
        return value
    if name in P_VALUES:
        return next(step for step in P_STEPS if step >= value)
    middle = re.sub("_(low|high)$", "", name)
    names = OWN_WHOLE.get(middle, WHOLES)
    wholes = [counts[one] for one in names if counts.get(one)]
    whole = tens(min(wholes or [counts.get("n_templates", 0)]))
    if whole * WIDEST_STEP < SMALLEST_CELL:
        return HIDDEN
    size = max(1.0, abs(row.get(middle) or value))
    step = next(step for step in STEPS if step * whole >= SMALLEST_CELL * size)
    # Six digits: what a division leaves behind them is no part of the figure.
    place = round(value / step, 6)
    ends = {f"{middle}_low": math.floor(place), f"{middle}_high": math.ceil(place)}
    return round(ends.get(name, math.floor(place + 0.5)) * step, 6)


def query(name: str) -> str:
    """Text of a query of this package."""
    folder = importlib.resources.files("ehrbench.report").joinpath("queries")
    return folder.joinpath(f"{name}.sql").read_text(encoding="utf-8")


def plain(value: object) -> object:
    """A database value as JSON has it; decimals become floats of six digits."""
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, decimal.Decimal):
        return round(float(value), 6)
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


def open_data(database: Path, target: str, allow_credentialed: bool) -> Data:
    """The data of a report, with the class and the release that its build recorded."""
    connection = built.connect_marts(database, target)
    data_class = built.data_class_of(connection)
    return Data(
        connection=connection,
        target=target,
        data_class=data_class,
        release_id=built.release_id(connection),
        protected=data_class not in built.OPEN_CLASSES and not allow_credentialed,
    )
