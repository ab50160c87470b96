"""The singular tests of staging and core are able to fail: compiled SQL on broken tables."""

import hashlib
import re

import duckdb
import pytest

PEOPLE = hashlib.md5(b"1|2").hexdigest()

# A whole small cohort in which every row is accounted for. Name -> (columns, rows).
COHORT = {
    "stg_mimic_iv__patients": ("subject_id varchar", [("1",), ("2",)]),
    "stg_mimic_iv__admissions": ("hadm_id varchar", [("10",), ("11",)]),
    "stg_mimic_iv__diagnoses_icd": ("hadm_id varchar", [("10",), ("10",), ("11",)]),
    "stg_mimic_iv__procedures_icd": ("hadm_id varchar", [("10",)]),
    "stg_mimic_iv__prescriptions": ("hadm_id varchar", [("10",), ("10",)]),
    "dim_patients": ("patient_key varchar, source varchar",
                     [("p", "mimic_iv"), ("q", "mimic_iv")]),
    "dim_visits": ("visit_key varchar, source varchar, n_merged_admissions integer",
                   [("v", "mimic_iv", 2)]),
    "fct_visit_events": (
        "event_key varchar, visit_key varchar, source varchar, event_type varchar, "
        "n_source_rows integer",
        [("d", "v", "mimic_iv", "diagnosis", 2), ("p", "v", "mimic_iv", "procedure", 1),
         ("m", "v", "mimic_iv", "medication", 1)],
    ),
    "source_tables": (
        "source varchar, row_type varchar, source_table varchar",
        [("mimic_iv", row_type, f"mimic_iv.{table}") for row_type, table in (
            ("patients", "patients"), ("admissions", "admissions"),
            ("diagnosis", "diagnoses_icd"), ("procedure", "procedures_icd"),
            ("medication", "prescriptions"))],
    ),
    "rpt_quarantine": (
        "source_table varchar, reason varchar, n_rows bigint",
        [("mimic_iv.diagnoses_icd", "missing_code", 1),
         ("mimic_iv.prescriptions", "non_drug_flush", 1)],
    ),
    "demo_counts": (
        "source varchar, table_name varchar, n_rows bigint, subject_digest varchar",
        [("mimic_iv", "patients", 2, PEOPLE), ("mimic_iv", "admissions", 2, None),
         ("mimic_iv", "diagnoses_icd", 3, None), ("mimic_iv", "procedures_icd", 1, None),
         ("mimic_iv", "prescriptions", 2, None)],
    ),
    "status_codes": ("code_system varchar, code_from varchar, code_to varchar",
                     [("ICD9CM", "V", "V")]),
    "hindsight_codes": ("code_system varchar, code_from varchar, code_to varchar",
                        [("ICD9CM", "996", "999")]),
    "visit_classes": (
        "source varchar, admission_type varchar, visit_class varchar, class_rank integer",
        [("mimic_iv", "URGENT", "inpatient", 4), ("*", "*", "outpatient", 1)],
    ),
    "int_admissions_merged": (
        "source varchar, admission_id varchar, admission_type varchar, visit_key varchar",
        [("mimic_iv", "10", "URGENT", "v"), ("mimic_iv", "11", "URGENT", "v")],
    ),
    "stg_mimic_iv__emar": ("event_txt varchar", [("Administered",), (None,)]),
    "emar_event_texts": ("event_txt varchar", [("Administered",)]),
    "brg_event_concepts": ("event_key varchar, cui varchar",
                           [("d", "C0000001"), ("m", "C0000002"), ("p", None)]),
    "stg_umls__atoms": ("cui varchar", [("C0000001",)]),
    "stg_icd__i10_gems": ("source_code varchar", [("A000",)]),
    "stg_icd__procedure_concepts": ("cui varchar", [("C0000002",)]),
    "stg_truth__planted": (
        "hadm_id varchar, target_hadm_id varchar, task varchar, subject_cui varchar, "
        "object_cui varchar",
        [("10", None, "tx", "C0000001", "C0000002")],
    ),
}

# Test -> SQL statements, each of which breaks it.
BREAKS = {
    "assert_source_rows_are_conserved": [
        "delete from fct_visit_events where event_key = 'm'",
        "delete from rpt_quarantine where reason = 'missing_code'",
        "update dim_visits set n_merged_admissions = 1",
        "insert into stg_mimic_iv__patients values ('3')",
        "update rpt_quarantine set n_rows = n_rows + 1",
        "delete from fct_visit_events",
    ],
    "assert_demo_counts_are_published_ones": [
        "delete from stg_mimic_iv__procedures_icd",
        "insert into stg_mimic_iv__prescriptions values ('11')",
    ],
    "assert_code_ranges_are_well_formed": [
        "insert into status_codes values ('ICD9CM', 'V8', 'V10')",
        "insert into hindsight_codes values ('ICD9CM', '999', '996')",
        "insert into hindsight_codes values ('ICD9CM', '999', null)",
    ],
    "assert_visit_classes_have_one_rank": [
        "insert into visit_classes values ('t', 'x', 'inpatient', 3)",
        "insert into visit_classes values ('t', 'x', 'emergency', 4)",
    ],
    "assert_visit_types_are_known": [
        "update int_admissions_merged set admission_type = 'NEW TYPE' where admission_id = '11'",
    ],
    "assert_emar_texts_are_known": [
        "insert into stg_mimic_iv__emar values ('Never Seen')",
    ],
    "assert_planted_facts_are_events": [
        "update brg_event_concepts set cui = null where event_key = 'm'",
        "delete from fct_visit_events where event_key = 'd'",
        "update int_admissions_merged set visit_key = 'w'",
    ],
}


@pytest.fixture(scope="module")
def failing_rows(manifest):
    """Number of rows that a singular test finds after a change to the cohort."""
    code = {
        node["name"]: re.sub(r'"[^"]+"\."main"\."([^"]+)"', r"\1", node["compiled_code"])
        for node in manifest["nodes"].values()
        if node["resource_type"] == "test" and node["name"] in BREAKS
    }

    def run(name, change=None):
        with duckdb.connect() as connection:
            for table, (columns, rows) in COHORT.items():
                connection.execute(f"create table {table} ({columns})")
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"insert into {table} values ({marks})", rows)
            if change:
                connection.execute(change)
            return len(connection.execute(code[name]).fetchall())

    return run


@pytest.mark.parametrize("name", BREAKS)
def test_passes_on_a_sound_cohort(failing_rows, name):
    assert failing_rows(name) == 0


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name, changes in BREAKS.items() for change in changes])
def test_fails_on_a_broken_cohort(failing_rows, name, change):
    assert failing_rows(name, change) >= 1


def test_other_people_are_no_demo(failing_rows):
    change = "update stg_mimic_iv__patients set subject_id = '7' where subject_id = '2'"
    assert failing_rows("assert_demo_counts_are_published_ones", change) == 0
