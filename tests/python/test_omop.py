"""OMOP sites in the forms that people hold, read by dbt in one call.

Four sites lie in one folder: 5.4 in lower case, 5.3 with UPPER columns in another order, one whose
rows name visits that are not there, and one of Parquet files.
"""

import gzip
import re

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT
from raw_renderer import made

from ehrbench import doctor, paths

# Columns of CDM 5.4; those of 5.3 differ in order and names.
PERSON = (
    "person_id,gender_concept_id,year_of_birth,month_of_birth,day_of_birth,birth_datetime,"
    "race_concept_id,ethnicity_concept_id,location_id,provider_id,care_site_id,"
    "person_source_value,gender_source_value,gender_source_concept_id"
)
VISIT = (
    "visit_occurrence_id,person_id,visit_concept_id,visit_start_date,visit_start_datetime,"
    "visit_end_date,visit_end_datetime,visit_type_concept_id,provider_id,care_site_id,"
    "visit_source_value,visit_source_concept_id,admitted_from_concept_id,"
    "admitted_from_source_value,discharged_to_concept_id,discharged_to_source_value,"
    "preceding_visit_occurrence_id"
)
CONDITION = (
    "condition_occurrence_id,person_id,condition_concept_id,condition_start_date,"
    "condition_start_datetime,condition_end_date,condition_end_datetime,"
    "condition_type_concept_id,condition_status_concept_id,stop_reason,provider_id,"
    "visit_occurrence_id,visit_detail_id,condition_source_value,condition_source_concept_id,"
    "condition_status_source_value"
)
DRUG = (
    "drug_exposure_id,person_id,drug_concept_id,drug_exposure_start_date,"
    "drug_exposure_start_datetime,drug_exposure_end_date,drug_exposure_end_datetime,"
    "verbatim_end_date,drug_type_concept_id,stop_reason,refills,quantity,days_supply,sig,"
    "route_concept_id,lot_number,provider_id,visit_occurrence_id,visit_detail_id,"
    "drug_source_value,drug_source_concept_id,route_source_value,dose_unit_source_value"
)
PROCEDURE = (
    "procedure_occurrence_id,person_id,procedure_concept_id,procedure_date,procedure_datetime,"
    "procedure_end_date,procedure_end_datetime,procedure_type_concept_id,modifier_concept_id,"
    "quantity,provider_id,visit_occurrence_id,visit_detail_id,procedure_source_value,"
    "procedure_source_concept_id,modifier_source_value"
)
CONCEPT = (
    "concept_id,concept_name,domain_id,vocabulary_id,concept_class_id,standard_concept,"
    "concept_code,valid_start_date,valid_end_date,invalid_reason"
)
TABLES = {
    "person": PERSON, "visit_occurrence": VISIT, "condition_occurrence": CONDITION,
    "drug_exposure": DRUG, "procedure_occurrence": PROCEDURE, "concept": CONCEPT,
}
OLD_NAMES = {
    "admitted_from_concept_id": "admitting_source_concept_id",
    "admitted_from_source_value": "admitting_source_value",
    "discharged_to_concept_id": "discharge_to_concept_id",
    "discharged_to_source_value": "discharge_to_source_value",
}


def columns(table, old=False):
    """Columns of a table; version 5.3 has the condition's status at the end, no procedure end."""
    names = TABLES[table].split(",")
    if old:
        names = [OLD_NAMES.get(name, name) for name in names]
        last = [name for name in names if name.startswith("condition_status")]
        names = [name for name in names if name not in last and "procedure_end" not in name] + last
    return names


def full(table, rows, old=False):
    """Rows given by name as lists in the table's order."""
    known = set(columns(table, old))
    assert all(set(row) <= known for row in rows), table
    return [[row.get(name, "") for name in columns(table, old)] for row in rows]


def write_csv(path, table, rows, old=False, upper=False, delimiter=","):
    names = columns(table, old)
    head = [name.upper() for name in names] if upper else names
    text = "".join(delimiter.join(row) + "\n" for row in [head, *full(table, rows, old)])
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, encoding="utf-8")


def header_only(path, table):
    """An "empty" table as some exports write it: its only row is the header's text."""
    names = columns(table, old=True)
    upper = ",".join(names).upper()
    path.write_text(f"{upper}\n{','.join(names)}\n", encoding="utf-8")


def person(person_id, **more):
    return {"person_id": person_id, "gender_concept_id": "8532", "year_of_birth": "1950", **more}


def visit(visit_id, person_id, start, end, **more):
    return {
        "visit_occurrence_id": visit_id, "person_id": person_id, "visit_concept_id": "9201",
        "visit_start_date": start[:10], "visit_start_datetime": start,
        "visit_end_date": end[:10], "visit_end_datetime": end, **more,
    }


def recorded(kind, person_id, visit_id, source_value, type_concept, **more):
    start = {"condition": "condition_start_date", "drug": "drug_exposure_start_date",
             "procedure": "procedure_date"}[kind]
    return {
        "person_id": person_id, "visit_occurrence_id": visit_id, start: "2150-01-02",
        f"{kind}_concept_id": "0", f"{kind}_type_concept_id": type_concept,
        f"{kind}_source_value": source_value, **more,
    }


def concept(concept_id, name, vocabulary, code):
    return {"concept_id": concept_id, "concept_name": name, "vocabulary_id": vocabulary,
            "concept_code": code}


def write_new(site):
    """5.4, lower case; CONCEPT as the vocabulary site hands it out, with tabs."""
    site.mkdir()
    write_csv(site / "person.csv", "person", [person("1"), person("2", gender_concept_id="8507")])
    write_csv(site / "visit_occurrence.csv.gz", "visit_occurrence", [
        visit("10", "1", "2150-01-01 08:00:00", "2150-01-03 09:00:00"),
        visit("11", "1", "2151-01-01", "2151-01-01", visit_concept_id="9202",
              visit_start_datetime="", visit_end_datetime=""),
    ])
    write_csv(site / "condition_occurrence.csv", "condition_occurrence", [
        recorded("condition", "1", "10", "loc1", "32817", condition_source_concept_id="501",
                 condition_concept_id="502"),
        recorded("condition", "1", "11", "loc2", "32817", condition_concept_id="502"),
        recorded("condition", "1", "11", "Odd feeling", "999"),
    ])
    write_csv(site / "drug_exposure.csv", "drug_exposure", [
        recorded("drug", "1", "10", "1000126", "32818", drug_concept_id="503",
                 drug_source_concept_id="503"),
        recorded("drug", "1", "10", "00002-7510-01", "32838", drug_concept_id="503"),
    ])
    write_csv(site / "procedure_occurrence.csv", "procedure_occurrence", [
        recorded("procedure", "1", "10", "x", "32817", procedure_concept_id="504"),
    ])
    write_csv(site / "concept.csv", "concept", [
        concept("501", "Essential (primary) hypertension", "ICD10CM", "I10"),
        concept("502", 'Hypertension, "essential"', "SNOMED", "59621000"),
        concept("503", "lisinopril 10 MG Oral Tablet", "RxNorm", "314076"),
        concept("504", "Appendectomy", "SNOMED", "80146002"),
    ], delimiter="\t")


def write_old(site):
    """5.3: UPPER names, padded codes, 64-bit ids, charted items, a table of one header row."""
    site.mkdir()
    here = "-5700000000000000321"
    write_csv(site / "PERSON.csv", "person",
              [person("7000000000000000123", person_source_value="90000011")],
              old=True, upper=True)
    write_csv(site / "VISIT_OCCURRENCE.csv", "visit_occurrence", [
        visit(here, "7000000000000000123", "2150-01-01 08:00:00", "2150-01-03 09:00:00",
              visit_concept_id="38004207", visit_source_value="90000011|20000001"),
        visit("12", "7000000000000000123", "2150-02-01 08:00:00", "2150-02-01 08:00:00",
              visit_concept_id="38004207", visit_source_value="90000011|2150-02-01"),
        visit("13", "7000000000000000123", "no day", "2150-02-01"),
    ], old=True, upper=True)
    write_csv(site / "CONDITION_OCCURRENCE.csv", "condition_occurrence", [
        recorded("condition", "7000000000000000123", here, "4019   ", "32821"),
        recorded("condition", "7000000000000000123", here, "E850   ", "32821"),
        recorded("condition", "7000000000000000123", here, "SR (Sinus Rhythm)", "32817"),
        recorded("condition", "7.000000000000001e+18", here, "4019   ", "32821"),
        recorded("condition", "7000000000000000123", here, "2724   ", "32821",
                 condition_start_date="2150-01-03"),
        recorded("condition", "7000000000000000123", here, "41401  ", "32821",
                 condition_start_date="2150-01-04"),
        # An opening quote that nothing closes takes the next row into its own text.
        recorded("condition", "7000000000000000123", here, '"486', "32821"),
        recorded("condition", "7000000000000000123", here, '486"', "32821"),
    ], old=True, upper=True)
    with (site / "CONDITION_OCCURRENCE.csv").open("a", encoding="utf-8") as lines:
        lines.write(",7000000000000000123,0,2150-01-0")  # cut off by a torn download
    header_only(site / "DRUG_EXPOSURE.csv", "drug_exposure")
    header_only(site / "PROCEDURE_OCCURRENCE.csv", "procedure_occurrence")


def write_lost(site):
    """A site most of whose rows name visits that it does not have."""
    site.mkdir()
    write_csv(site / "person.csv", "person", [person("1")], upper=True)
    write_csv(site / "visit_occurrence.csv", "visit_occurrence",
              [visit("10", "1", "2150-01-01", "2150-01-03")], upper=True)
    write_csv(site / "condition_occurrence.csv", "condition_occurrence", [
        recorded("condition", "1", visit_id, "I10", "32020")
        for visit_id in ("10", "90", "91", "92", "")
    ], upper=True)
    header_only(site / "drug_exposure.csv", "drug_exposure")
    header_only(site / "procedure_occurrence.csv", "procedure_occurrence")


def write_parquet(site):
    """Typed columns: numbers, and the floats that a tool made of ids with empty cells."""
    site.mkdir()
    rows = {
        "person": {"PERSON_ID": [-3], "GENDER_CONCEPT_ID": [8507], "YEAR_OF_BIRTH": [1950]},
        "visit_occurrence": {
            "visit_occurrence_id": [10], "person_id": [-3], "visit_concept_id": [9203],
            "visit_start_date": ["2150-01-01"], "visit_end_date": ["2150-01-02"],
        },
        "condition_occurrence": {
            "person_id": [-3, -3], "visit_occurrence_id": [10.0, None],
            "condition_concept_id": [0, 0], "condition_type_concept_id": [32020, 32020],
            "condition_source_value": ["I10", "I10"],
        },
        "drug_exposure": {
            "person_id": [-3], "visit_occurrence_id": [10], "drug_concept_id": [0],
            "drug_type_concept_id": [38000180], "drug_exposure_start_date": ["2150-01-01"],
            "drug_source_value": ["Aspirin 81 mg"],
        },
        "procedure_occurrence": {
            "person_id": [-3], "visit_occurrence_id": [10], "procedure_concept_id": [0],
            "procedure_type_concept_id": [32821], "procedure_date": ["2150-01-01"],
            "procedure_source_value": ["47.09"],
        },
    }
    for table, given in rows.items():
        pq.write_table(pa.table(given), site / f"{table}.parquet")


def write_icd(folder):
    """ICD titles of the codes above; E850 is a code of both versions."""
    folder.mkdir()
    for name, header, lines in (
        ("icd9cm_tree.csv", "code,parent_code,level,title", [
            "401.9,401,5,Unspecified essential hypertension", "E850,E850-E858,3,Poisoning"]),
        ("icd10cm_tree.csv", "code,parent_code,level,title", [
            "I10,I10-I1A,3,Essential (primary) hypertension", "E85.0,E85,4,Amyloidosis"]),
    ):
        (folder / name).write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of sites, with what an unpacked archive leaves beside them.

    Its name would be a pattern if it were not escaped.
    """
    folder = tmp_path_factory.mktemp("omop") / "our [new] sites*"
    folder.mkdir()
    write_new(folder / "New-Site")
    write_old(folder / "omop_mimic_iv_old")
    write_lost(folder / "lost")
    write_parquet(folder / "parquet_site")
    (folder / "__MACOSX").mkdir()
    (folder / "__MACOSX" / "person.csv").write_bytes(b"\x00\x05\x16\x07")
    return folder


@pytest.fixture(scope="module")
def build(folder, tmp_path_factory):
    """A query function over all sites, read and placed in visits."""
    place = tmp_path_factory.mktemp("built")
    write_icd(place / "icd")
    with made(
        *("int_events_placed", "int_omop__bad_rows", "int_omop__administrations"),
        EHRBENCH_OMOP_DIR=folder,
        EHRBENCH_ICD_DIR=place / "icd",
    ) as rows:
        yield rows


def events(build, source, event_type):
    return set(build(
        "select source_code, code_system, normalized_code, set_aside_reason "
        f"from int_events_placed where source = '{source}' and event_type = '{event_type}'"
    ))


def test_every_folder_is_a_site_and_archives_leave_none(build):
    assert build("select distinct source from int_source_patients order by 1") == [
        ("lost",), ("new_site",), ("omop_mimic_iv_old",), ("parquet_site",)]


def test_a_clean_site_of_5_4(build):
    assert events(build, "new_site", "diagnosis") == {
        ("I10", "ICD10CM", "I10", None),
        ("59621000", "SNOMEDCT_US", "59621000", None),
        ("Odd feeling", "SOURCE_TEXT", "odd feeling", None),
    }
    assert events(build, "new_site", "procedure") == {
        ("80146002", "SNOMEDCT_US", "80146002", None)}
    assert set(build(
        "select source_code, ndc from int_events_placed "
        "where source = 'new_site' and event_type = 'medication'"
    )) == {("lisinopril 10 MG Oral Tablet", None),
           ("lisinopril 10 MG Oral Tablet", "00002-7510-01")}
    assert build("select distinct source_label from int_omop__events "
                 "where normalized_code = '59621000'") == [('Hypertension, "essential"',)]
    assert build("select admission_id, n_administered from int_omop__administrations "
                 "where source = 'new_site'") == [("10", 1)]
    assert build("select admission_id, admission_type, strftime(discharged_at, '%H:%M:%S') "
                 "from int_omop__admissions where source = 'new_site' order by 1") == [
        ("10", "inpatient", "09:00:00"), ("11", "outpatient", "23:59:59")]


def test_a_dirty_site_of_5_3(build):
    # The visit's other code says which E850 it is; codes lose their padding and nothing else.
    found = events(build, "omop_mimic_iv_old", "diagnosis")
    assert {("lines" if "\n" in (code or "") else code, *rest) for code, *rest in found} == {
        ("4019", "ICD9CM", "401.9", None),
        ("E850", "ICD9CM", "E850", None),
        ("SR (Sinus Rhythm)", None, None, "charted_item"),
        ("4019", None, None, "torn_id"),
        ("2724", "SOURCE_TEXT", "2724", None),
        ("41401", "SOURCE_TEXT", "41401", "after_discharge"),
        ("lines", None, None, "torn_line"),
        (None, None, None, "torn_line"),
    }
    assert build("select admission_id, admission_type, set_aside_reason from int_omop__admissions "
                 "where source = 'omop_mimic_iv_old' order by 1") == [
        ("-5700000000000000321", "inpatient", None),
        ("12", "outpatient", None),
        ("13", "inpatient", "unreadable_date")]
    assert build("select person_id, sex from int_omop__patients "
                 "where source = 'omop_mimic_iv_old'") == [("90000011", "female")]


def test_empty_tables_hold_a_header_row_that_is_set_aside(build):
    assert events(build, "omop_mimic_iv_old", "medication") == {
        ("drug_source_value", "DRUG_TEXT", None, "header_row")}
    assert events(build, "omop_mimic_iv_old", "procedure") == {
        ("procedure_source_value", None, None, "header_row")}
    found = build("select source_table, file, row, reason, action from int_omop__bad_rows "
                  "where source_table like 'omop_mimic_iv_old%' order by all")
    assert found == [
        ("omop_mimic_iv_old.condition_occurrence", "CONDITION_OCCURRENCE.csv", 4, "torn_id",
         "set_aside"),
        ("omop_mimic_iv_old.condition_occurrence", "CONDITION_OCCURRENCE.csv", 7, "torn_line",
         "set_aside"),
        ("omop_mimic_iv_old.condition_occurrence", "CONDITION_OCCURRENCE.csv", 8, "torn_line",
         "set_aside"),
        ("omop_mimic_iv_old.drug_exposure", "DRUG_EXPOSURE.csv", 1, "header_row", "set_aside"),
        ("omop_mimic_iv_old.procedure_occurrence", "PROCEDURE_OCCURRENCE.csv", 1, "header_row",
         "set_aside"),
        ("omop_mimic_iv_old.visit_occurrence", "VISIT_OCCURRENCE.csv", 3, "unreadable_date",
         "set_aside")]


def test_rows_of_unknown_visits_are_set_aside_and_counted(build):
    assert build("select set_aside_reason, sum(n_source_rows)::int from int_events_placed "
                 "where source = 'lost' and event_type = 'diagnosis' group by 1 order by 1") == [
        ("no_visit", 1), ("unknown_admission", 3), (None, 1)]


def test_a_site_of_parquet_files(build):
    assert events(build, "parquet_site", "diagnosis") == {
        ("I10", "ICD10CM", "I10", None), ("I10", None, None, "no_visit")}
    assert build("select person_id, sex from int_omop__patients where source = 'parquet_site'") == [
        ("-3", "male")]
    assert build("select admission_id, drug_text from int_omop__administrations "
                 "where source = 'parquet_site'") == [("10", "Aspirin 81 mg")]
    assert build("select admission_type from int_omop__admissions "
                 "where source = 'parquet_site'") == [("emergency",)]


def test_every_row_of_every_file_is_an_event_row(build):
    tables = {"diagnosis": "condition_occurrence", "medication": "drug_exposure",
              "procedure": "procedure_occurrence"}
    for event_type, table in tables.items():
        staged = build(f"select source, count(*) from stg_omop__{table} group by 1 order by 1")
        assert staged == build(
            "select source, sum(n_source_rows)::bigint from int_omop__events "
            f"where event_type = '{event_type}' group by 1 order by 1")


def test_doctor_prints_a_line_per_site(folder, monkeypatch):
    monkeypatch.setenv("EHRBENCH_OMOP_DIR", str(folder))
    tables = doctor.declared_sources(ROOT)["omop"]
    found = {one.text.split()[1]: one for one in doctor.check_source("omop", tables, "full")}
    assert set(found) == {"new_site:", "omop_mimic_iv_old:", "lost:", "parquet_site:"}
    assert all(one.state == doctor.OK for one in found.values()), found
    assert "credentialed data" in found["new_site:"].text
    assert not found["new_site:"].more
    assert found["lost:"].more == [
        "condition_occurrence: 4 of 5 rows name no visit of visit_occurrence and make no event: "
        "rebuild the visits"]
    assert paths.data_class("full") == "credentialed"


def write_unreadable(site):
    """A header without a column, and lines that a quote swallows."""
    site.mkdir(parents=True)
    (site / "Person.CSV").write_text("PERSON_ID,YEAR_OF_BIRTH\n1,1950\n", encoding="utf-8")
    write_swallowed(site / "condition_occurrence.csv")


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    """What dbt says of both: test_bad_rows."""
    write_unreadable(tmp_path / "torn")
    monkeypatch.setenv("EHRBENCH_OMOP_DIR", str(tmp_path))
    tables = [table for table in doctor.declared_sources(ROOT)["omop"] if table.name == "person"]
    [said] = doctor.check_source("omop", tables, "full")
    assert said.state == doctor.WRONG
    assert re.search("column gender_concept_id is missing in .*torn.*Person.CSV", said.text)


def write_swallowed(path):
    """25,000 rows, and behind what is looked at to find the format a quote that nothing closes."""
    rows = [recorded("condition", "1", "10", '"I10' if number == 22_000 else "I10", "32020")
            for number in range(25_000)]
    write_csv(path, "condition_occurrence", rows)


# What two sources say of one family, and what the test of it finds.
PAIR = [
    ("a", "omop", "both", "g", "visit", None, None, "agree"),
    ("a", "omop", "both", "g", "visit", None, None, "same_end"),
    ("a", "omop", "b", "g", "visit", None, None, "visit_class_absent"),
    ("a", "omop", "both", "g", "diagnosis", "ICD9CM", "401.9", "agree"),
    ("a", "omop", "a", "g", "diagnosis", "ICD9CM", "E850", "code_absent"),
    ("a", "omop", "b", "g", "procedure", "CPT", "19301", "code_system_absent"),
    ("a", "omop", "b", "g", "medication", "INGREDIENT", "C1", "code_absent"),
]


@pytest.mark.parametrize(("lost", "n_found"), [(1, 0), (2, 0), (3, 1)])
def test_a_site_most_of_whose_rows_have_no_visit_is_named(unqualified, lost, n_found):
    reasons = (["no_visit", "unknown_admission", "unknown_admission"][:lost] + ["charted_item"] * 4)
    rows = [("s", "diagnosis", 1, reason) for reason in reasons[:4]]
    rows += [("s", "medication", 9, None), ("t", "diagnosis", 9, "header_row")]
    with duckdb.connect() as connection:
        connection.execute("create table int_events_placed (source varchar, event_type varchar, "
                           "n_source_rows bigint, set_aside_reason varchar)")
        connection.executemany("insert into int_events_placed values (?, ?, ?, ?)", rows)
        found = connection.execute(unqualified["assert_most_rows_have_a_visit"]).fetchall()
    assert len(found) == n_found
    assert all(one == ("s", "diagnosis", 4, lost) for one in found)


@pytest.mark.parametrize(("rows", "problems"), [
    ([("a", "person.csv", 1), ("a", "person.csv", 2), ("b", "person.csv", 1)], []),
    ([("mimic_iv", "person.csv", 1)], ["is the name of another source"]),
    ([("all", "person.csv", 1)], ["is the name of another source"]),
    ([("a", "person.csv", 1), ("a", "person.csv", 1)], ["two folders have this name"]),
])
def test_names_of_sites_are_their_own(unqualified, rows, problems):
    with duckdb.connect() as connection:
        connection.execute("create table stg_omop__person (source varchar, source_file varchar, "
                           "source_row bigint)")
        connection.executemany("insert into stg_omop__person values (?, ?, ?)", rows)
        for source in ("mimic_iv", "mimic_iii"):
            connection.execute(f"create table int_{source}__patients as select '{source}' as source")
        found = connection.execute(unqualified["assert_site_names_are_free"]).fetchall()
    assert [problem for _, problem in found] == problems


@pytest.mark.parametrize(("row", "breach"), [
    (None, None),
    (("a", "omop", "b", "g", "diagnosis", "ICD10CM", "E85.0", "code_absent"), "code_absent"),
    (("a", "omop", "b", "g", "visit", None, None, "visit_absent"), "visit_absent"),
    (("a", "omop", "both", "g", "visit", None, None, "overlap_only"), "overlap_only"),
    ("nothing shared", "nothing_shared"),
])
def test_a_derived_source_that_disagrees_is_found(unqualified, row, breach):
    sql = unqualified["assert_derived_sources_agree"]
    rows = PAIR if row is None else [*PAIR, row]
    if row == "nothing shared":
        rows = [one for one in PAIR if one[2] != "both"]
    with duckdb.connect() as connection:
        connection.execute(
            "create table int_source_comparisons (source_a varchar, source_b varchar, "
            "held_by varchar, person_group varchar, event_type varchar, code_system varchar, "
            "normalized_code varchar, reason varchar)")
        connection.executemany(
            "insert into int_source_comparisons values (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("create table source_overlaps as select 'omop' as source, "
                           "'f' as person_family, 'a' as derived_from")
        found = connection.execute(sql).fetchall()
    assert [one[4] for one in found] == ([breach] if breach else [])
