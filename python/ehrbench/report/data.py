"""The rows behind the report: named queries on the built database, and what may be shown of them.

Every query is a file in queries/: SQL decides what is shown and in which order.
"""

from __future__ import annotations

import datetime
import decimal
import importlib.resources
import re
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from ehrbench import built
from ehrbench.errors import one_line

Row = dict[str, object]

# In credentialed data a count of 1 to 9 is not shown, nor is a figure on fewer than 10 persons.
SMALLEST_CELL = 10
PERSONS = ("n_persons", "n_clusters", "n_patients")
# Whole numbers that count no people's data.
NO_COUNTS = {
    *("n_options", "n_models", "n_judges", "n_runs", "n_runs_asked", "n_planned"),
    *("n_context", "n_rank_columns", "n_for_half_width", "n_needed"),
}
# Types that JSON does not have, or not to six digits.
UNEVEN = ("DECIMAL", "DOUBLE", "FLOAT", "DATE", "TIMESTAMP")
# Figures that rest on no data of this build.
PUBLIC = {"theirs", "uniform", "allowed_rate", "declared_difference"}


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
    n_hidden: int = 0

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
        """The row without what rests on fewer than SMALLEST_CELL persons.

        Counts of 1 to 9 go, with every share and figure of their row, from which they could be
        worked out; where fewer than 10 persons stand behind a row, all its counts go as well.
        """
        counts = {
            name
            for name, value in row.items()
            if (name == "n" or name.startswith("n_")) and name not in NO_COUNTS and value
        }
        small = any(is_small(row[name]) for name in counts)
        few = any(is_small(row.get(name)) for name in PERSONS)
        shown: Row = {}
        for name, value in row.items():
            is_figure = type(value) is float and name not in PUBLIC
            if (name in counts and (few or is_small(value))) or (small and is_figure):
                shown[name] = HIDDEN
                self.n_hidden += 1
            else:
                shown[name] = value
        return shown


def is_small(value: object) -> bool:
    """Whether a count is above zero and below the smallest cell."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < SMALLEST_CELL


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
