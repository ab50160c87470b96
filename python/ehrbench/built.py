"""A built database, opened for reading, and whose data it says it holds."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from ehrbench import paths
from ehrbench.errors import EhrbenchError, one_line

OPEN_CLASSES = ("none", "synthetic", "demo")


def connect(database: Path) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB file read-only; EhrbenchError when it is missing, locked or none."""
    if not database.is_file():
        raise EhrbenchError(
            f"{database} is not there: run ehrbench run (or dbt build) first, or point EHRBENCH_DB "
            "at a built database"
        )
    try:
        return duckdb.connect(str(database), read_only=True)
    except duckdb.Error as error:
        if "lock" not in str(error).lower():
            raise EhrbenchError(f"{database} cannot be opened: {one_line(error)}") from error
        holder = re.search(r"\(PID (\d+)\)", str(error))
        who = f"process {holder[1]}" if holder else "another program"
        raise EhrbenchError(
            f"{database} cannot be opened: {who} writes it; wait until it ends, then try again"
        ) from error


def find_relation(
    connection: duckdb.DuckDBPyConnection, name: str, columns: tuple[str, ...] = ()
) -> str | None:
    """Quoted name of a table or view wherever dbt put it, or None.

    Raises EhrbenchError for a column that is expected and missing.
    """
    rows = connection.execute(
        """
        select table_catalog, table_schema, list(column_name)
        from information_schema.columns
        where table_name = ? and table_schema not like '%audit%'
        group by all
        order by all
        """,
        [name],
    ).fetchall()
    if not rows:
        return None
    catalog, schema, found = rows[0]
    catalog = catalog.replace('"', '""')
    missing = [column for column in columns if column not in found]
    if missing:
        raise EhrbenchError(f"{name} has no column {missing[0]}: run dbt build again")
    return f'"{catalog}"."{schema}"."{name}"'


def data_class_of(connection: duckdb.DuckDBPyConnection) -> str:
    """Class of the data that a database was made of: `none` without a manifest, `credentialed` for
    one that says nothing or a word that is not known.

    Where a build broke off, the manifest may be that of other data before it: the classes of the
    sources, which are told right after the files are read, count too.
    """
    relation = find_relation(connection, "rpt_run_manifest", ("data_class",))
    if relation is None:
        return "none"
    found = connection.execute(f"select distinct data_class from {relation}").fetchall()
    sources = find_relation(connection, "int_source_data_classes", ("data_class",))
    if sources is not None:
        found += connection.execute(f"select distinct data_class from {sources}").fetchall()
    classes = [name if name in paths.DATA_CLASSES else "credentialed" for (name,) in found]
    return max(classes, key=paths.DATA_CLASSES.index, default="credentialed")


def connect_marts(
    database: Path, target: str, allow_credentialed: bool = True, what: str = "this"
) -> duckdb.DuckDBPyConnection:
    """Open a database with the schema of its marts in use, a release in it.

    Raises EhrbenchError where nothing was built, and where the data are credentialed and no flag
    permits to write `what` of them.
    """
    connection = connect(database)
    relation = find_relation(connection, "rpt_run_manifest", ("data_class", "release_id"))
    if relation is None:
        connection.close()
        raise EhrbenchError(
            f"{database} holds no rpt_run_manifest: run ehrbench run --target {target} first"
        )
    connection.execute(f"use {relation.rsplit('.', 1)[0]}")
    if not allow_credentialed and data_class_of(connection) not in OPEN_CLASSES:
        connection.close()
        raise EhrbenchError(
            f"the data of {database.name} are credentialed: {what} is written only with "
            "--allow-credentialed, and goes where the data may go"
        )
    return connection


def release_id(connection: duckdb.DuckDBPyConnection) -> str:
    """Id of the one release in a database of `connect_marts`."""
    found = connection.execute("select distinct release_id from rpt_run_manifest").fetchall()
    if len(found) != 1:
        raise EhrbenchError(f"rpt_run_manifest names {len(found)} releases: run ehrbench run again")
    return found[0][0] or ""
