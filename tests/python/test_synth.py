"""The synthetic data set: same bytes, real layouts, planted truth, promised noise."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import sys
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow.parquet
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from ehrbench.synth import catalogue as catalogue_module  # noqa: E402
from ehrbench.synth import (  # noqa: E402
    codes,
    cohort,
    facts,
    mimic_iii,
    noise,
    omop,
    references,
    write,
)

PATIENTS = 120
HOSP = "raw/mimic_iv/hosp"
MIMIC_III = "raw/mimic_iii"
HARBOR, OVERLAP = "raw/omop/omop_harbor", "raw/omop/omop_mimic_iv_synth"
PEOPLE = {
    "mimic_iv": f"{HOSP}/patients.csv.gz",
    "mimic_iii": f"{MIMIC_III}/PATIENTS.csv.gz",
    "omop_harbor": f"{HARBOR}/person.csv",
    "omop_mimic_iv_synth": f"{OVERLAP}/PERSON.csv",
}
SEMMED = "raw/semmeddb/semmedVER43_2024_R_"
WIDTHS = {
    "raw/umls/META/MRCONSO.RRF": 18,
    "raw/umls/META/MRSTY.RRF": 6,
    "raw/umls/META/MRDEF.RRF": 8,
    "raw/umls/META/MRREL.RRF": 16,
    "raw/umls/META/MRCUI.RRF": 7,
    "raw/umls/META/MRSAB.RRF": 25,
    "raw/umls/META/MRSAT.RRF": 13,
    "raw/umls/META/MRRANK.RRF": 4,
}
DUMP_WIDTHS = {
    "PREDICATION": 15,
    "PREDICATION_AUX": 18,
    "SENTENCE": 9,
    "CITATIONS": 5,
    "GENERIC_CONCEPT": 3,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A small clean data set."""
    out = tmp_path_factory.mktemp("synth") / "clean"
    write(out, PATIENTS)
    return out


@pytest.fixture(scope="module")
def loaded():
    return catalogue_module.load()


@pytest.fixture(scope="module")
def statements(loaded):
    return facts.statements(loaded, 20260530)


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows(path: Path) -> list[dict]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def parquet(path: Path) -> list[dict]:
    return pyarrow.parquet.read_table(path).to_pylist()


def dump(folder: Path, table: str) -> list[tuple]:
    """A SemMedDB dump as DuckDB reads it, every column text."""
    encoding = "utf-8" if table in ("SENTENCE", "GENERIC_CONCEPT") else "latin-1"
    columns = ", ".join(f"'c{i:02d}': 'varchar'" for i in range(DUMP_WIDTHS[table]))
    return duckdb.execute(
        f"""
        select * from read_csv(
            '{folder / SEMMED}{table}.csv.gz', delim = ',', quote = '"', escape = '\\',
            header = false, auto_detect = false, encoding = '{encoding}', columns = {{{columns}}}
        )
        """
    ).fetchall()


def test_same_arguments_give_same_bytes(data, tmp_path):
    write(tmp_path / "again", PATIENTS)
    assert hashes(tmp_path / "again") == hashes(data)


def test_another_seed_gives_another_cohort(loaded):
    first, again, other = (cohort.Maker(loaded, seed).patient(0).rows for seed in (1, 1, 2))
    assert first == again
    assert first["diagnoses_icd"] != other["diagnoses_icd"]


def test_patient_does_not_depend_on_cohort_size(data, tmp_path):
    write(tmp_path / "small", 50)
    for table in [n for n in cohort.HEADERS if not n.startswith("d_")]:
        small = rows(tmp_path / "small" / HOSP / f"{table}.csv.gz")
        large = rows(data / HOSP / f"{table}.csv.gz")
        ids = {row["subject_id"] for row in rows(tmp_path / "small" / HOSP / "patients.csv.gz")}
        assert len(ids) == 50
        assert small == [row for row in large if row["subject_id"] in ids], table
    people = ((MIMIC_III, "SUBJECT_ID"), (HARBOR, "person_id"), (OVERLAP, "PERSON_ID"))
    for folder, person in people:
        for path in sorted((tmp_path / "small" / folder).iterdir()):
            small = [r for r in rows(path) if person in r and r[person] != person]
            ids = {row[person] for row in small}
            large = [r for r in rows(data / folder / path.name) if r.get(person) in ids]
            if path.name.lower().startswith(("patients", "person")):
                assert len(ids) == {MIMIC_III: 15, HARBOR: 15, OVERLAP: 8}[folder]
            assert small == large, path.name
    assert (tmp_path / "small/raw/umls/META/MRREL.RRF").read_bytes() == (
        data / "raw/umls/META/MRREL.RRF"
    ).read_bytes()


def test_bad_arguments_are_one_clear_line(tmp_path):
    for arguments, text in (
        ({"patients": 0}, "patients must be"),
        ({"patients": "many"}, "patients must be"),
        ({"regime": "dirty"}, "regime must be one of clean, noisy"),
    ):
        with pytest.raises(ValueError, match=text):
            write(tmp_path / "x", **arguments)
    assert not (tmp_path / "x").exists()


def test_files_are_labelled_synthetic(data):
    manifest = json.loads((data / "MANIFEST.json").read_text())
    assert manifest["data_class"] == "synthetic"
    assert manifest["patients"] == PATIENTS == len(rows(data / HOSP / "patients.csv.gz"))
    assert {name: found["patients"] for name, found in manifest["sources"].items()} == {
        name: len(rows(data / path)) for name, path in PEOPLE.items()
    }
    for name, count in manifest["rows"].items():
        if name.endswith((".csv", ".csv.gz")):
            assert count == len(rows(data / name)), name
        if name.endswith(".parquet"):
            assert count == len(parquet(data / name)), name
    assert all(row[5].startswith("Synthetic: ") for row in dump(data, "SENTENCE"))
    assert "SYNTHETIC" in (data / "raw/umls/META/MRSAB.RRF").read_text()


def test_headers_and_dictionaries(data):
    for table, header in cohort.HEADERS.items():
        with gzip.open(data / HOSP / f"{table}.csv.gz", "rt") as handle:
            assert handle.readline().rstrip("\n") == header, table
    for events, names in (
        ("diagnoses_icd", "d_icd_diagnoses"),
        ("procedures_icd", "d_icd_procedures"),
    ):
        known = {(r["icd_code"], r["icd_version"]) for r in rows(data / HOSP / f"{names}.csv.gz")}
        used = {(r["icd_code"], r["icd_version"]) for r in rows(data / HOSP / f"{events}.csv.gz")}
        assert used <= known
    codes = Counter(r["icd_code"] for r in rows(data / HOSP / "d_icd_diagnoses.csv.gz"))
    assert codes["V443"] == codes["E850"] == 2


def test_rrf_lines_have_the_real_width(data):
    for name, width in WIDTHS.items():
        for line in (data / name).read_text(encoding="utf-8").splitlines():
            assert line.endswith("|") and len(line.split("|")) == width + 1, (name, line)


def test_duckdb_reads_every_file(data):
    for table in DUMP_WIDTHS:
        assert dump(data, table), table
    names = {row[6] for row in dump(data, "PREDICATION")} | {
        row[5] for row in dump(data, "PREDICATION")
    }
    assert 'Therapeutic "mix" \\ X' in names and "Ménière Disease" in names
    for path in (data / HOSP).glob("*.csv.gz"):
        columns = ", ".join(f"'{c}': 'varchar'" for c in cohort.HEADERS[path.name[:-7]].split(","))
        count = duckdb.execute(
            f"select count(*) from read_csv('{path}', header = true, auto_detect = false, "
            f"delim = ',', quote = '\"', columns = {{{columns}}})"
        ).fetchall()
        assert count == [(len(rows(path)),)]


def test_dirt_is_there(data):
    drugs = rows(data / HOSP / "prescriptions.csv.gz")
    texts = {row["drug"] for row in drugs}
    assert any(t.endswith(" ") for t in texts) and any(t.endswith("_") for t in texts)
    assert any("  " in t.strip() for t in texts) and any(t.startswith("*NF*") for t in texts)
    assert {"MAIN", "BASE"} <= {row["drug_type"] for row in drugs}
    assert "" in texts and {"0", ""} <= {row["ndc"] for row in drugs}
    assert any(row["stoptime"] and row["stoptime"] < row["starttime"] for row in drugs)
    assert len(drugs) > len({(row["hadm_id"], row["drug"]) for row in drugs})
    keys = [(row["pharmacy_id"], row["drug_type"], row["drug"]) for row in drugs]
    assert len(keys) == len(set(keys))
    events = Counter(row["event_txt"] for row in rows(data / HOSP / "emar.csv.gz"))
    assert events["Administered"] > 10 * events["Not Given"] > 0
    assert any(row["medication"] == "" for row in rows(data / HOSP / "emar.csv.gz"))
    visits = {row["hadm_id"] for row in rows(data / HOSP / "admissions.csv.gz")}
    charted = {row["hadm_id"] for row in rows(data / HOSP / "emar.csv.gz")} - {""}
    assert 0.5 < len(charted) / len(visits) < 0.8
    codes = rows(data / HOSP / "diagnoses_icd.csv.gz")
    assert any(row["icd_code"].startswith("0") for row in codes)
    versions = defaultdict(set)
    for row in codes:
        versions[row["hadm_id"]].add(row["icd_version"])
    assert all(len(found) == 1 for found in versions.values())
    patients = defaultdict(set)
    for row in codes:
        patients[row["subject_id"]].add(row["icd_version"])
    assert any(len(found) == 2 for found in patients.values())


def test_visits_are_shaped_like_the_real_ones(data):
    stays = defaultdict(list)
    for row in rows(data / HOSP / "admissions.csv.gz"):
        start, end = (datetime.fromisoformat(row[c]) for c in ("admittime", "dischtime"))
        assert start < end and 2110 <= start.year <= 2201
        stays[row["subject_id"]].append((start, end))
    counts = [len(found) for found in stays.values()]
    assert 2.2 < sum(counts) / len(counts) < 3.3
    assert 0.3 < sum(n > 1 for n in counts) / len(counts) < 0.5
    gaps = [
        later[0] - earlier[1]
        for found in stays.values()
        for earlier, later in zip(sorted(found), sorted(found)[1:])
    ]
    assert sum(gap < timedelta(0) for gap in gaps) == 1, "one overlapping admission"
    assert any(timedelta(0) < gap < timedelta(hours=24) for gap in gaps)
    assert any(gap > timedelta(days=365) for gap in gaps)


def cuis(loaded, *keys: str) -> tuple[str, ...]:
    return tuple(loaded.concepts[key].cui for key in keys)


@pytest.mark.parametrize(
    ("claim", "flags"),
    [
        (("htn", "treat_with", "lisin"), (1, 0, 0)),  # exact
        (("avblock", "treat_with", "amiod"), (1, 0, 0)),  # evidence on the parent, arrhythmia
        (("uti", "treat_with", "vanco"), None),  # evidence only on Infection: too general
        (("t2dm", "treat_with", "insulin"), (1, 0, 0)),  # evidence on Diabetes mellitus
        (("chf", "treat_with", "dobut"), (1, 0, 0)),  # evidence on a child of an unspecified code
        (("htn", "treat_with", "predn"), None),  # evidence only on Disease: a hub
        (("nstemi", "treat_with", "statincl"), None),  # two steps up
        (("chf", "treat_with", "digox"), (1, 1, 0)),  # also NEG_TREATS
        (("af", "treat_with", "digox"), (1, 0, 1)),  # also CAUSES
        (("t1dm", "causes", "dka"), (1, 0, 0)),  # written as COMPLICATES, turned round
        (("dka", "causes", "t1dm"), None),
        (("dka", "coexists_with", "t1dm"), (1, 0, 0)),  # COMPLICATES supports it either way
        (("t1dm", "coexists_with", "dka"), (1, 0, 0)),
        (("htn", "coexists_with", "ckd"), (1, 0, 0)),
        (("htn", "causes", "stroke"), (1, 0, 0)),
        (("htn", "coexists_with", "ich"), None),  # PREDISPOSES does not support comorbidity
        (("af", "causes", "stroke"), (1, 0, 1)),  # stated both ways
        (("heparin", "adverse_of", "hit"), (1, 0, 0)),
        (("methad", "adverse_of", "constip"), (1, 0, 0)),  # curated only: induces
        (("dneuro", "causes", "ckd"), (1, 0, 0)),  # code 250.60 lies under 250, Diabetes mellitus
        (("atorva", "adverse_of", "rhabdo"), (1, 0, 0)),  # evidence on the drug class
        (("hit", "treat_with", "heparin"), None),  # harm only: no treatment to be ambiguous about
    ],
)
def test_truth_is_closed_under_the_support_rule(data, loaded, claim, flags):
    subject, relation, obj = claim
    wanted = (*cuis(loaded, subject), relation, *cuis(loaded, obj))
    found = {
        (r["subject_cui"], r["relation"], r["object_cui"]): (
            int(r["supported"]),
            int(r["contradicted"]),
            int(r["ambiguous"]),
        )
        for r in rows(data / "truth/truth_claims.csv")
    }
    assert found.get(wanted) == flags


def test_planted_relations_are_true_and_new(data, loaded):
    truth = {
        (r["subject_cui"], r["relation"], r["object_cui"])
        for r in rows(data / "truth/truth_claims.csv")
        if r["supported"] == "1"
    }
    planted = rows(data / "truth/truth_planted.csv")
    assert {row["task"] for row in planted} == {"dx", "tx", "px"}
    assert all((r["subject_cui"], r["relation"], r["object_cui"]) in truth for r in planted)
    found = Counter((row["source"], row["task"]) for row in planted)
    assert set(found) == {(source, task) for source in PEOPLE for task in ("dx", "tx", "px")}
    assert min(found.values()) > 10
    planted = [row for row in planted if row["source"] == "mimic_iv"]
    concept_of = {}
    for row in loaded.diagnoses.values():
        for version in ("9", "10"):
            concept_of[(row[f"icd{version}"].replace(".", ""), version)] = row["cui"]
    coded = defaultdict(set)
    for row in rows(data / HOSP / "diagnoses_icd.csv.gz"):
        cui = concept_of.get((row["icd_code"], row["icd_version"]))
        coded[(row["subject_id"], row["hadm_id"])].add(cui)
    start = {r["hadm_id"]: r["admittime"] for r in rows(data / HOSP / "admissions.csv.gz")}
    for row in planted:
        here = coded[(row["subject_id"], row["hadm_id"])]
        if row["task"] == "dx":
            assert {row["subject_cui"], row["object_cui"]} <= here
        if row["task"] == "tx":
            assert row["subject_cui"] in here
        if row["task"] == "px":
            assert row["object_cui"] in coded[(row["subject_id"], row["target_hadm_id"])]
            for (subject, visit), known in coded.items():
                if subject == row["subject_id"] and start[visit] <= start[row["hadm_id"]]:
                    assert row["object_cui"] not in known


def test_excludes1_pairs_are_coded_together(data, loaded):
    """Some ICD-10 visits hold both codes of a pair, and a true comorbidity that it can break."""
    cui_of, together = {}, defaultdict(set)
    for row in rows(data / "truth/truth_conflicts.csv"):
        if row["rule"] == "excludes1":
            code, other = (row[c].replace(".", "") for c in ("context_code", "answer_code"))
            cui_of[code] = row["context_cui"]
            together[code].add(other)
    assert all(code in together[other] for code in together for other in together[code])
    true = {
        (r["subject_cui"], r["object_cui"])
        for r in rows(data / "truth/truth_claims.csv")
        if r["relation"] == "coexists_with" and r["supported"] == "1"
    }
    for row in loaded.diagnoses.values():
        cui_of.setdefault(row["icd10"].replace(".", ""), row["cui"])
    coded = defaultdict(set)
    for row in rows(data / HOSP / "diagnoses_icd.csv.gz"):
        if row["icd_version"] == "10":
            coded[row["hadm_id"]].add(row["icd_code"])
    paired = breakable = 0
    for codes in coded.values():
        apart = {code for code in codes if together.get(code, set()) & codes}
        others = {cui_of[code] for code in codes - apart if code in cui_of}
        paired += bool(apart)
        breakable += any((cui, cui_of[code]) in true for code in apart for cui in others)
    assert paired >= breakable >= 3
    assert paired / len(coded) < 0.2


def test_knowledge_base_is_heavy_tailed_and_outside_pubmed(data, statements):
    predications = dump(data, "PREDICATION")
    pmids = {int(row[2]) for row in predications} | {int(r[0]) for r in dump(data, "CITATIONS")}
    assert 90_000_000 <= min(pmids) and max(pmids) <= 99_999_999
    assert len({row[0] for row in predications}) == len(predications)
    counts = [r.n_pmids for r in statements if r.predicate == "TREATS" and not r.negated]
    assert min(counts) == 1 and 300 <= max(counts) <= 400
    assert sum(n >= 2 for n in counts) / len(counts) > 0.8
    retired = [line.split("|") for line in (data / "raw/umls/META/MRCUI.RRF").open()]
    assert {line[2] for line in retired} == {"SY", "DEL", "RB"}
    for line in retired:
        assert (line[2] == "SY") == any(line[0] in (row[4], row[8]) for row in predications)
    with_aux = {row[1] for row in dump(data, "PREDICATION_AUX")}
    assert 0.9 < len(with_aux) / len(predications) < 1


def test_clean_knowledge_base_says_every_fact(data, loaded, statements):
    said = {(row[4], row[3], row[8]) for row in dump(data, "PREDICATION")}
    retired = [line.split("|") for line in (data / "raw/umls/META/MRCUI.RRF").open()]
    back = {line[0]: line[5] for line in retired if line[2] == "SY"}
    for _ in back:  # a replacement may itself be retired
        said = {(back.get(s, s), p, back.get(o, o)) for s, p, o in said}
    for row in statements:
        if row.kb == "semmeddb":
            name = ("NEG_" if row.negated else "") + row.predicate
            subject, obj = cuis(loaded, row.subject, row.object)
            assert (subject, name, obj) in said, row
    curated = sum(r["source"] == "curated" for r in loaded.tables["treats"])
    assert 0.1 < curated / len(loaded.tables["treats"]) < 0.25


def test_codes_cover_every_level_and_trap(data):
    found = rows(data / "truth/truth_codes.csv")
    levels = Counter((r["code_system"], r["level"]) for r in found)
    for system in ("ICD9CM", "ICD10CM"):
        for level in ("exact", "equivalent", "ancestor", "none"):
            assert levels[(system, level)] > 3, (system, level)
    by_code = {(r["code_system"], r["code"]): r for r in found}
    assert by_code[("ICD10CM", "I24.8")]["cui"] == "", "four concepts: no fact may rest on it"
    atoms = (data / "raw/umls/META/MRCONSO.RRF").read_text(encoding="utf-8").splitlines()
    assert sum("|ICD10CM|PT|I24.8|" in line for line in atoms) == 4
    assert any(line.split("|")[16] == "O" for line in atoms)
    assert any(line.split("|")[1] == "SPA" for line in atoms)
    rules = Counter(r["rule"] for r in rows(data / "truth/truth_conflicts.csv"))
    assert set(rules) == {
        "contraindicated",
        "excludes1",
        "dominant_hazard",
        "severe_interaction",
        "paper_literal",
    }


def test_noisy_regime_keeps_its_promises(loaded, statements):
    noisy = noise.noisy(loaded, 20260530, statements)
    tables = ("treats", "coexists", "causes", "adverse")
    true_facts = {(r.fact, r.subject, r.object) for r in statements if r.fact in tables}
    kept = {(r.fact, r.subject, r.object) for r in noisy if r.fact in tables}
    assert abs(len(kept) / len(true_facts) - 0.42) < 0.02
    right = sum(r.n_pmids for r in noisy if r.fact in tables)
    wrong = sum(r.n_pmids for r in noisy if r.fact == "false")
    assert 0.65 <= right / (right + wrong) <= 0.70
    treats = [r for r in noisy if r.predicate == "TREATS" and not r.negated]
    against = {(r.subject, r.object) for r in noisy if r.predicate == "TREATS" and r.negated}
    for low, share, tolerance in ((1, 0.08, 0.02), (10, 0.28, 0.04), (100, 0.74, 0.15)):
        group = [r for r in treats if r.n_pmids >= low]
        found = sum((r.subject, r.object) in against for r in group) / len(group)
        assert abs(found - share) < tolerance, (low, found)
    top = [r for r in treats if r.n_pmids >= 300]
    assert len(top) >= 3
    assert sum((r.subject, r.object) in against for r in top) >= 0.8 * len(top)
    truth = set(facts.claims(loaded, statements))
    false = [r for r in noisy if r.fact == "false" and r.predicate == "TREATS"]
    assert false and not any((r.object, "treat_with", r.subject) in truth for r in false)


def test_noisy_regime_writes_the_same_cohort_and_truth(data, tmp_path):
    write(tmp_path / "noisy", 20, regime="noisy")
    write(tmp_path / "clean", 20)
    noisy, clean = hashes(tmp_path / "noisy"), hashes(tmp_path / "clean")
    differing = {name for name in clean if clean[name] != noisy[name]}
    assert f"{SEMMED}PREDICATION.csv.gz" in differing
    same = ("truth/", "raw/mimic_iv", "raw/mimic_iii", "raw/omop", "raw/icd", "raw/drugbank")
    assert not any(name.startswith(same) for name in differing)


def test_catalogue_names_no_unknown_concept(loaded):
    assert len(loaded.diagnoses) > 150 and len(loaded.drugs) > 90 and len(loaded.procedures) > 25
    hubs = facts.hubs(loaded)
    assert {"disease", "infect"} <= hubs and "arrhyth" not in hubs
    assert len(loaded.descendants("disease")) > 40


# ---------- MIMIC-III


def test_mimic_iii_has_the_layout_and_oddities_of_the_release(data):
    tables = {}
    for table, header in mimic_iii.HEADERS.items():
        path = data / MIMIC_III / f"{table}.csv.gz"
        with gzip.open(path, "rt") as handle:
            assert handle.readline() == ",".join(f'"{c}"' for c in header.split(",")) + "\n"
        tables[table] = rows(path)
        assert len({row["ROW_ID"] for row in tables[table]}) == len(tables[table]) > 0
    orders = tables["PRESCRIPTIONS"]
    dates = {row["STARTDATE"] for row in orders} | {row["ENDDATE"] for row in orders} - {""}
    assert all(date.endswith(" 00:00:00") for date in dates)
    assert any(row["ENDDATE"] and row["ENDDATE"] < row["STARTDATE"] for row in orders)
    without_id = [tuple(row.values())[1:] for row in orders]
    assert 0.02 < 1 - len(set(without_id)) / len(without_id) < 0.15
    assert {"MAIN", "BASE"} <= {row["DRUG_TYPE"] for row in orders}
    assert 0.3 < sum(row["DRUG_NAME_POE"] == "" for row in orders) / len(orders) < 0.6
    for events, names in (
        ("DIAGNOSES_ICD", "D_ICD_DIAGNOSES"),
        ("PROCEDURES_ICD", "D_ICD_PROCEDURES"),
    ):
        codes = [row["ICD9_CODE"] for row in tables[events]]
        known = {row["ICD9_CODE"] for row in tables[names]}
        assert 0 < sum(code not in known for code in codes) < 0.1 * len(codes)
        assert not any("." in code for code in codes)
    assert any(row["ICD9_CODE"].startswith("0") for row in tables["DIAGNOSES_ICD"])


def test_mimic_iii_patients_are_of_every_kind(data):
    stays, visits = defaultdict(set), defaultdict(list)
    for row in rows(data / MIMIC_III / "ICUSTAYS.csv.gz"):
        stays[row["SUBJECT_ID"]].add(row["DBSOURCE"])
    admissions = rows(data / MIMIC_III / "ADMISSIONS.csv.gz")
    for row in admissions:
        visits[row["SUBJECT_ID"]].append(row)
    patients = rows(data / MIMIC_III / "PATIENTS.csv.gz")
    kinds = Counter(frozenset(stays[row["SUBJECT_ID"]]) for row in patients)
    assert kinds[frozenset({"carevue"})] >= 0.45 * len(patients)
    assert kinds[frozenset({"metavision"})] and kinds[frozenset()]
    assert any("both" in kind for kind in kinds) and any(len(kind) > 1 for kind in kinds)
    several = [s for s, found in visits.items() if len(found) > 1 and stays[s] == {"carevue"}]
    assert len(several) >= 10
    ages = []
    for row in patients:
        first = min(visit["ADMITTIME"] for visit in visits[row["SUBJECT_ID"]])
        ages.append(int(first[:4]) - int(row["DOB"][:4]))
    assert 0 < sum(age > 290 for age in ages) < 0.2 * len(ages)
    assert all(age == 0 or 17 < age < 90 or 290 < age < 310 for age in ages)
    types = Counter(row["ADMISSION_TYPE"] for row in admissions)
    assert 0 < types["NEWBORN"] < 0.05 * len(admissions)


# ---------- OMOP


def test_harbor_names_every_concept_that_it_uses(data):
    concepts = {row["concept_id"]: row for row in rows(data / HARBOR / "concept.csv")}
    for table, header in omop.HARBOR_HEADERS.items():
        with open(data / HARBOR / f"{table}.csv") as handle:
            assert handle.readline().rstrip("\n") == header
    for table, column, vocabulary in (
        ("condition_occurrence", "condition", "SNOMED"),
        ("drug_exposure", "drug", "RxNorm"),
        ("procedure_occurrence", "procedure", "SNOMED"),
    ):
        used = [row[f"{column}_concept_id"] for row in rows(data / HARBOR / f"{table}.csv")]
        named = [concepts[number]["vocabulary_id"] for number in used if number != "0"]
        assert set(named) == {vocabulary} and len(named) > 0.7 * len(used)
    found = rows(data / HARBOR / "condition_occurrence.csv")
    source = Counter(
        concepts[row["condition_source_concept_id"]]["vocabulary_id"]
        if row["condition_source_concept_id"] != "0"
        else "none"
        for row in found
    )
    assert set(source) == {"ICD10CM", "SNOMED", "none"}
    assert any("." in row["condition_source_value"] for row in found)
    kinds = Counter(r["visit_concept_id"] for r in rows(data / HARBOR / "visit_occurrence.csv"))
    assert set(kinds) == {"9201", "9202", "9203"}
    classes = {row["concept_class_id"] for row in concepts.values()}
    assert {"Ingredient", "Clinical Drug"} <= classes


def test_overlapping_site_holds_the_same_visits_and_billed_codes(data, loaded):
    """What the site lacks are status codes (observations) and diagnostic procedures."""
    persons = {
        row["PERSON_SOURCE_VALUE"]: row["PERSON_ID"]
        for row in rows(data / OVERLAP / "PERSON.csv")
    }
    known = {row["subject_id"] for row in rows(data / HOSP / "patients.csv.gz")}
    assert set(persons) < known
    assert 0.3 < sum(int(number) < 0 for number in persons.values()) / len(persons) < 0.8
    visits, own = {}, {}
    for row in rows(data / OVERLAP / "VISIT_OCCURRENCE.csv"):
        subject, _, hadm = row["VISIT_SOURCE_VALUE"].partition("|")
        if "-" not in hadm:
            assert row["PERSON_ID"] == persons[subject]
            visits[row["VISIT_OCCURRENCE_ID"]] = hadm
            own[hadm] = (row["VISIT_START_DATETIME"], row["VISIT_END_DATETIME"])
    assert own == {
        row["hadm_id"]: (row["admittime"], row["dischtime"])
        for row in rows(data / HOSP / "admissions.csv.gz")
        if row["subject_id"] in persons
    }
    billed, texts = set(), Counter()
    for row in rows(data / OVERLAP / "CONDITION_OCCURRENCE.csv"):
        if row["CONDITION_TYPE_CONCEPT_ID"] == "32821" and row["VISIT_OCCURRENCE_ID"] in visits:
            assert len(row["CONDITION_SOURCE_VALUE"]) == 7
            hadm = visits[row["VISIT_OCCURRENCE_ID"]]
            billed.add((hadm, row["CONDITION_SOURCE_VALUE"].strip()))
        texts[row["CONDITION_TYPE_CONCEPT_ID"], row["VISIT_OCCURRENCE_ID"] in visits] += 1
    assert texts["32817", True] and texts["32821", False]
    found = rows(data / OVERLAP / "CONDITION_OCCURRENCE.csv")[1:]
    assert any(row["VISIT_OCCURRENCE_ID"] == "" for row in found)
    billed_rows = [row for row in found if row["CONDITION_TYPE_CONCEPT_ID"] == "32821"]
    unmapped = sum(row["CONDITION_CONCEPT_ID"] == "0" for row in billed_rows)
    assert 0 < unmapped < 0.1 * len(billed_rows)
    status = {
        row[f"icd{version}"].replace(".", "")
        for row in loaded.tables["status_codes"]
        for version in ("9", "10")
    }
    coded = {
        (row["hadm_id"], row["icd_code"])
        for row in rows(data / HOSP / "diagnoses_icd.csv.gz")
        if row["subject_id"] in persons
    }
    assert billed == {(hadm, code) for hadm, code in coded if code not in status} < coded
    observed = {
        (visits[row["VISIT_OCCURRENCE_ID"]], row["OBSERVATION_SOURCE_VALUE"].strip())
        for row in rows(data / OVERLAP / "OBSERVATION.csv")
    }
    assert observed == coded - billed


def test_overlapping_site_holds_the_same_planted_facts(data, loaded):
    """All but those about a diagnostic procedure, which is no procedure row there."""
    subject_of = {
        row["PERSON_ID"]: row["PERSON_SOURCE_VALUE"] for row in rows(data / OVERLAP / "PERSON.csv")
    }
    dropped = {r["cui"] for r in loaded.procedures.values() if r["role"] == "diagnostic"}
    names = ("task", "relation", "subject_cui", "object_cui")
    facts_of = defaultdict(Counter)
    for row in rows(data / "truth/truth_planted.csv"):
        fact = tuple(row[name] for name in names)
        if row["source"] == "omop_mimic_iv_synth":
            facts_of["site"][subject_of[row["subject_id"]], *fact] += 1
        if row["source"] == "mimic_iv" and row["subject_id"] in subject_of.values():
            if not {row["subject_cui"], row["object_cui"]} & dropped:
                facts_of["own"][row["subject_id"], *fact] += 1
    assert facts_of["site"] == facts_of["own"] and len(facts_of["own"]) > 100
    made = cohort.Patient()
    for treatment in ("cath", "lisin"):
        made.planted.append([1, 2, 3, "px", "adverse_of", *cuis(loaded, treatment, "aki")])
    kept = omop.Overlap(loaded).planted(made)
    assert [row[-2] for row in kept] == [*cuis(loaded, "lisin")]


def test_overlapping_site_is_dirty(data):
    for table, header in omop.OVERLAP_HEADERS.items():
        with open(data / OVERLAP / f"{table.upper()}.csv") as handle:
            assert handle.readline().rstrip("\n") == header.upper()
    for table, header in omop.HEADER_ONLY.items():
        lines = (data / OVERLAP / f"{table.upper()}.csv").read_text().splitlines()
        assert lines == [header.upper()] * 2
    drugs = [r["DRUG_SOURCE_VALUE"] for r in rows(data / OVERLAP / "DRUG_EXPOSURE.csv")]
    ndcs = sum(len(text) == 11 and text.isdigit() for text in drugs)
    assert 0.6 < ndcs / len(drugs) < 0.95
    types = Counter(
        row["PROCEDURE_TYPE_CONCEPT_ID"]
        for row in rows(data / OVERLAP / "PROCEDURE_OCCURRENCE.csv")
    )
    assert set(types) == {"32821", "32817", "32833"}
    first = next(iter(rows(data / OVERLAP / "CONDITION_OCCURRENCE.csv")))
    assert all(key == value for key, value in first.items()), "a header among the rows"


def test_planted_relations_of_the_other_sources_are_in_their_rows(data, loaded):
    """Both ends of what the coded tables of MIMIC-III and the clean site should hold."""
    cui9 = {row["icd9"].replace(".", ""): row["cui"] for row in loaded.diagnoses.values()}
    cui10 = {row["icd10"]: row["cui"] for row in loaded.diagnoses.values()}
    cui10 |= {codes.snomed(row["cui"]): row["cui"] for row in loaded.diagnoses.values()}
    coded = defaultdict(set)
    for row in rows(data / MIMIC_III / "DIAGNOSES_ICD.csv.gz"):
        coded["mimic_iii", row["HADM_ID"]].add(cui9.get(row["ICD9_CODE"]))
    for row in rows(data / HARBOR / "condition_occurrence.csv"):
        visit = row["visit_occurrence_id"]
        coded["omop_harbor", visit].add(cui10.get(row["condition_source_value"]))
    checked = Counter()
    for row in rows(data / "truth/truth_planted.csv"):
        here = coded[row["source"], row["hadm_id"]]
        if row["source"] not in ("mimic_iii", "omop_harbor"):
            continue
        checked[row["source"], row["task"]] += 1
        if row["task"] == "dx":
            assert {row["subject_cui"], row["object_cui"]} <= here
        elif row["task"] == "tx":
            assert row["subject_cui"] in here
        else:
            assert row["object_cui"] in coded[row["source"], row["target_hadm_id"]] - here
    assert min(checked.values()) > 20 and len(checked) == 6


# ---------- references


def test_references_speak_of_the_catalogue(data, loaded):
    folder = data / "raw/drugbank"
    drugs = {row["drugbank_id"]: row for row in parquet(folder / "drugs.parquet")}
    assert {row["DrugBank ID"] for row in rows(folder / "drugbank vocabulary.csv")} == set(drugs)
    pairs = parquet(folder / "interactions.parquet")
    assert {row["drugbank_id"] for row in pairs} | {r["other_drugbank_id"] for r in pairs} <= set(
        drugs
    )
    severe = [r for r in pairs if any(e in r["description"] for e in references.SEVERE_EFFECTS)]
    rules = [r["rule"] for r in rows(data / "truth/truth_conflicts.csv")]
    assert len(severe) == rules.count("severe_interaction") and 10 < len(severe) < len(pairs)
    atoms = (data / "raw/umls/META/MRCONSO.RRF").read_text(encoding="utf-8").splitlines()
    coded = {tuple(line.split("|")[11:14:2]) for line in atoms}
    assert {("DRUGBANK", number) for number in drugs} <= coded
    assert {("SNOMEDCT_US", codes.snomed(row["cui"])) for row in loaded.diagnoses.values()} <= coded
    groups = {row["atc_code"]: row for row in rows(data / "raw/atc/atc_codes.csv")}
    assert all(row["parent_code"] in groups for row in groups.values() if row["level"] != "1")
    ingredients = rows(data / "raw/atc/ingredient_atc.csv")
    assert {row["atc_code"] for row in ingredients} <= set(groups)
    level4 = Counter(row["atc_code"][:5] for row in ingredients)
    assert sum(count > 1 for count in level4.values()) > 15
    cited = {row[0] for row in dump(data, "CITATIONS")}
    titled = {row["pmid"] for row in parquet(data / "raw/pubmed/articles.parquet")}
    assert titled < cited and len(titled) > 0.9 * len(cited)
    relations = (data / "raw/umls/META/MRREL.RRF").read_text().splitlines()
    found = Counter(line.split("|")[7] for line in relations)
    for name in ("may_treat", "may_prevent", "induces", "contraindicated_with_disease"):
        assert found[name] >= 5, name


def test_codes_of_every_system_have_a_truth(data):
    systems = Counter(row["code_system"] for row in rows(data / "truth/truth_codes.csv"))
    assert set(systems) == {
        "ICD9CM",
        "ICD10CM",
        "ICD9PROC",
        "ICD10PCS",
        "SNOMEDCT_US",
        "DRUG_TEXT",
    }
