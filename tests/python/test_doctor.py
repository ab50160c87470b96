"""What is missing is said, what is wrong is said with its mend and ends with exit 1."""

import csv
import gzip
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, ehrbench

from ehrbench import doctor, paths, pipeline, spark
from ehrbench.doctor import MISSING, OK, WARN, WRONG, Finding, Table, check_source
from ehrbench.engines import vllm_offline
from ehrbench.errors import EhrbenchError

PATIENTS = Table("patients", ["hosp/patients.csv.gz"], "csv", ["subject_id", "gender"], ["dod"])
RRF = Table("mrconso", ["META/MRCONSO.RRF", "MRCONSO.RRF"], "fixed", ["line"], [], fields=["cui", "lat", "str"])
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
    [found] = check_source(source, [table], "full")
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
        ("mimic_iv", PATIENTS, PATIENTS.files[0], "subject_id,sex\n", True, "column gender is missing"),
        ("mimic_iv", PATIENTS, PATIENTS.files[0], b"\xff\xfe\x00", True, "begin with UTF-8 text"),
        ("mimic_iv", PATIENTS, PATIENTS.files[0], "x" * 2**18, True, "with a line of a table"),
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


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:14], lambda data: data[:10] + b"\x07" + data[11:]]
)
def test_a_spoilt_gzip_is_named(place, spoil):
    folder = place("mimic_iv")
    put(folder, PATIENTS.files[0], "subject_id,gender\n")
    path = folder / PATIENTS.files[0]
    path.write_bytes(spoil(path.read_bytes()))
    state, text = only("mimic_iv", PATIENTS)
    assert state == WRONG and "cannot be unpacked" in text


def test_flipped_bits_of_a_large_file_are_found_when_asked(place, monkeypatch):
    """DuckDB reads such a file without a word: it does not compare checksums."""
    folder = place("mimic_iv")
    name = "hosp/emar.csv.gz"
    text = "subject_id,hadm_id,emar_id,pharmacy_id,charttime,medication,event_txt\n"
    put(folder, name, text + "".join(f"{i},20,x,1,,Heparin,Flushed\n" for i in range(2000)))
    tables = [one for one in doctor.declared_sources(ROOT)["mimic_iv"] if one.name == "emar"]
    assert doctor.check_packing("full").text == "no packed file over 67.1 MB"
    monkeypatch.setattr(doctor, "UNPACK_AT_MOST", 0)
    found = doctor.check_packing("full")
    assert found.state == OK and found.text.startswith("1 large files are whole")
    data = bytearray((folder / name).read_bytes())
    data[-6] ^= 255
    (folder / name).write_bytes(data)
    with duckdb.connect() as connection:
        assert connection.execute(f"select count(*) from '{folder / name}'").fetchall() == [(2000,)]
    assert check_source("mimic_iv", tables, "full")[0].state == OK
    found = doctor.check_packing("full")
    assert found.state == WRONG and found.text.startswith("mimic_iv.emar: ")
    assert "emar.csv.gz cannot be unpacked (CRC check failed" in found.text
    assert found.text.endswith(": fetch it again")


def test_a_wrong_seed_stands_before_all_that_reads_it(own_root):
    file = own_root / "seeds" / "licences.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("licence", "license", 1))
    found = doctor.examine("synthetic")
    assert [one.name for one in found] == ["versions", "seeds", "what to do"]
    assert found[1].state == WRONG and "column licence is missing" in found[1].text
    assert found[2].text.startswith("mend seeds")
    with pytest.raises(EhrbenchError, match="column licence is missing"):
        pipeline.preflight("synthetic")


def test_a_column_of_parquet_is_checked(place):
    pq.write_table(pa.table({"a": [1]}), place("pubmed") / "labels.parquet")
    assert "column b is missing" in only("pubmed", PARQUET)[1]


def test_files_are_found_as_dbt_finds_them(place):
    """Upper and lower case, Parquet by its name, columns that come from the reading, tabs."""
    folder = place("mimic_iv")
    put(folder, "HOSP/Patients.CSV.gz", "SUBJECT_ID\tGender\n1\tF\n", packed=True)
    given = Table("patients", ["hosp/patients.csv.gz"], "csv", ["_site", "_row", "subject_id"], [])
    assert only("mimic_iv", given)[0] == OK
    pq.write_table(pa.table({"SUBJECT_ID": [1]}), folder / "people.parquet")
    given = Table("people", ["people.csv", "people.parquet"], "csv", ["_file", "subject_id"], [])
    assert only("mimic_iv", given)[0] == OK
    given = Table("people", ["people.csv", "people.parquet"], "csv", ["subject_id", "dob"], [])
    assert re.search("column dob is missing in .*people.parquet; convert", only("mimic_iv", given)[1])


def test_titles_and_fields_of_the_yml_are_what_a_file_must_have(place):
    folder = place("drugbank")
    put(folder, "vocabulary.csv", "DrugBank ID,Common name\nDB1,x\n")
    titles = {"drugbank_id": "DrugBank ID", "name": "Common name"}
    columns = ["drugbank_id", "name", "_row"]
    good = Table("vocabulary", ["vocabulary.csv"], "csv", columns, [], header=titles)
    assert only("drugbank", good)[0] == OK
    bad = Table("vocabulary", ["vocabulary.csv"], "csv", [*columns, "unii"], [], header=titles)
    assert "column unii is missing" in only("drugbank", bad)[1]
    put(place("umls"), "MRCUI.RRF", "C1|2024|RO|\n")
    lines = ["line", "_file", "_row"]
    fields = Table("mrcui", ["MRCUI.RRF"], "fixed", lines, [], fields=["cui1", "ver", "rel"])
    assert only("umls", fields)[0] == OK
    fields = Table("mrcui", ["MRCUI.RRF"], "fixed", lines, [], fields=["cui1", "ver"])
    assert "has 3 fields in its first line, not 2" in only("umls", fields)[1]


SITE = [
    Table("person", ["person.csv"], "csv", ["_site", "person_id"], [], sites=True),
    Table("concept", ["concept.csv"], "csv", ["concept_id"], [], may_be_missing=True, sites=True),
]


def test_a_folder_of_sites_has_a_line_per_site(place):
    folder = place("omop")
    put(folder, "Site-A/PERSON.csv", "PERSON_ID\n1\n")
    put(folder, "b/person.csv", "id\n1\n")
    put(folder, "__MACOSX/person.csv", b"\x00\x05")
    put(folder, "notes/readme.txt", "x")
    found = check_source("omop", SITE, "full")
    assert [(one.state, one.text.split(":")[0]) for one in found] == [
        (OK, "site site_a"), (WRONG, "site b")]
    assert "column person_id is missing" in found[1].text


def test_the_name_of_a_site_is_its_own(place):
    folder = place("omop")
    for name in ("site-a", "Site A", "MIMIC-IV", "all", "mine"):
        put(folder, f"{name}/person.csv", "person_id\n1\n")
    found = {one.text.split(":")[0]: one for one in check_source("omop", SITE, "full")}
    assert {name: one.state for name, one in found.items()} == {
        "site site_a": WRONG, "site mimic_iv": WRONG, "site all": WRONG, "site mine": OK}
    assert "this name is taken: rename" in found["site mimic_iv"].text


def test_one_site_by_itself_and_none_at_all(place):
    folder = place("omop")
    assert [one.state for one in check_source("omop", SITE, "full")] == [WRONG]
    put(folder, "Person.csv", "person_id\n1\n")
    [found] = check_source("omop", SITE, "full")
    assert found.state == OK and found.text.startswith("site omop: 1 of 1 tables")


def test_the_class_of_a_site_is_read_from_its_files(shared_dir, place, monkeypatch):
    demo = shared_dir / "data" / "omop-synthea27nj"
    folder = place("omop")
    for file in demo.glob("*.csv"):
        put(folder, f"any_name/{file.name.lower()}", file.read_bytes())
    for name in ("MIMIC_IV", "MIMIC_III"):
        monkeypatch.delenv(f"EHRBENCH_{name}_DIR", raising=False)
    assert paths.data_class("full") == "demo"
    # A table of other people beside it is read too, whatever its form is.
    pq.write_table(pa.table({"person_id": [1]}), folder / "any_name/drug_exposure.parquet")
    assert paths.data_class("full") == "credentialed"
    (folder / "any_name/drug_exposure.parquet").unlink()
    put(folder, "other/person.csv.gz", "person_id\n1\n")
    assert paths.data_class("full") == "credentialed"


def test_a_synthetic_site_has_as_many_persons_as_the_marker_says(tmp_path, monkeypatch):
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(tmp_path))
    site = tmp_path / "raw" / "omop" / "site"
    put(site, "PERSON.csv", "PERSON_ID\nPERSON_ID\n-1\n2\n")
    marker = tmp_path / paths.MARKER
    text = '{"data_class": "synthetic", "patients": 9, "sources": {"site": {"patients": %d}}}'
    marker.write_text(text % 2)
    assert paths.data_class("synthetic") == "synthetic"
    marker.write_text(text % 3)
    assert paths.data_class("synthetic") == "credentialed"
    (site / "PERSON.csv").unlink()
    pq.write_table(pa.table({"person_id": [1, 2, 3]}), site / "person.parquet")
    assert paths.data_class("synthetic") == "synthetic"


def test_the_shared_folder_without_sites_is_no_credentialed_site(tmp_path, monkeypatch):
    for name in ("MIMIC_IV", "MIMIC_III", "OMOP"):
        monkeypatch.delenv(f"EHRBENCH_{name}_DIR", raising=False)
    monkeypatch.setenv("EHRBENCH_SHARED_DIR", str(tmp_path))
    put(tmp_path, "data/kb-open/umls/MRCUI.RRF", "x")
    assert paths.data_class("demo") == "none"
    monkeypatch.setenv("EHRBENCH_OMOP_DIR", str(tmp_path / "data"))
    assert paths.data_class("demo") == "credentialed"


def test_a_missing_table_is_read_as_empty_but_people_and_visits_are_a_must(place):
    put(place("mimic_iv"), PATIENTS.files[0], "subject_id,gender\n")
    other = Table("emar", ["hosp/emar.csv.gz"], "csv", ["a"], [])
    [found] = check_source("mimic_iv", [PATIENTS, other], "full")
    assert found.state == OK
    assert "emar: no hosp/emar.csv.gz" in found.more[0] and "read as empty" in found.more[0]
    free = Table("emar", ["hosp/emar.csv.gz"], "csv", ["a"], [], may_be_missing=True)
    [found] = check_source("mimic_iv", [PATIENTS, free], "full")
    assert found.state == OK and not found.more
    stays = Table("admissions", ["hosp/admissions.csv.gz"], "csv", ["a"], [])
    [found] = check_source("mimic_iv", [PATIENTS, stays, other], "full")
    assert found.state == WRONG and found.text.endswith(": add it")
    assert "admissions: no hosp/admissions.csv.gz" in found.text
    assert "emar" in found.more[0]


OMOP_TABLES = {
    "person": "person_id,gender_concept_id,year_of_birth\n1,0,1950\n",
    "visit_occurrence": "visit_occurrence_id,person_id,visit_concept_id,visit_start_date,"
    "visit_end_date\n10,1,9201,2020-01-01,2020-01-02\n",
    "condition_occurrence": "person_id,visit_occurrence_id,condition_concept_id,"
    "condition_type_concept_id\n1,10,0,0\n",
}


@pytest.fixture
def omop_site(place):
    """Folder of a small site, and what is said of it."""
    site = place("omop") / "site"
    for name, content in OMOP_TABLES.items():
        put(site, f"{name}.csv", content)
    tables = doctor.declared_sources(ROOT)["omop"]
    return site, lambda: check_source("omop", tables, "full")[0]


def test_a_site_of_persons_visits_and_conditions_is_ok(omop_site, capsys):
    site, check = omop_site
    assert check().state == OK and len(check().more) == 2
    assert all(line.endswith("read as empty") for line in check().more)
    pipeline.preflight("full")
    assert "omop: drug_exposure: no drug_exposure.csv.gz" in capsys.readouterr().out
    (site / "visit_occurrence.csv").unlink()
    assert check().state == WRONG and "visit_occurrence" in check().text
    with pytest.raises(EhrbenchError, match="add it"):
        pipeline.preflight("full")


def test_mimic_iii_without_icu_stays_says_who_does_not_count(place):
    folder = place("mimic_iii")
    tables = doctor.declared_sources(ROOT)["mimic_iii"]
    for table in tables:
        if table.name in ("patients", "admissions"):
            put(folder, table.files[1], ",".join(table.columns) + "\n")
    [found] = check_source("mimic_iii", tables, "full")
    assert found.state == OK
    [line] = [line for line in found.more if line.startswith("icustays: ")]
    assert "beside MIMIC-IV no patient counts (var mimic_iii_stays)" in line


@pytest.mark.parametrize(
    ("name", "spoil", "said"),
    [
        ("condition_occurrence.csv.gz", lambda data: gzip.compress(data)[:-20], "fetch the file"),
        ("condition_occurrence.csv", lambda data: data + b"1,Jane\xe9,0,0\n", "as UTF-8"),
        ("person.csv", lambda data: data + b"Jane\xe9,0,0\n", "re-encode it as UTF-8"),
    ],
)
def test_a_file_that_is_spoilt_behind_its_beginning_is_one_line(
    omop_site, name, spoil, said, monkeypatch
):
    # As a file that is too large to be unpacked for a look.
    monkeypatch.setattr(doctor, "UNPACK_AT_MOST", 0)
    site, check = omop_site
    plain = site / name.removesuffix(".gz")
    whole = plain.read_bytes() + b"".join(b"%d,10,0,0\n" % i for i in range(30000))
    plain.unlink()
    (site / name).write_bytes(spoil(whole))
    found = check()
    assert found.state == OK
    [line] = [line for line in found.more if "cannot be read to its end" in line]
    assert line.startswith(name.split(".")[0] + ": ") and said in line and name in line
    assert "\n" not in line and "Jane" not in line


def test_a_renamed_demo_whose_rules_go_by_its_name_is_named(omop_site, monkeypatch):
    site, check = omop_site
    digest = hashlib.md5(b"1").hexdigest()
    seeds = {
        "source_overlaps": [{"source": "omop_demo"}, {"source": "site"}],
        "demo_counts": [{"source": "omop_demo", "subject_digest": digest, "comment": "Demo 1"}],
    }
    monkeypatch.setattr(doctor, "seed", seeds.get)
    assert check().more[-1] == (
        "this is the Demo 1, whose rules go by its name: name its folder omop-demo"
    )
    for change in ({"source": "site"}, {"source": "no_rules"}, {"subject_digest": "x"}):
        seeds["demo_counts"] = [{"source": "omop_demo", "subject_digest": digest, **change}]
        assert not [line for line in check().more if "this is the" in line]


def test_the_omop_demo_is_known_by_its_persons(shared_dir, place):
    demo = shared_dir / "data" / "omop-mimic-iv-demo"
    put(place("omop") / "copy", "person.csv", (demo / "person.csv").read_bytes())
    tables = doctor.declared_sources(ROOT)["omop"]
    assert "name its folder omop-mimic-iv-demo" in doctor.wrong_name(
        paths.source_dir("omop", "full") / "copy", tables)[0]


def test_a_question_mark_in_a_path_is_named(place):
    put(place("omop"), "site?/person.csv", "person_id\n1\n")
    [found] = check_source("omop", SITE, "full")
    assert found.state == WRONG and "has a question mark in its path" in found.text


def test_every_problem_of_a_source_is_printed(place):
    folder = place("mimic_iv")
    put(folder, "a.csv", "x\n")
    put(folder, "b.csv", "")
    tables = [Table(n, [f"{n}.csv"], "csv", ["y"], []) for n in ("a", "b", "patients")]
    [found] = check_source("mimic_iv", tables, "full")
    lines = found.lines()
    assert len(lines) == 3
    assert re.search("column y is missing in .*a.csv", lines[0])
    assert "b.csv is empty" in lines[1]
    assert "no patients.csv" in lines[2]


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
    for source in ("mimic_iv", "mimic_iii", "umls", "semmeddb", "icd"):
        assert lines[source].startswith("ok "), lines[source]
    for site in ("omop_mimic_iv_demo", "omop_synthea27nj"):
        [line] = [line for line in done.stdout.splitlines() if f"site {site}: " in line]
        assert line.startswith("ok ") and "5 of 5 tables" in line and "demo data" in line
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


# ------------------------------------------------------------------- licences, machine, database


@pytest.fixture
def own_root(tmp_path, monkeypatch):
    """A project of its own with this one's seeds, so that nothing beside it is found."""
    root = tmp_path / "root"
    root.mkdir()
    for name in ("seeds", "models/staging", "macros"):
        shutil.copytree(ROOT / name, root / name)
    for name in ("dbt_project.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    sources = [name.upper() for name in doctor.declared_sources(ROOT)]
    for name in ("DB", "TEMP_DIR", "SHARED_DIR", "MODELS_DIR", *(f"{source}_DIR" for source in sources)):
        monkeypatch.delenv(f"EHRBENCH_{name}", raising=False)
    monkeypatch.setenv("EHRBENCH_PROJECT_DIR", str(root))
    return root


def licences(target, *names):
    found = doctor.check_licences(target, [Finding(OK, name, "") for name in names])
    return [line.strip() for one in found for line in one.lines()]


def test_every_source_has_a_licence_for_every_kind(own_root):
    rows = {(row["source"], row["terms_of"]) for row in doctor.seed("licences")}
    for source in doctor.declared_sources(ROOT):
        if source in doctor.INTERNAL:
            continue
        people = source in paths.PATIENT_FILES
        for kind in ("demo", "credentialed") if people else ("licensed",):
            assert (source, kind) in rows, source
    assert {("*", "synthetic"), ("*", "open")} <= rows


def test_licences_go_by_what_was_found(own_root, shared_dir, monkeypatch):
    assert licences("synthetic", "mimic_iv", "umls") == [
        "ok       licences         mimic_iv, umls: Apache-2.0; made up by ehrbench synth: free to share"
    ]
    monkeypatch.setenv("EHRBENCH_SHARED_DIR", str(shared_dir))
    demo = licences("demo", "mimic_iv", "omop", "umls")
    assert "mimic_iv: Open Database License 1.0;" in demo[0]
    assert "Synthea27Nj" in demo[1] and demo[2].startswith("umls: each origin's own")
    put(own_root, "iv/hosp/patients.csv", "subject_id,gender\n1,F\n")
    monkeypatch.setenv("EHRBENCH_MIMIC_IV_DIR", str(own_root / "iv"))
    monkeypatch.setenv("EHRBENCH_UMLS_DIR", str(own_root / "iv"))
    full = licences("full", "mimic_iv", "umls")
    assert "PhysioNet Credentialed Health Data License" in full[0]
    assert full[1].startswith("umls: UMLS Metathesaurus License Agreement; ")
    put(own_root, "build/models/gemma-3-270m/config.json", "{}")
    assert licences("full", "umls")[1:] == ["weights of gemma-3-270m: Gemma Terms of Use"]
    assert len(licences("full")) == 1 and "Gemma Terms of Use" in licences("full")[0]


def test_too_little_disk_and_memory_are_warned_of(own_root, monkeypatch):
    assert {row["target"] for row in doctor.seed("target_needs")} == set(paths.TARGETS)
    wanted = doctor.need("demo")
    for n_bytes, state in ((wanted["disk"] - 1, WARN), (wanted["disk"], OK)):
        monkeypatch.setattr(
            shutil, "disk_usage", lambda _, n=n_bytes: shutil._ntuple_diskusage(n, 0, n)
        )
        found = doctor.check_disk("demo")
        assert found.state == state and "2.0 GB free" in found.text
        assert ("free some" in found.text) == (state == WARN)
    for n_bytes, state in ((wanted["memory"] - 1, WARN), (wanted["memory"], OK), (None, MISSING)):
        monkeypatch.setattr(doctor, "free_memory", lambda n=n_bytes: n)
        assert doctor.check_memory("demo").state == state
    monkeypatch.setattr(doctor, "free_memory", lambda: 1)
    assert "lower EHRBENCH_MEMORY_LIMIT" in doctor.check_memory("demo").text


def test_the_fuller_disk_counts(own_root, monkeypatch):
    spill = own_root / "spill"
    spill.mkdir()
    monkeypatch.setenv("EHRBENCH_TEMP_DIR", str(spill))
    monkeypatch.setattr(
        shutil,
        "disk_usage",
        lambda place: shutil._ntuple_diskusage(9, 0, 5 * 10**9 if Path(place) == spill else 10**12),
    )
    assert doctor.check_disk("synthetic").text.startswith("5.0 GB free in ")


def test_memory_is_what_the_container_leaves(tmp_path):
    put(tmp_path, "meminfo", "MemTotal: 9 kB\nMemAvailable:   2000 kB\n")
    assert doctor.free_memory(tmp_path / "meminfo", tmp_path) == 2_048_000
    put(tmp_path, "memory.max", "max\n")
    put(tmp_path, "memory.current", "900\n")
    assert doctor.free_memory(tmp_path / "meminfo", tmp_path) == 2_048_000
    put(tmp_path, "memory.max", "1000\n")
    assert doctor.free_memory(tmp_path / "meminfo", tmp_path) == 100
    assert doctor.free_memory(tmp_path / "none", tmp_path) is None


def test_versions_other_than_the_tested_ones_are_named(own_root, monkeypatch):
    assert doctor.check_versions().state == OK
    monkeypatch.setitem(doctor.pins.__globals__, "installed", lambda name: "1.11.0")
    found = doctor.check_versions()
    assert found.state == WARN
    assert any(line.startswith("click 1.11.0 is installed, ") for line in found.more)
    monkeypatch.setattr(doctor, "installed", lambda name: None)
    found = doctor.check_extra("evals", "exports")
    assert found.state == MISSING and "no datasets, inspect-ai, lm-eval" in found.text
    assert "pip install -e '.[evals]'" in found.text
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert doctor.check_browser().state == MISSING


def test_ray_and_spark_need_more_than_their_packages(own_root, monkeypatch):
    version, engine, java = None, ("missing", "no vllm here"), "no Java for Spark (java)"

    def check_installed():
        if java:
            raise EhrbenchError(java)

    def lines():
        found = {finding.name: finding for finding in doctor.examine("synthetic")}
        return found["extra ray"], found["extra spark"]

    monkeypatch.setattr(doctor, "installed", lambda name: version)
    monkeypatch.setattr(vllm_offline, "problem", lambda: engine)
    monkeypatch.setattr(spark, "check_installed", check_installed)
    assert [(one.state, one.text) for one in lines()] == [
        (MISSING, "no ray: for ehrbench generate --engine ray, pip install -e '.[ray]'"),
        (MISSING, "no dbt-spark, pyspark: for ehrbench run --spark, pip install -e '.[spark]'"),
    ]
    version = "1.0"
    assert [(one.state, one.text) for one in lines()] == [
        (MISSING, "ray 1.0, but no vllm here"),
        (MISSING, "dbt-spark 1.0, pyspark 1.0, but no Java for Spark (java)"),
    ]
    engine, java = (OK, "vllm 1.0"), None
    ray, on_spark = lines()
    assert (ray.state, ray.text) == (OK, "ray 1.0")
    assert (on_spark.state, on_spark.text) == (OK, "dbt-spark 1.0, pyspark 1.0")
    assert ray.more[0].startswith("ray 1.0 is installed, ")


def make_database(file, release="r" * 20):
    file.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "create table rpt_run_manifest as "
            f"select 'demo' as data_class, '{release}' as release_id"
        )


def test_a_database_that_is_held_names_its_process(own_root):
    file = own_root / "build/demo.duckdb"
    assert doctor.check_database("demo").text == "no build/demo.duckdb: not built yet"
    make_database(file)
    found = doctor.check_database("demo")
    assert found.state == OK
    assert found.text.endswith("demo data, release rrrrrrrrrrrr")
    code = (
        "import duckdb, sys\nconnection = duckdb.connect(sys.argv[1])\n"
        "print('held', flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline()
        held = doctor.check_database("demo")
        assert held.state == WARN and f"process {holder.pid} writes it" in held.text
        assert "build/demo.duckdb cannot be opened" in held.text
        assert "wait until" in doctor.next_step("demo", [Finding(OK, "mimic_iv", ""), held])
        holder.stdin.close()
    file.write_bytes(b"no database")
    odd = doctor.check_database("demo")
    assert odd.state == WARN
    said = doctor.next_step("demo", [Finding(OK, "mimic_iv", ""), odd])
    assert said.startswith("move build/demo.duckdb away, or set EHRBENCH_DB; then ehrbench run")


def test_what_to_do_next_is_one_thing(own_root):
    def after(target, *findings):
        found = [Finding(state, name, "") for state, name in findings]
        if "database" not in [one.name for one in found]:
            found.append(Finding(MISSING, "database", ""))
        return doctor.next_step(target, found)

    assert after("full", (WRONG, "umls"), (OK, "mimic_iv")).startswith("mend umls ")
    assert after("demo", (MISSING, "mimic_iv")) == "ehrbench fetch mimic-iv-demo"
    assert after("full", (OK, "umls")).startswith("set EHRBENCH_MIMIC_IV_DIR")
    assert after("synthetic", (MISSING, "mimic_iv")) == "ehrbench run --target synthetic"
    assert after("full", (OK, "omop")) == "ehrbench run --target full"
    make_database(own_root / "build/demo.duckdb")
    built = ((OK, "mimic_iv"), (OK, "database"))
    assert after("demo", *built) == "ehrbench report --target demo"


def test_unanswered_requests_are_next_where_an_engine_is(plan, monkeypatch):
    monkeypatch.setenv("EHRBENCH_DB", str(plan.database))
    monkeypatch.setenv("EHRBENCH_COMPLETIONS_DIR", str(plan.store))
    plan.add_model("tiny")
    plan.add("k1")
    found = [Finding(OK, name, "") for name in ("mimic_iv", "database")]
    assert doctor.next_step("demo", found) == "ehrbench report --target demo"
    found.append(Finding(OK, "engine", ""))
    assert doctor.next_step("demo", found).startswith("ehrbench run --target demo (asks the 1 ")


def test_the_last_line_says_what_to_do_next(own_root):
    lines = [line for one in doctor.examine("demo") for line in one.lines()]
    assert lines[-1] == "next     what to do       ehrbench fetch mimic-iv-demo"
    for name in ("versions", "data class", "database", "disk", "memory", "engine", "extra report"):
        assert any(line[9:].startswith(name) for line in lines), name
    with (ROOT / "seeds/licences.csv").open(encoding="utf-8", newline="") as handle:
        assert all(None not in row and all(row.values()) for row in csv.DictReader(handle))


def test_a_target_without_evidence_says_what_that_means(own_root, monkeypatch, capsys):
    """The open demos alone, as `ehrbench fetch` brings them: no knowledge base."""

    def findings(*found):
        return [Finding(OK if name in found else MISSING, name, "") for name in ("mimic_iv", "umls")]

    monkeypatch.setattr(doctor, "examine_sources", lambda _: findings("mimic_iv"))
    pipeline.preflight("demo")
    assert "without umls and semmeddb no triple has evidence" in capsys.readouterr().out
    monkeypatch.setattr(doctor, "examine_sources", lambda _: findings("mimic_iv", "umls"))
    pipeline.preflight("demo")
    assert "no triple has evidence" not in capsys.readouterr().out
    monkeypatch.setattr(doctor, "examine_sources", lambda _: findings())
    with pytest.raises(EhrbenchError, match="run ehrbench fetch mimic-iv-demo, or set EHRBENCH_M"):
        pipeline.preflight("demo")
    with pytest.raises(EhrbenchError, match="no source at all: set EHRBENCH_MIMIC_IV_DIR"):
        pipeline.preflight("full")


def test_a_leaderboard_without_items_says_why_it_is_empty(own_root, capsys):
    file = own_root / "build/demo.duckdb"
    make_database(file)
    with duckdb.connect(str(file)) as connection:
        connection.execute("create table rpt_leaderboard (model varchar, overall double)")
        connection.execute("create table dim_items (item_id varchar)")
    pipeline.leaderboard(file)
    assert capsys.readouterr().out == (
        "there is no item: no triple was accepted (rpt_rejection_reasons says why)\n"
    )
    with duckdb.connect(str(file)) as connection:
        connection.execute("insert into dim_items values ('i')")
    pipeline.leaderboard(file)
    assert "no item has been answered yet" in capsys.readouterr().out
