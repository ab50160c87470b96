"""The attack on released items (analyses/reidentify_released_items.sql) and what guards identifiers."""

import csv
import re

import duckdb
import pytest
import sqlglot
from conftest import ROOT
from leak_cases import patient
from sqlglot import exp

# What a release shows, and what the holder of the source has (its events, visits and a mapping of titles).
RELEASED = {
    "dim_items": {"item_id", "source", "task", "scenario", "released"},
    "fct_item_options": {"item_id", "label"},
    "event_type_words": {"event_type", "word"},
}
RECORD = {
    "fct_visit_events": {"event_key", "visit_key", "source", "event_type", "label"},
    "dim_visits": {"visit_key", "next_inpatient_visit_key"},
    "brg_event_concepts": {"event_key", "cui_id"},
}

# Item i1 is of visit v1 alone; i2 is of v2, but v3 of another patient holds its events too (and another
# option: 1 of 2 at best). i3 (px) is of v1 too, its answer in the next visit v4.
TABLES = """
create table event_type_words as select * from (values ('diagnosis', 'Diagnosis'), ('medication', 'Medication ordered'))
    as v(event_type, word);
create table dim_items as select * from (values
    ('i1', 's', 'tx', '- Diagnosis: Gout' || chr(10) || '- Diagnosis: Heart failure: acute', true, 'k1', 4),
    ('i2', 's', 'tx', '- Diagnosis: Asthma' || chr(10) || '- Diagnosis: Gout', true, 'k2', 4),
    ('i3', 's', 'px', '- Diagnosis: Heart failure: acute' || chr(10) || '- Medication ordered: Insulin', true, 'k3', 4),
    ('i4', 's', 'tx', '- Diagnosis: Never released', false, 'k1', 4))
    as v(item_id, source, task, scenario, released, template_key, n_options);
create table fct_item_options as select * from (values ('i1', 'Colchicine'), ('i1', 'Insulin lispro'), ('i2', 'Steroid'),
    ('i2', 'Colchicine'), ('i3', 'Sepsis'), ('i3', 'Stroke')) as v(item_id, label);
create table fct_visit_events as select * from (values
    ('a', 'v1', 's', 'diagnosis', 'gout'), ('b', 'v1', 's', 'diagnosis', 'Heart failure:  acute'),
    ('c', 'v1', 's', 'medication', 'Colchicine'), ('d', 'v1', 's', 'medication', 'Insulin'),
    ('e', 'v2', 's', 'diagnosis', 'Asthma'), ('f', 'v2', 's', 'diagnosis', 'Gout'),
    ('g', 'v2', 's', 'medication', 'Steroid'),
    ('h', 'v3', 's', 'diagnosis', 'Asthma'), ('i', 'v3', 's', 'diagnosis', 'Gout'),
    ('j', 'v3', 's', 'medication', 'Colchicine'), ('k', 'v3', 's', 'medication', 'Insulin lispro'),
    ('l', 'v4', 's', 'diagnosis', 'Sepsis'), ('m', 'v9', 't', 'diagnosis', 'Gout'), ('n', 'v9', 't', 'diagnosis', 'Stroke'),
    ('o', 'v9', 't', 'diagnosis', 'Heart failure: acute'), ('p', 'v5', 's', 'diagnosis', 'Heart block'),
    ('q', 'v5', 's', 'diagnosis', 'Gout')) as v(event_key, visit_key, source, event_type, label);
create table brg_event_concepts as select event_key, hash(label) as cui_id from fct_visit_events;
create table dim_visits as select distinct visit_key, case when visit_key = 'v1' then 'v4' end as next_inpatient_visit_key
from fct_visit_events;
create table fct_templates as select * from (values ('k1', 't1'), ('k2', 't2'), ('k3', 't3')) as v(template_key, triple_id);
create table fct_triples as select * from (values ('t1', 'v1'), ('t2', 'v2'), ('t3', 'v1')) as v(triple_id, visit_key);
create table fct_answer_keys as select * from (values ('i1', 'Colchicine'), ('i2', 'Steroid'), ('i3', 'Sepsis'))
    as v(item_id, gold_label);
"""


@pytest.fixture(scope="module")
def attack(manifest):
    """Compiled SQL of the attack, its tables named without a schema."""
    found = [node for node in manifest["nodes"].values() if node["name"] == "reidentify_released_items"]
    return re.sub(r'"[^"]+"\."main"\.', "", found[0]["compiled_code"])


def test_the_attack_finds_visits_and_reads_answers_off(attack):
    with duckdb.connect() as connection:
        connection.execute(TABLES)
        rows = connection.execute(attack).fetchall()
    assert [[float(cell) if index > 2 else cell for index, cell in enumerate(row)] for row in rows] == [
        # source, task, words shown, items, found, found right, read off, read right, answered, chance
        ["s", "px", 0, 1, 1, 1, 1, 1, 1, 0.25],
        ["s", "px", 1, 1, 1, 1, 1, 1, 1, 0.25],
        ["s", "px", 3, 1, 1, 1, 1, 1, 1, 0.25],
        # i2 is found twice, its two options in one visit each: half an answer; one word of "Heart failure" fits v5 too
        ["s", "tx", 0, 2, 0.5, 0.5, 0.5, 0.5, 0.75, 0.25],
        ["s", "tx", 1, 2, 0, 0, 0, 0, 0.75, 0.25],
        ["s", "tx", 3, 2, 0.5, 0.5, 0.5, 0.5, 0.75, 0.25],
    ]


def test_the_attack_knows_only_the_release_and_the_record(attack):
    """Up to the guesses no column but those of RELEASED and RECORD is read; `truth` joins only to judge them."""
    query = sqlglot.parse_one(attack, read="duckdb")
    steps = {cte.alias: cte.this for cte in query.args["with_"].expressions}
    allowed = {**RELEASED, **RECORD}
    for name, step in steps.items():
        tables = {table.name for table in step.find_all(exp.Table)}
        if name == "judged":
            assert tables == {"guesses", "truth"}
            continue
        assert "truth" not in tables
        if name == "truth":
            continue
        assert tables <= allowed.keys() | steps.keys(), name
        aliases = {table.alias_or_name: table.name for table in step.find_all(exp.Table)}
        assert not [star for star in step.find_all(exp.Star)
                    if not isinstance(star.parent, exp.Count) and tables & allowed.keys()], name
        for column in step.find_all(exp.Column):
            assert column.table or len(tables) == 1, f"{name}: whose is {column.name}?"
            source = aliases.get(column.table) if column.table else min(tables)
            assert column.name in allowed.get(source, {column.name}), f"{name} reads {source}.{column.name}"


def seed(name):
    """Rows of a seed as dictionaries."""
    with (ROOT / "seeds" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def matching(connection, text, pattern):
    return connection.execute("select regexp_matches(?, ?)", [text, pattern]).fetchone()[0]


def test_every_identifier_pattern_has_an_example():
    with duckdb.connect() as connection:
        unseen = [row["pattern_name"] for row in seed("identifier_patterns")
                  if not any(matching(connection, text, row["pattern"]) for text in patient.IDENTIFIERS)]
    assert unseen == []


def test_no_identifier_pattern_matches_a_title_of_the_code_lists(shared_dir):
    files = [*(shared_dir / "data/kb-open/icd").glob("icd10cm-codes-*.txt"),
             *(shared_dir / "data/kb-open/icd").glob("CMS32_DESC_LONG_*.txt")]
    titles = [line.split(None, 1)[1].strip() for path in files
              for line in path.read_text(encoding="latin-1").splitlines() if " " in line]
    assert len(titles) > 80_000
    with duckdb.connect() as connection:
        connection.execute("create table titles as select unnest(?) as title", [titles])
        for row in seed("identifier_patterns"):
            hits = connection.execute(
                "select title from titles where regexp_matches(title, ?) limit 3", [row["pattern"]]).fetchall()
            assert hits == [], row["pattern_name"]


def test_patient_halves_are_made_of_persons():
    """A half of anything else (patient, visit, template) could divide a person between two halves."""
    arguments = [
        (path.name, argument.strip())
        for folder in ("models", "macros", "tests")
        for path in sorted((ROOT / folder).rglob("*.sql"))
        for argument in re.findall(r"{{ *patient_half\(([^)]*)\)", path.read_text(encoding="utf-8"))
    ]
    wrong = [pair for pair in arguments if not re.fullmatch(r"""['"]([a-z_0-9]+\.)?person_group['"]""", pair[1])]
    assert wrong == []
