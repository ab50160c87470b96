"""The data of the real size: equal bytes, whole files, sizes as the profile says."""

import csv
import gzip
import shutil

import duckdb
import pytest

from ehrbench.synth import scale

SMALL = {
    "cohort": {"patients": 2_000, "admissions": 2_989},
    "knowledge": {"predications": 12_000, "sentences": 20_000, "pmids": 900},
}


@pytest.fixture(scope="module", autouse=True)
def small():
    """Profiles of a few thousand rows, made in several chunks."""
    known = scale.profiles()
    made = {
        "cohort": known["mimic-iv-3.1"] | SMALL["cohort"],
        "knowledge": known["semmeddb-2024"] | SMALL["knowledge"] | {"concepts": 20_000},
    }
    chunks = {
        "patients": 700, "admissions": 49 * 10, "concepts": 9_000, "pmids": 400,
        "predications": 5_000, "sentences": 9_000,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scale, "profiles", lambda: known | made)
        patch.setattr(scale, "CHUNKS", chunks)
        yield


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of both, half of the sentences left out, and the bytes that were told of."""
    folder, told = tmp_path_factory.mktemp("scale"), []
    scale.write(folder, "cohort", made=told.append)
    scale.write(folder, "knowledge", sentences_share=0.5, made=told.append)
    return folder, sum(told)


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*")
            if path.is_file()}


def test_rows_are_those_of_the_profile_and_bytes_are_equal(written, tmp_path):
    folder, told = written
    scale.write(tmp_path, "cohort")
    manifest = scale.write(tmp_path, "knowledge", sentences_share=0.5)
    assert contents(tmp_path) == contents(folder)
    assert told == (
        scale.expected_bytes("cohort") + scale.expected_bytes("knowledge", sentences_share=0.5)
    )
    rows = manifest["rows"]
    assert manifest["patients"] == rows["raw/mimic_iv/hosp/patients.csv.gz"] == 2_000
    assert rows["raw/mimic_iv/hosp/admissions.csv.gz"] == 2_989
    assert rows["raw/semmeddb/semmedVER43_2024_R_PREDICATION.csv.gz"] == 12_000
    assert rows["raw/semmeddb/semmedVER43_2024_R_SENTENCE.csv.gz"] == 10_000
    for path, n in rows.items():
        opened = gzip.open if path.endswith(".gz") else open
        with opened(tmp_path / path, "rt", encoding="utf-8", newline="") as lines:
            read = list(csv.reader(lines)) if ".csv" in path else list(lines)
        headed = ".csv" in path and "semmed" not in path
        assert len(read) - headed == n, path
        assert not headed or read.count(read[0]) == 1, path
    assert not list(tmp_path.rglob(".ehrbench-part-*"))


def test_a_share_is_the_first_rows(written, tmp_path):
    """The bytes of a packed file differ, since a share ends its last chunk earlier."""
    part = scale.write(tmp_path, "cohort", share=0.301)
    assert part["profiles"] == {"mimic-iv-3.1": 0.301}
    assert part["patients"] == 602 and part["rows"]["raw/mimic_iv/hosp/admissions.csv.gz"] == 899
    for path, n in part["rows"].items():
        lines = [
            gzip.decompress((folder / path).read_bytes()).splitlines()
            for folder in (written[0], tmp_path)
        ]
        assert lines[1] == lines[0][: n + 1], path


def test_a_tenth_is_a_tenth_by_its_decimals():
    """In binary, a tenth of three tens is not always three, nor nine tenths of ten nine."""
    assert [scale._part(n, 0.1) for n in (546_028, 9_999_999, 0, 3)] == [54_602, 999_999, 0, 1]
    assert all(scale._part(1000, n / 1000) == n for n in range(1, 1001))


def test_the_cohort_is_as_dense_as_mimic_and_follows_the_knowledge(written):
    raw = written[0] / "raw"
    hosp = raw / "mimic_iv" / "hosp"
    with duckdb.connect() as connection:
        def value(sql):
            return connection.execute(sql).fetchone()[0]

        per_admission = {
            table: value(f"select count(*) from '{hosp}/{table}.csv.gz'") / 2_989
            for table in ("diagnoses_icd", "procedures_icd", "prescriptions")
        }
        # Tables of MIMIC-IV 3.1: 6.36 M, 0.86 M and 20.3 M rows of 546,028 admissions.
        assert per_admission["diagnoses_icd"] == pytest.approx(11.65, rel=0.03)
        assert per_admission["procedures_icd"] == pytest.approx(1.57, rel=0.05)
        assert per_admission["prescriptions"] == pytest.approx(37.2, rel=0.03)
        # Every patient's admissions follow each other.
        assert value(f"""
            select count(*)
            from (
                select
                    admittime,
                    lag(dischtime) over (partition by subject_id order by hadm_id) as earlier
                from '{hosp}/admissions.csv.gz'
            )
            where earlier >= admittime
        """) == 0
        # Orders go with diagnoses as the knowledge base states, and not with those of the next stay.
        lines = "delim = '\x01', quote = '', header = false, columns = {'line': 'varchar'}"
        pairs = f"""
            with atoms as (
                select string_split(line, '|') as f
                from read_csv('{raw}/umls/META/MRCONSO.RRF', {lines})
            ),
            stated as (
                select distinct
                    regexp_extract(line, '"TREATS","(C\\d+)","[^"]*","phsu"', 1) as drug,
                    regexp_extract(line, '"phsu",1,"(C\\d+)"', 1) as disease
                from read_csv('{raw}/semmeddb/semmedVER43_2024_R_PREDICATION.csv.gz', {lines})
                where line like '%"TREATS"%"phsu"%'
            ),
            coded as (
                select hadm_id::bigint as stay, f[1] as disease
                from '{hosp}/diagnoses_icd.csv.gz'
                inner join atoms
                    on f[12] = if(icd_version = 10, 'ICD10CM', 'ICD9CM')
                    and replace(f[14], '.', '') = icd_code::varchar
            ),
            ordered as (
                select hadm_id::bigint as stay, f[1] as drug
                from '{hosp}/prescriptions.csv.gz'
                inner join atoms on f[12] = 'RXNORM' and f[15] = drug
            )
            select count(*)
            from ordered
            inner join coded on coded.stay = ordered.stay + $later
            inner join stated using (drug, disease)
        """
        assert value(pairs.replace("$later", "0")) > 3 * value(pairs.replace("$later", "1")) > 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [({"profile": "mimic"}, "profile must be one of"), ({"sentences_share": 0}, "share of"),
     ({"sentences_share": 1.5}, "share of"), ({"share": 0}, "the share must"),
     ({"share": float("nan")}, "the share must"), ({"share": 1.5}, "the share must")],
)
def test_wrong_arguments_get_one_line(tmp_path, arguments, word):
    with pytest.raises(ValueError, match=word) as caught:
        scale.write(tmp_path, **({"profile": "mimic-iv-3.1"} | arguments))
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["MANIFEST.json", ".ehrbench-aside-MANIFEST.json"])
@pytest.mark.parametrize("text", ["", "{", "[]", '{"profiles": ["mimic-iv-3.1"]}', '{"rows": 3}'])
def test_a_manifest_of_another_kind_gets_one_line_first(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"{name}: damaged or of another version: remove it") as caught:
        scale.write(tmp_path, "mimic-iv-3.1", share=0.00001)
    assert "\n" not in str(caught.value) and not (tmp_path / "raw").exists()


def test_disk_is_looked_at_before_a_byte_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(2, 1, 10**9))
    with pytest.raises(ValueError, match=r"needs about \d+\.\d GB and 1\.0 GB are free.*--share"):
        scale.write(tmp_path / "new", "semmeddb-2024", share=0.3)
    assert not (tmp_path / "new").exists()
