"""The hand-made bad lines of the test data pass through the staging SQL as EXPECTED.csv says.

The lines are gzipped under the dumps' names and read by dbt; a line that is to be kept must arrive
with its text intact, a line that is to be rejected must be set aside and counted.
"""

import csv
import gzip
import os

import duckdb
import pytest
from conftest import ROOT, dbt

DUMPS = {
    "PREDICATION_bad.csv": "semmedVER43_2024_R_PREDICATION.csv.gz",
    "PREDICATION_AUX_bad.csv": "semmedVER43_2024_R_PREDICATION_AUX.csv.gz",
    "SENTENCE_bad.csv": "semmedVER43_2024_R_SENTENCE.csv.gz",
    "CITATIONS_bad.csv": "semmedVER43_2024_R_CITATIONS.csv.gz",
}
SET_ASIDE = {"torn_line", "malformed_cui"}


@pytest.fixture(scope="module")
def bad_rows_dir():
    folder = ROOT / (os.environ.get("EHRBENCH_SHARED_DIR") or "../shared") / "data/kb-open/bad-rows"
    if not folder.is_dir():
        pytest.skip(f"no bad rows in {folder}: point EHRBENCH_SHARED_DIR at the shared test data")
    return folder


@pytest.fixture(scope="module")
def expected(bad_rows_dir):
    """(file, row id) -> keep or reject, in the order of the lines."""
    with open(bad_rows_dir / "EXPECTED.csv", newline="", encoding="utf-8") as lines:
        return {(row["file"], int(row["row"])): row["expected"] for row in csv.DictReader(lines)}


@pytest.fixture(scope="module")
def read(bad_rows_dir, tmp_path_factory):
    """A query function over the staged bad rows."""
    folder = tmp_path_factory.mktemp("bad_rows")
    semmeddb, umls = folder / "semmeddb", folder / "umls" / "META"
    semmeddb.mkdir()
    umls.mkdir(parents=True)
    for name, dump in DUMPS.items():
        (semmeddb / dump).write_bytes(gzip.compress((bad_rows_dir / name).read_bytes(), mtime=0))
    (umls / "MRCONSO.RRF").write_bytes((bad_rows_dir / "MRCONSO_bad.RRF").read_bytes())
    (umls / "MRCUI.RRF").write_text("C4082455||SY|||C4300557|Y|\n", encoding="utf-8")
    done = dbt(
        *("run", "--target", "full", "--threads", "1"),
        *("--select", "staging.semmeddb", "+int_predications_parsed", "+int_terminology_atoms"),
        target_path=folder / "target",
        EHRBENCH_DB=folder / "bad_rows.duckdb",
        EHRBENCH_SEMMEDDB_DIR=semmeddb,
        EHRBENCH_UMLS_DIR=folder / "umls",
    )
    assert done.returncode == 0, done.stdout[-3000:]

    def rows(sql):
        with duckdb.connect(str(folder / "bad_rows.duckdb"), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    return rows


def test_predications_are_kept_or_rejected_as_expected(expected, read):
    reasons = dict(read("select predication_id - 900000, reason from int_predications_parsed"))
    wanted = {row: word for (file, row), word in expected.items() if file == "PREDICATION_bad.csv"}
    found = {row: "reject" if reason in SET_ASIDE else "keep" for row, reason in reasons.items()}
    assert found == wanted


def test_predications_arrive_intact(read):
    rows = {
        row[0]: row[1:]
        for row in read(
            "select predication_id - 900000, predicate, is_negated, subject_cui_id, object_cui_id, reason "
            "from int_predications_parsed"
        )
    }
    assert rows[3][:4] == ("INHIBITS", False, 4057, 1414968)
    assert rows[4][2:4] == (757738, 33684)
    assert rows[5][2:5] == (None, 12634, "gene_id_without_cui")
    assert rows[6][2:5] == (35920, 24305, None)
    assert rows[7][2:4] == (87111, 4057)
    assert rows[8][2:4] == (600491, 13227)
    assert rows[9][2:5] == (25281, 40264, None)
    assert rows[10][:2] == ("COMPARED_WITH", False)
    assert rows[11] == ("TREATS", True, 4057, 4238, None)
    assert rows[13][2] == 4300557
    assert rows[14][4] is None
    assert rows[15][4] == "torn_line"


def test_aux_rows_are_kept(expected, read):
    assert read("select predication_id, indicator_type from stg_semmeddb__predication_aux order by all") == [
        (900011, "INFER"),
        (999999, "VERB"),
    ]


def test_sentences_are_column_six_with_their_escapes(read):
    sentences = dict(read("select sentence_id - 900000, sentence from stg_semmeddb__sentences"))
    assert sentences == {
        1: "Aspirin was given; the value was 1, 2 and 3.",
        2: "A title.",
        3: 'They said "no, not C:\\temp".',
        4: "TNF-α ≥ 5 µg in Ménière disease.",
    }
    assert read("select pmid from stg_semmeddb__sentences where sentence_id = 900002") == [("00000000",)]


def test_citations_keep_their_dates(read):
    assert read("select pmid, date_printed, entry_date, pyear from stg_semmeddb__citations order by all") == [
        ("99000001", "1998 Jan", "null", 1998),
        ("99000002", None, "null", None),
    ]


def test_atoms_are_kept_or_set_aside(expected, read):
    names = dict(read("select cui, name from stg_umls__atoms"))
    assert names["C0000726"] == "Abdomen"
    assert names["C0000727"] == '5" tube'
    wanted = [word for (file, _), word in sorted(expected.items()) if file == "MRCONSO_bad.RRF"]
    kept = {row[0] for row in read("select distinct cui_id - 725 from int_terminology_atoms")}
    assert [("keep" if row in kept else "reject") for row in range(1, 5)] == wanted


def test_every_expected_row_is_tested(expected):
    files = {file for file, _ in expected}
    assert files == {*DUMPS, "MRCONSO_bad.RRF"}
