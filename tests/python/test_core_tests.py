"""The singular tests of staging and core are able to fail: compiled SQL on broken tables."""

import hashlib

import pytest
from conftest import rows_on

PEOPLE = hashlib.md5(b"1|2").hexdigest()

# A whole small cohort in which every row is accounted for. Name -> (columns, rows).
COHORT = {
    "stg_mimic_iv__patients": ("subject_id varchar", [("1",), ("2",)]),
    "stg_mimic_iv__admissions": ("hadm_id varchar", [("10",), ("11",)]),
    "dim_patients": ("patient_key varchar, source varchar",
                     [("p", "mimic_iv"), ("q", "mimic_iv"), ("r", "site")]),
    "dim_visits": ("visit_key varchar, source varchar, n_merged_admissions integer",
                   [("v", "mimic_iv", 2)]),
    "fct_visit_events": (
        "event_key varchar, visit_key varchar, source varchar, event_type varchar, "
        "n_source_rows integer",
        [("d", "v", "mimic_iv", "diagnosis", 2), ("p", "v", "mimic_iv", "procedure", 1),
         ("m", "v", "mimic_iv", "medication", 1)],
    ),
    "int_source_tables": (
        "source varchar, row_type varchar, source_table varchar",
        [*[("mimic_iv", row_type, f"mimic_iv.{table}") for row_type, table in (
            ("patients", "patients"), ("admissions", "admissions"),
            ("diagnosis", "diagnoses_icd"), ("procedure", "procedures_icd"),
            ("medication", "prescriptions"), ("administration", "emar"))],
         ("site", "patients", "site.person")],
    ),
    "int_source_row_counts": (
        "source varchar, table_name varchar, n_rows bigint",
        [("mimic_iv", "patients", 2), ("mimic_iv", "admissions", 2),
         ("mimic_iv", "diagnoses_icd", 3), ("mimic_iv", "procedures_icd", 1),
         ("mimic_iv", "prescriptions", 2), ("site", "person", 1)],
    ),
    "int_mimic_iv__bad_rows": (
        "source_table varchar, reason varchar, action varchar",
        [("mimic_iv.diagnoses_icd", "missing_code", "set_aside"),
         ("mimic_iv.prescriptions", "unreadable_date", "repaired")],
    ),
    "int_mimic_iii__bad_rows": (
        "source_table varchar, reason varchar, action varchar",
        [("mimic_iii.icustays", "missing_key", "set_aside")],
    ),
    "int_omop__bad_rows": (
        "source_table varchar, reason varchar, action varchar",
        [("site.person", "unreadable_date", "repaired")],
    ),
    "stg_mimic_iii__patients": ("subject_id varchar", [("9",)]),
    "stg_mimic_iii__icustays": ("hadm_id varchar", [("90",)]),
    "stg_omop__person": ("source varchar, person_id varchar", [("site", "8")]),
    "rpt_quarantine": (
        "source_table varchar, reason varchar, n_rows bigint",
        [("mimic_iv.diagnoses_icd", "missing_code", 1),
         ("mimic_iv.prescriptions", "non_drug_flush", 1),
         ("mimic_iv.emar", "missing_key", 7), ("umls.mrconso", "suppressed", 5)],
    ),
    "demo_counts": (
        "source varchar, table_name varchar, n_rows bigint, subject_digest varchar",
        [("mimic_iv", "patients", 2, PEOPLE), ("mimic_iv", "admissions", 2, None),
         ("mimic_iv", "diagnoses_icd", 3, None), ("mimic_iv", "procedures_icd", 1, None),
         ("mimic_iv", "prescriptions", 2, None),
         ("omop_demo", "person", 1, hashlib.md5(b"8").hexdigest())],
    ),
    "status_codes": ("code_system varchar, code_from varchar, code_to varchar",
                     [("ICD9CM", "V", "V")]),
    "hindsight_codes": ("code_system varchar, code_from varchar, code_to varchar",
                        [("ICD9CM", "996", "999")]),
    "visit_classes": (
        "source varchar, admission_type varchar, visit_class varchar, class_rank integer, "
        "merges_over_gap boolean",
        [("mimic_iv", "URGENT", "inpatient", 4, True), ("*", "*", "outpatient", 1, False)],
    ),
    "int_admissions_merged": (
        "source varchar, admission_id varchar, admission_type varchar, visit_key varchar",
        [("mimic_iv", "10", "URGENT", "v"), ("mimic_iv", "11", "URGENT", "v")],
    ),
    "stg_mimic_iv__emar": ("event_txt varchar", [("Administered",), (None,)]),
    "emar_event_texts": ("event_txt varchar", [("Administered",)]),
    "int_visit_ids": ("visit_key varchar, visit_id integer", [("v", 1), ("w", 2)]),
    "brg_event_concepts": ("event_key varchar, cui_id integer", [("d", 1), ("m", 2), ("p", None)]),
    "stg_umls__atoms": ("cui varchar", [("C0000001",)]),
    "stg_icd__i10_gems": ("source_code varchar", [("A000",)]),
    "stg_icd__procedure_concepts": ("cui varchar", [("C0000002",)]),
    "int_source_data_classes": (
        "source varchar", [("mimic_iv",), ("mimic_iii",), ("omop_harbor",)],
    ),
    "int_mimic_iii__stay_rule": (
        "subject_id varchar, set_aside_reason varchar",
        [("3", "not_carevue"), ("4", None)],
    ),
    "stg_truth__planted": (
        "source varchar, subject_id varchar, hadm_id varchar, target_hadm_id varchar, "
        "task varchar, subject_cui varchar, object_cui varchar",
        [
            ("mimic_iv", "1", "10", None, "tx", "C0000001", "C0000002"),
            ("mimic_iii", "3", "30", None, "tx", "C0000001", "C0000002"),
            ("site_not_loaded", "5", "50", None, "tx", "C0000001", "C0000002"),
        ],
    ),
}

# Test -> SQL statements, each of which breaks it.
BREAKS = {
    "assert_source_rows_are_conserved": [
        "delete from fct_visit_events where event_key = 'm'",
        "delete from rpt_quarantine where reason = 'missing_code'",
        "update dim_visits set n_merged_admissions = 1",
        "update int_source_row_counts set n_rows = n_rows + 1 where table_name = 'patients'",
        "update rpt_quarantine set n_rows = n_rows + 1",
        "delete from fct_visit_events",
        "delete from dim_patients where source = 'site'",
        "delete from int_source_row_counts where source = 'site'",
        "insert into dim_patients values ('s', 'never counted')",
    ],
    "assert_bad_rows_are_counted": [
        "delete from int_mimic_iv__bad_rows where action = 'set_aside'; "
        "insert into int_mimic_iv__bad_rows values "
        "('mimic_iv.diagnoses_icd', 'missing_key', 'set_aside')",
        "insert into int_mimic_iii__bad_rows values "
        "('mimic_iii.patients', 'missing_key', 'set_aside')",
        "update int_omop__bad_rows set action = 'set_aside'",
        "insert into rpt_quarantine values ('site.person', 'torn_line', 1)",
        "delete from int_mimic_iv__bad_rows",
        "insert into int_mimic_iv__bad_rows values "
        "('mimic_iv.diagnoses_icd', 'missing_code', 'set_aside')",
    ],
    "assert_demo_counts_are_published_ones": [
        "update int_source_row_counts set n_rows = 9 where table_name = 'procedures_icd'",
        "update int_source_row_counts set n_rows = 9 where table_name = 'prescriptions'",
    ],
    "assert_code_ranges_are_well_formed": [
        "insert into status_codes values ('ICD9CM', 'V8', 'V10')",
        "insert into hindsight_codes values ('ICD9CM', '999', '996')",
        "insert into hindsight_codes values ('ICD9CM', '999', null)",
    ],
    "assert_visit_classes_have_one_rank": [
        "insert into visit_classes values ('t', 'x', 'inpatient', 3, true)",
        "insert into visit_classes values ('t', 'x', 'emergency', 4, true)",
        "insert into visit_classes values ('t', 'x', 'outpatient', 1, true)",
    ],
    "assert_visit_types_are_known": [
        "update int_admissions_merged set admission_type = 'NEW TYPE' where admission_id = '11'",
    ],
    "assert_emar_texts_are_known": [
        "insert into stg_mimic_iv__emar values ('Never Seen')",
    ],
    "assert_planted_facts_are_events": [
        "update brg_event_concepts set cui_id = null where event_key = 'm'",
        "delete from fct_visit_events where event_key = 'd'",
        "update int_admissions_merged set visit_key = 'w'",
        "update stg_truth__planted set source = 'omop_harbor' where source = 'mimic_iv'",
        "update int_mimic_iii__stay_rule set set_aside_reason = null",
    ],
}


@pytest.fixture
def failing_rows(unqualified):
    """Number of rows that a singular test finds after a change to the cohort."""
    return lambda name, change=None: rows_on(COHORT, unqualified[name], change)


@pytest.mark.parametrize("name", BREAKS)
def test_passes_on_a_sound_cohort(failing_rows, name):
    assert failing_rows(name) == 0


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name, changes in BREAKS.items() for change in changes])
def test_fails_on_a_broken_cohort(failing_rows, name, change):
    assert failing_rows(name, change) >= 1


@pytest.mark.parametrize("change", [
    "delete from int_source_row_counts where table_name = 'procedures_icd'",
    # A site that holds a demo's people may hold other tables.
    "update int_source_row_counts set n_rows = 9 where source = 'site'",
])
def test_a_missing_table_and_a_site_are_no_torn_demo(failing_rows, change):
    assert failing_rows("assert_demo_counts_are_published_ones", change) == 0


def test_other_people_are_no_demo(failing_rows):
    change = "update stg_mimic_iv__patients set subject_id = '7' where subject_id = '2'"
    assert failing_rows("assert_demo_counts_are_published_ones", change) == 0
