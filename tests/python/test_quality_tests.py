"""The warnings about sites and seeds see what they are about: compiled SQL on small tables."""

import hashlib

import pytest
from conftest import rows_on

PEOPLE = hashlib.md5(b"1|2").hexdigest()
SITES = {
    "stg_omop__person": (
        "source varchar, person_id varchar",
        [("omop_demo", "2"), ("omop_demo", "1"), ("mine", "1"), ("free", "7")],
    ),
    "demo_counts": (
        "source varchar, table_name varchar, n_rows bigint, subject_digest varchar, "
        "comment varchar",
        [("omop_demo", "person", 2, PEOPLE, "Demo 1"), ("omop_demo", "death", 3, None, "Demo 1"),
         ("free_demo", "person", 1, hashlib.md5(b"7").hexdigest(), "Demo 2")],
    ),
    "source_overlaps": ("source varchar", [("omop_demo",)]),
    "int_source_row_counts": (
        "source varchar, table_name varchar, n_rows bigint",
        [("omop_demo", "person", 2), ("omop_demo", "death", 3), ("mine", "person", 1),
         ("free", "person", 1)],
    ),
}
OVERRIDES = {
    "int_code_overrides": (
        "code_system varchar, override_key varchar",
        [("ICD10CM", "E87.1"), ("SOURCE_TEXT", "ODD FEELING"), ("DRUG_TEXT", " aspirin 81 mg ")],
    ),
    "int_cohort_codes": (
        "code_system varchar, normalized_code varchar",
        [("ICD10CM", "E87.1"), ("ICD9CM", "401.9"), ("SOURCE_TEXT", "odd feeling")],
    ),
    "int_cohort_drug_texts": ("drug_text varchar", [("Aspirin  81 mg",)]),
}


@pytest.mark.parametrize(
    ("change", "n_found"),
    [
        (None, 0),
        # Too few persons are other people; the demo under another name is not.
        ("insert into stg_omop__person values ('mine', '2'); "
         "update int_source_row_counts set n_rows = 2 where source = 'mine'; "
         "insert into int_source_row_counts values ('mine', 'death', 3)", 1),
        ("update int_source_row_counts set n_rows = 2 where table_name = 'death'", 1),
        ("delete from int_source_row_counts where table_name = 'death'", 1),
        # No rule goes by the name of the other demo.
        ("update stg_omop__person set source = 'other' where source = 'free'; "
         "update int_source_row_counts set source = 'other' where source = 'free'", 0),
    ],
)
def test_a_demo_under_another_name_or_with_other_rows_is_found(unqualified, change, n_found):
    assert rows_on(SITES, unqualified["assert_demo_sites_are_the_demo"], change) == n_found


@pytest.mark.parametrize(
    ("change", "n_found"),
    [
        (None, 0),
        ("insert into int_code_overrides values ('ICD10CM', 'E871')", 1),
        ("insert into int_code_overrides values ('ICD10CM', '401.9')", 1),
        ("delete from int_cohort_codes where code_system = 'SOURCE_TEXT'", 1),
        ("update int_cohort_drug_texts set drug_text = 'Aspirin'", 1),
    ],
)
def test_an_override_that_meets_nothing_is_found(unqualified, change, n_found):
    assert rows_on(OVERRIDES, unqualified["assert_code_overrides_meet_the_cohort"], change) == n_found


def test_they_warn_and_do_not_stop_a_build(manifest):
    severity = {
        node["name"]: node["config"]["severity"].lower()
        for node in manifest["nodes"].values()
        if node["resource_type"] == "test"
    }
    for name in ("assert_demo_sites_are_the_demo", "assert_code_overrides_meet_the_cohort"):
        assert severity[name] == "warn"
    assert severity["assert_demo_counts_are_published_ones"] == "error"
