"""What is missing is said, what is wrong is said with its mend and ends with exit 1."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, ehrbench

from ehrbench import doctor
from ehrbench.doctor import MISSING, OK, WRONG, Table, check_source

PATIENTS = Table("patients", ["hosp/patients.csv.gz"], "csv", ["subject_id", "gender"], ["dod"])
RRF = Table("mrconso", ["META/MRCONSO.RRF", "MRCONSO.RRF"], "rrf", ["cui", "lat", "str"], [])
PREDICATION = Table(
    "predication",
    ["semmedVER43_2024_R_PREDICATION.csv.gz"],
    "semmeddb",
    ["predication_id", "sentence_id", "predicate"],
    [],
)
PARQUET = Table("labels", ["labels.parquet"], "parquet", ["a", "b"], [])


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A source's folder, named by its variable."""

    def make(source):
        folder = tmp_path / source
        folder.mkdir()
        monkeypatch.setenv(f"EHRBENCH_{source.upper()}_DIR", str(folder))
        return folder

    return make


def put(folder, name, content, packed=None):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    packed = name.endswith(".gz") if packed is None else packed
    path.write_bytes(gzip.compress(data) if packed else data)


def only(source, table):
    found = check_source(source, [table], "full")
    return found.state, found.text


def test_a_good_source_is_ok(place):
    put(place("mimic_iv"), "hosp/patients.csv.gz", 'Subject_ID,"gender"\n1,F\n')
    assert only("mimic_iv", PATIENTS)[0] == OK
    put(place("umls"), "MRCONSO.RRF", "C0000001|ENG|name|\n")
    assert only("umls", RRF)[0] == OK
    put(place("semmeddb"), PREDICATION.files[0], '1,2,"TREATS \\"x\\", y"\n')
    assert only("semmeddb", PREDICATION)[0] == OK
    pq.write_table(pa.table({"a": [1], "B": [2]}), place("pubmed") / "labels.parquet")
    assert only("pubmed", PARQUET)[0] == OK


def test_a_source_that_nobody_named_is_missing(monkeypatch):
    monkeypatch.delenv("EHRBENCH_MIMIC_IV_DIR", raising=False)
    state, text = only("mimic_iv", PATIENTS)
    assert state == MISSING and "EHRBENCH_MIMIC_IV_DIR is not set" in text


def test_a_named_folder_that_is_none_is_wrong(monkeypatch, tmp_path):
    monkeypatch.setenv("EHRBENCH_MIMIC_IV_DIR", str(tmp_path / "nowhere"))
    state, text = only("mimic_iv", PATIENTS)
    assert state == WRONG and "which is no folder" in text


@pytest.mark.parametrize(
    ("source", "table", "name", "content", "packed", "said"),
    [
        ("mimic_iv", PATIENTS, "other.txt", "x", False, "holds none of its files"),
        ("mimic_iv", PATIENTS, PATIENTS.files[0], "", False, "is empty"),
        ("mimic_iv", PATIENTS, PATIENTS.files[0], "", True, "has no first line"),
        ("mimic_iv", PATIENTS, PATIENTS.files[0], "subject_id,gender\n", False, "is not gzip"),
        ("mimic_iv", PATIENTS, PATIENTS.files[0], "subject_id,sex\n", True, "no column gender"),
        ("mimic_iv", PATIENTS, PATIENTS.files[0], b"\xff\xfe\x00", True, "begin with text"),
        ("umls", RRF, "MRCONSO.RRF", "C1|ENG|name|more|\n", False, "has 4 fields"),
        ("umls", RRF, "MRCONSO.RRF", "C1|ENG|name|\n", True, "is gzip but not named .gz"),
        ("semmeddb", PREDICATION, PREDICATION.files[0], "1,2\n", True, "has 2 fields"),
        (
            *("semmeddb", PREDICATION, "semmedVER42_2020_R_PREDICATION.csv.gz", "1,2,x\n", True),
            "release semmedVER42_2020_R found, semmedVER43_2024_R is read",
        ),
        ("pubmed", PARQUET, "labels.parquet", "PAR1", False, "is not Parquet"),
    ],
)
def test_what_is_wrong_is_named_with_its_mend(place, source, table, name, content, packed, said):
    put(place(source), name, content, packed)
    state, text = only(source, table)
    assert state == WRONG and said in text
    assert ": " in text


def test_a_torn_gzip_is_named(place):
    folder = place("mimic_iv")
    put(folder, PATIENTS.files[0], "subject_id,gender\n")
    path = folder / PATIENTS.files[0]
    path.write_bytes(path.read_bytes()[:14])
    state, text = only("mimic_iv", PATIENTS)
    assert state == WRONG and "cannot be unpacked" in text


def test_a_column_of_parquet_is_checked(place):
    pq.write_table(pa.table({"a": [1]}), place("pubmed") / "labels.parquet")
    assert "has no column b" in only("pubmed", PARQUET)[1]


def test_one_missing_table_among_others_is_wrong_unless_declared(place):
    put(place("mimic_iv"), PATIENTS.files[0], "subject_id,gender\n")
    other = Table("emar", ["hosp/emar.csv.gz"], "csv", ["a"], [])
    found = check_source("mimic_iv", [PATIENTS, other], "full")
    assert found.state == WRONG and "emar: no hosp/emar.csv.gz" in found.text
    free = Table("emar", ["hosp/emar.csv.gz"], "csv", ["a"], [], may_be_missing=True)
    assert check_source("mimic_iv", [PATIENTS, free], "full").state == OK


def test_every_problem_of_a_source_is_printed(place):
    folder = place("mimic_iv")
    put(folder, "a.csv", "x\n")
    put(folder, "b.csv", "")
    tables = [Table(n, [f"{n}.csv"], "csv", ["y"], []) for n in ("a", "b", "c")]
    lines = check_source("mimic_iv", tables, "full").lines()
    assert len(lines) == 3
    assert "a.csv has no column y" in lines[0]
    assert "b.csv is empty" in lines[1]
    assert "no c.csv" in lines[2]


def test_expectations_come_from_the_dbt_sources():
    declared = doctor.declared_sources(ROOT)
    assert {"mimic_iv", "umls", "semmeddb"} <= set(declared)
    tables = {table.name: table for table in declared["mimic_iv"]}
    assert "icd_code" in tables["diagnoses_icd"].columns
    assert all(table.columns for tables in declared.values() for table in tables)


def test_doctor_on_the_open_demos_is_content(shared_dir):
    done = ehrbench("doctor", "--target", "demo", EHRBENCH_SHARED_DIR=shared_dir)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line.split()[1]: line for line in done.stdout.splitlines() if line[:1] != " "}
    for source in ("mimic_iv", "umls", "semmeddb", "icd"):
        assert lines[source].startswith("ok "), lines[source]
    assert lines["data"].split()[-1] == "demo"
    assert "dbt-duckdb" in lines["versions"]
    assert {"engine", "embedded"} <= set(lines)


def test_doctor_exits_1_on_a_wrong_source_and_0_on_missing_ones(tmp_path):
    nothing = ehrbench("doctor", "--target", "full")
    assert "missing  mimic_iv" in nothing.stdout
    broken = ehrbench("doctor", "--target", "full", EHRBENCH_UMLS_DIR=tmp_path)
    assert "wrong    umls" in broken.stdout
    assert broken.returncode == 1
    assert broken.stderr.startswith("error: ") and len(broken.stderr.splitlines()) == 1
