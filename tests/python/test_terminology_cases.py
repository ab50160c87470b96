"""The macros normalize_icd and normalize_ndc over the case tables."""

from __future__ import annotations

import csv

import duckdb
import pytest
from conftest import ROOT
from raw_renderer import Renderer

CASES = ROOT / "tests" / "fixtures" / "cases"


@pytest.fixture(scope="module")
def macro_sql() -> dict[str, str]:
    """SQL of both macros, each over a table `cases` of text columns."""
    with duckdb.connect() as connection:
        render = Renderer(connection).macros.render
        return {
            "icd": render(
                "select *, {{ normalize_icd('raw_code', 'icd_version', 'code_kind') }} as dotted "
                "from cases"
            ),
            "ndc": render("select *, {{ normalize_ndc('raw_ndc') }} as ndc from cases"),
            "literal": render(
                """select {{ normalize_icd("'E850'", 9, 'diagnosis') }} as icd9,
                {{ normalize_icd("'E850'", 10, 'diagnosis') }} as icd10,
                {{ normalize_icd("'0117'", 9, 'procedure') }} as icd9_procedure"""
            ),
        }


def over(rows: list[dict], sql: str) -> list[dict]:
    """The rows with the compiled column added; every input column is text."""
    connection = duckdb.connect()
    columns = list(rows[0])
    connection.execute(f"create table cases ({', '.join(f'{c} varchar' for c in columns)})")
    marks = ", ".join("?" for _ in columns)
    connection.executemany(
        f"insert into cases values ({marks})", [[row[c] for c in columns] for row in rows]
    )
    result = connection.execute(sql)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def table(name: str) -> list[dict]:
    with (CASES / name).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def test_every_icd_case(macro_sql):
    rows = over(table("icd_normalization_cases.csv"), macro_sql["icd"])
    assert len(rows) >= 16
    wrong = [row for row in rows if row["dotted"] != row["expected_dotted"]]
    assert not wrong


def test_icd_codes_that_are_none(macro_sql):
    made = [("", "9", "diagnosis"), ("  ", "10", "procedure"), ("4280", "11", "diagnosis"),
            ("4280", "9", "drug"), (None, "9", "diagnosis"), ("4280", None, "diagnosis")]
    rows = [{"raw_code": code, "icd_version": version, "code_kind": kind}
            for code, version, kind in made]
    assert [row["dotted"] for row in over(rows, macro_sql["icd"])] == [None] * len(made)


BLANKS = [
    "\u00a0", "\u2007", "\u202f", "\u3000", "\u2028", "\u0085", "\u200b", "\ufeff",
    "\t", "\v", "\r\n",
]


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_blanks_of_any_kind_are_no_part_of_a_code(macro_sql, blank):
    made = [(f"4280{blank}", "9"), (f"{blank}428.0 ", "9"), (f"428{blank}0", f"9{blank}"),
            (blank, "9")]
    rows = [{"raw_code": code, "icd_version": version, "code_kind": "diagnosis"}
            for code, version in made]
    dotted = [row["dotted"] for row in over(rows, macro_sql["icd"])]
    assert dotted == ["428.0", "428.0", "428.0", None]
    codes = [f"{blank}00002143380{blank} ", f"2143380{blank}", blank, f"00002{blank}143380"]
    found = [row["ndc"] for row in over([{"raw_ndc": code} for code in codes], macro_sql["ndc"])]
    assert [(ndc["ndc11"], ndc["status"]) for ndc in found] == [
        ("00002143380", "mapped_format"),
        ("00002143380", "repaired_zero_padding"),
        (None, "missing_sentinel"),
        (None, "invalid_format"),
    ]


def test_icd_macro_takes_literals(macro_sql):
    row = duckdb.connect().execute(macro_sql["literal"]).fetchone()
    assert row == ("E850", "E85.0", "01.17")


def test_every_ndc_case(macro_sql):
    rows = over(table("ndc_normalization_cases.csv"), macro_sql["ndc"])
    assert len(rows) >= 8
    wrong = [
        row for row in rows
        if (row["ndc"]["ndc11"] or "", row["ndc"]["status"])
        != (row["expected_ndc11"], row["expected_status"])
    ]
    assert not wrong


@pytest.mark.parametrize(("raw", "ndc11", "status"), [
    (None, None, "missing_sentinel"),
    ("", None, "missing_sentinel"),
    ("00000000000", None, "missing_sentinel"),
    (" 00002143380 ", "00002143380", "mapped_format"),
    ("00002-1433-80", "00002143380", "mapped_format"),
    ("000002143380", "00002143380", "trimmed_12_digit"),
    ("2143380", "00002143380", "repaired_zero_padding"),
    ("12345", None, "invalid_format"),
    ("0002-1433", None, "invalid_format"),
    ("inf", None, "invalid_format"),
])
def test_more_ndc_cases(macro_sql, raw, ndc11, status):
    (row,) = over([{"raw_ndc": raw}], macro_sql["ndc"])
    assert (row["ndc"]["ndc11"], row["ndc"]["status"]) == (ndc11, status)
