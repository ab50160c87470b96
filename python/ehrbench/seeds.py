"""Seeds as users edit them: a line about each that is not what its yml says, before dbt reads it.

Columns and their types, keys, values and references are those of seeds/_*__seeds.yml; dbt tests
the same, in more words and in the middle of a build.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import yaml

from ehrbench.errors import EhrbenchError, one_line

# The one in C where there is one.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
REF = re.compile(r"ref\('(\w+)'\)")
# So many values are listed in a line.
LISTED = 8


class _Problem(Exception):
    """A line about one seed."""


@cache
def declared(root: Path) -> dict[str, dict]:
    """Seed -> what its yml says."""
    found = {}
    for file in sorted((root / "seeds").glob("_*__seeds.yml")):
        try:
            document = yaml.load(file.read_text(encoding="utf-8"), LOADER) or {}
        except yaml.YAMLError as error:
            raise EhrbenchError(f"{file.name} is not YAML: {one_line(error)}") from error
        found |= {seed["name"]: seed for seed in document.get("seeds", [])}
    return found


def problems(root: Path) -> list[str]:
    """One line for each seed that cannot be used as it is, with its mend."""
    tables: dict[str, list[dict[str, str]]] = {}
    lines = []
    seeds = declared(root)
    with duckdb.connect() as connection:
        for name, seed in seeds.items():
            try:
                tables[name] = _read(root, name, seed)
                _check_types(connection, name, seed, tables[name])
            except _Problem as problem:
                lines.append(str(problem))
                tables.pop(name, None)
    for name, rows in tables.items():
        try:
            _check_values(name, seeds[name], rows, tables)
        except _Problem as problem:
            lines.append(str(problem))
    return lines


def _stop(name: str, text: str) -> None:
    raise _Problem(f"seeds/{name}.csv: {text}")


def _types(seed: dict) -> dict[str, str]:
    return (seed.get("config") or {}).get("column_types", {})


def _read(root: Path, name: str, seed: dict) -> list[dict[str, str]]:
    """The rows, when the file has the columns of the yml and every row has as many fields."""
    wanted = list(_types(seed))
    try:
        text = (root / "seeds" / f"{name}.csv").read_bytes().decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except FileNotFoundError:
        _stop(name, "there is no such file: restore it")
    except UnicodeDecodeError:
        _stop(name, "is not UTF-8: re-encode it as UTF-8")
    except csv.Error as error:
        _stop(name, f"is no CSV ({one_line(error, 80)}): mend its quotes")
    header = rows[0] if rows else []
    for column in wanted:
        if column not in header:
            _stop(name, f"column {column} is missing: restore the header, with commas between")
    for column in header:
        if column not in wanted or header.count(column) > 1:
            _stop(name, f"column {column} is one too many: take it out")
    for number, row in enumerate(rows[1:], start=2):
        if row and len(row) != len(header):
            _stop(
                name,
                f"row {number} has {len(row)} fields, not {len(header)}: "
                "put texts with commas in quotes",
            )
    return [dict(zip(header, row, strict=True)) for row in rows[1:] if row]


def _check_types(
    connection: duckdb.DuckDBPyConnection, name: str, seed: dict, rows: list[dict[str, str]]
) -> None:
    for column, kind in _types(seed).items():
        if kind in ("varchar", "string") or not rows:
            continue
        found = connection.execute(
            "select number from "
            "(select unnest($1) as value, unnest(range(2, len($1) + 2)) as number) "
            f"where value <> '' and try_cast(value as {kind}) is null order by number limit 1",
            [[row[column] for row in rows]],
        ).fetchone()
        if found:
            value = rows[found[0] - 2][column]
            _stop(name, f"row {found[0]}: {column} is {value!r} and must be {kind}: correct it")


def _check_values(
    name: str, seed: dict, rows: list[dict[str, str]], tables: dict[str, list[dict[str, str]]]
) -> None:
    for kind, columns, arguments in _tests(seed):
        if kind in ("unique", "unique_combination"):
            _check_key(name, columns, rows)
        elif kind == "relationships":
            target = REF.search(arguments["to"])
            if target and target[1] in tables:
                known = [row[arguments["field"]] for row in tables[target[1]]]
                _check_known(name, columns[0], rows, known, f"in seed {target[1]}")
        elif kind == "accepted_values":
            values = [str(value) for value in arguments["values"]]
            more = ", ..." if len(values) > LISTED else ""
            listed = f"one of {', '.join(values[:LISTED])}{more}"
            _check_known(name, columns[0], rows, values, listed)
        elif kind == "not_null":
            for number, row in enumerate(rows, start=2):
                if row[columns[0]] == "":
                    _stop(name, f"row {number}: {columns[0]} is empty: fill it in")


def _tests(seed: dict) -> Iterator[tuple[str, list[str], dict]]:
    """Kind, columns and arguments of each data test that holds for every row."""
    places = [([], seed), *(([column["name"]], column) for column in seed.get("columns", []))]
    for columns, place in places:
        for test in place.get("data_tests", []):
            [(kind, said)] = [(test, {})] if isinstance(test, str) else list(test.items())
            if not (said.get("config") or {}).get("where"):
                arguments = said.get("arguments", {})
                yield kind, columns or arguments.get("columns", []), arguments


def _check_key(name: str, columns: list[str], rows: list[dict[str, str]]) -> None:
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows, start=2):
        key = tuple(row[column] for column in columns)
        if key == ("",):
            continue
        if key in seen:
            _stop(
                name,
                f"rows {seen[key]} and {number} have the same {', '.join(columns)} "
                f"({', '.join(key)}): take one out",
            )
        seen[key] = number


def _check_known(
    name: str, column: str, rows: list[dict[str, str]], known: list[str], listed: str
) -> None:
    for number, row in enumerate(rows, start=2):
        if row[column] not in ("", *known):
            _stop(name, f"row {number}: {column} is {row[column]!r} and not {listed}: correct it")
