"""What DuckDB says of a value of the data is told without it: on the screen, in logs, in results."""

import json

import duckdb
import pytest
from conftest import ROOT

from ehrbench import dbt
from ehrbench.errors import one_line, without_values

TEXT, NUMBER = "Quidnunc O'Hara \"x\" to\n99887766 to INT32", 99887766554433
PARTS = ("Quidnunc", "Hara", "99887766")
# Queries on columns t (TEXT) and n (NUMBER), and what must be left of the error.
QUERIES = [
    ("cast(t as integer)", "Could not convert string"),
    ("cast(t as boolean)", "Could not convert string"),
    ("cast(t as decimal(5, 2))", "Could not convert string"),
    ("cast(t as date)", "invalid date field format"),
    ("cast(t as timestamp)", "invalid timestamp field format"),
    ("cast(t as time)", "time field value out of range"),
    ("cast(t as interval)", "Could not convert string"),
    ("cast(t as uuid)", "Could not convert string"),
    ("cast(t as json)", "Malformed JSON"),
    ("cast(t as integer[])", "Type VARCHAR with value"),
    ("cast(t as struct(a integer))", "Type VARCHAR with value"),
    ("cast(t as enum ('a'))", "Could not convert string"),
    ("cast(n as integer)", "Type INT64 with value"),
    ("cast(cast(n as double) as decimal(5, 2))", "Could not cast value"),
    ("n * n * n", "Overflow in multiplication of INT64"),
    ("make_date(n, 1, 1)", "Type INT64 with value"),
    ("strptime(t, '%Y-%m-%d')", "Could not parse string"),
    ("from_json(t, '[\"INT\"]')", "Malformed JSON"),
    ("json_extract(t, '$.a')", "Malformed JSON"),
    ("date_trunc(t, date '2000-01-01')", "extract specifier"),
    ("from_base64(t)", "Could not decode string"),
]
STATEMENTS = [
    ("insert into keyed select n from v; insert into keyed select n from v", "Duplicate key"),
    ("insert into bounded select n from v", "CHECK constraint failed"),
]


def error_of(sql):
    with duckdb.connect() as connection:
        connection.execute(
            "create table v (t varchar, n bigint); create table keyed (n bigint primary key); "
            "create table bounded (n bigint check (n < 5))"
        )
        connection.execute("insert into v values (?, ?)", [TEXT, NUMBER])
        with pytest.raises(duckdb.Error) as raised:
            connection.execute(sql).fetchall()
    return raised.value


def told(text):
    return [part for part in PARTS if part in text]


@pytest.mark.parametrize(
    ("sql", "left"), [*((f"select {one} from v", left) for one, left in QUERIES), *STATEMENTS]
)
def test_no_value_is_told_anywhere(sql, left, tmp_path):
    error = error_of(sql)
    line = one_line(error)
    assert left in line and not told(line)
    # As dbt writes it: the message of a node, an entry of the log with the words of the traceback.
    message = "Runtime Error in model m (m.sql)\n  " + str(error).replace("\n", "\n  ")
    results, logs = tmp_path / "run_results.json", tmp_path / "logs"
    logs.mkdir()
    node = {"status": "error", "unique_id": "model.ehrbench.m", "message": message}
    results.write_text(json.dumps({"results": [node], "elapsed_time": 1.5}))
    entry = f"12:00:00.1 [debug] [Thread-1 (]: {message}\n{error!r}\n"
    (logs / "dbt.log").write_text(entry + "12:00:00.2 [info ] [MainThread]: Done\n")
    line = dbt.first_failure(results, [])
    assert line.startswith("dbt: model m: ") and left in line and not told(line)
    assert not told(dbt.first_failure(tmp_path / "none.json", message.splitlines()))
    dbt.blank_rows(results, logs)
    kept = json.loads(results.read_text())
    assert left in kept["results"][0]["message"] and kept["elapsed_time"] == 1.5
    log = (logs / "dbt.log").read_text()
    assert left in log and log.endswith("\n12:00:00.2 [info ] [MainThread]: Done\n")
    assert not told(results.read_text() + log)


def test_type_and_column_stay():
    said = "Conversion Error: Could not convert string 'it''s 7' to INT32 when casting from source column t"
    wanted = "Conversion Error: Could not convert string to INT32 when casting from source column t"
    assert without_values(said) == wanted


@pytest.mark.parametrize(
    "text",
    [
        'Binder Error: column "subject_id" must appear in the GROUP BY clause',
        "Catalog Error: Table with name 'stg_a' does not exist",
        "IO Error: No files found that match the pattern \"/d/1234/a.csv\"",
        "Invalid Input Error: CSV Error on Line: 22002",
        "Invalid Input Error: all_pairs is for small test cohorts: 5000 visits, at most 2000",
        'Invalid Input Error: Error when sniffing file "/d/12/a.csv"',
        "Invalid Input Error: No magic bytes found at end of file '/d/12/a.parquet'",
        "Invalid Input Error: File '/d/12/a.parquet' too small to be a Parquet file",
        "Constraint Error: NOT NULL constraint failed: t.a",
        "Got 12 results, configured to fail if != 0",
    ],
)
def test_what_names_no_value_stays(text):
    assert without_values(text) == text


def test_the_file_of_a_value_is_named(tmp_path):
    """Its path may hold digits, which a value would be told by."""
    results = tmp_path / "run_results.json"
    said = "Conversion Error: Could not convert string '7x' to INT32 when casting from source column t"
    node = {
        "status": "error", "unique_id": "model.ehrbench.m", "message": f"Runtime Error in model m (m.sql)\n  {said}",
        "compiled_code": "select * from read_parquet(['/d/run-1234/a.parquet'])",
    }
    results.write_text(json.dumps({"results": [node]}))
    line = dbt.first_failure(results, [])
    assert "7x" not in line and "to INT32 when casting from source column t in /d/run-1234/a.parquet: " in line


def test_the_models_own_errors_name_no_value():
    """`error(...)` would put any text of a row into a message; one model has it, with a count."""
    users = [
        file.stem
        for folder in ("models", "macros", "tests")
        for file in sorted((ROOT / folder).rglob("*.sql"))
        if " error(" in file.read_text(encoding="utf-8")
    ]
    assert users == ["int_generator_all_pairs"]
