"""The singular tests of the extraction layer pass on a sound world and fail on each broken one."""

from pathlib import Path

import duckdb
import jinja2
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
MACROS = ("icd_category",)

WORLD = """
create table dim_visits as select * from (values
    ('v1', 'a', 'inpatient', timestamp '2150-01-01', timestamp '2150-01-05'),
    ('v2', 'a', 'inpatient', timestamp '2150-03-01', timestamp '2150-03-05'),
    ('w1', 'b', 'inpatient', timestamp '2150-02-01', timestamp '2150-02-05')
) t (visit_key, patient_key, visit_class, admitted_at, discharged_at);

create table fct_visit_events as select * from (values
    ('d1', 'v1', 'diagnosis', 'ICD10CM', 'I50.9', false, false),
    ('d2', 'v1', 'diagnosis', 'ICD10CM', 'E11.9', false, false),
    ('d3', 'v1', 'diagnosis', 'ICD10CM', 'I50.1', false, false),
    ('d4', 'v1', 'diagnosis', 'ICD10CM', 'J44.9', false, false),
    ('d5', 'v1', 'diagnosis', 'ICD10CM', 'K21.9', false, false),
    ('d6', 'v1', 'diagnosis', 'ICD10CM', 'T82.7', false, true),
    ('z1', 'v1', 'diagnosis', 'ICD10CM', 'Z79.4', true, false),
    ('m1', 'v1', 'medication', 'INGREDIENT', 'C0000050', false, false),
    ('n1', 'v2', 'diagnosis', 'ICD10CM', 'N17.9', false, false),
    ('x1', 'w1', 'diagnosis', 'ICD10CM', 'A41.9', false, false)
) t (event_key, visit_key, event_type, code_system, normalized_code, is_status_code, is_hindsight);

create table brg_event_concepts as select * from (values
    ('d1', 1, 'exact'), ('d2', 2, 'exact'), ('d3', 3, 'exact'), ('d4', 4, 'exact'),
    ('d5', 1, 'exact'), ('m1', 50, 'exact'), ('n1', 7, 'exact'), ('x1', 8, 'exact')
) t (event_key, cui_id, mapping_level);

create table int_concept_relatives as select * from (values (1, 4)) t (cui_id, relative_cui_id);

create table relations as
select * from read_csv('{seeds}/relations.csv', header = true, all_varchar = true);
create table extraction_roles as
select * replace (cast(max_offered as integer) as max_offered)
from read_csv('{seeds}/extraction_roles.csv', header = true, all_varchar = true);

create table fct_triples as select * from (values
    ('t_dx', 'dx', 'v1', null, 'a', 'd2', 'coexists_with', 'd1', 'C0000002', 'C0000001'),
    ('t_tx', 'tx', 'v1', null, 'a', 'd1', 'treat_with', 'm1', 'C0000001', 'C0000050'),
    ('t_px', 'px', 'v1', 'v2', 'a', 'd1', 'causes', 'n1', 'C0000001', 'C0000007'),
    ('t_null', 'dx', 'v1', null, 'a', 'd1', 'causes', 'x1', 'C0000001', 'C0000008')
) t (triple_id, task, visit_key, target_visit_key, patient_key, subject_event_key, relation,
     object_event_key, subject_cui, object_cui);

create table fct_triple_events as
select triple_id, 'subject' as role, 1 as position, subject_event_key as event_key from fct_triples
union all
select triple_id, 'object', 1, object_event_key from fct_triples
union all
select * from (values ('t_tx', 'context', 1, 'd2'), ('t_px', 'context', 1, 'd4')) t;

create table fct_triple_proposals as select * from (values
    ('t_dx', 'kb_rules'), ('t_tx', 'kb_rules'), ('t_px', 'm'), ('t_null', 'shuffled_visits')
) t (triple_id, generator);

create table int_extraction_requests as select unnest(['r1', 'r2', 'r3']) as request_key;
create table int_completions_latest as
select unnest(['r1', 'r2', 'r3', 'other']) as request_key, 'extraction' as stage;
create table int_extraction_replies as select * from (values
    ('r1', 'parsed', 2), ('r2', 'not_json', 0), ('r3', 'parsed', 0)
) t (request_key, reply_status, n_triples);
create table int_extraction_rejects as select * from (values
    ('r1', 'duplicate', 1), ('r2', 'not_json', 1)
) t (request_key, reason, n);

create table int_extraction_proposals as
select
    case when n = 0 then 'm' else 'kb_rules' end as generator,
    case when n = 0 then 'r1' end as request_key,
    'tx' as task, 'v1' as visit_key, cast(null as varchar) as target_visit_key,
    'd1' as subject_event_key, 'treat_with' as relation, 'm1' as object_event_key
from range({kb_rules_per_visit} + 1) t (n);

create table int_task_events as
select
    'v1' as visit_key, cast(null as varchar) as target_visit_key, 'dx' as prompt_task,
    'e' || n as event_key, 'diagnosis' as event_type, 'both' as role_allowed,
    n <= {max_offered_events} as is_offered,
    case when n <= {max_offered_events} then n end as event_number
from range(1, {max_offered_events} + 3) t (n);
"""

BROKEN = {
    "assert_px_target_after_index": [
        "update fct_triples set target_visit_key = 'v1' where task = 'px'",
        "update fct_triples set target_visit_key = null where task = 'px'",
        "update fct_triples set target_visit_key = 'w1' where task = 'px'",
        "update fct_triples set target_visit_key = 'v2' where triple_id = 't_dx'",
        "update dim_visits set admitted_at = timestamp '2150-01-05' where visit_key = 'v2'",
        "update dim_visits set admitted_at = timestamp '2152-01-05' where visit_key = 'v2'",
        "update dim_visits set visit_class = 'observation' where visit_key = 'v2'",
        "update dim_visits set visit_class = 'emergency' where visit_key = 'v1'",
        "update dim_visits set discharged_at = null where visit_key = 'v1'",
        "delete from dim_visits where visit_key = 'v2'",
    ],
    "assert_triples_grounded": [
        "update fct_triple_events set event_key = 'n1' where role = 'subject'",
        "update fct_triple_events set event_key = 'n1' where role = 'context'",
        "update fct_triple_events set event_key = 'd2' where event_key = 'n1'",
        "update fct_triple_events set event_key = 'x1' where event_key = 'm1'",
        "update fct_triple_events set event_key = 'd4' where triple_id = 't_null'",
        "update fct_triple_events set event_key = 'nowhere' where role = 'object'",
        "delete from fct_triple_events where triple_id = 't_dx'",
        "delete from fct_triple_proposals where triple_id = 't_dx'",
        "insert into fct_triple_proposals values ('t_null', 'm')",
    ],
    "assert_context_hides_object": [
        "insert into fct_triple_events values ('t_dx', 'context', 1, 'd1')",
        "insert into fct_triple_events values ('t_dx', 'context', 1, 'd2')",
        "insert into fct_triple_events values ('t_dx', 'context', 1, 'd3')",
        "insert into fct_triple_events values ('t_dx', 'context', 1, 'd4')",
        "insert into fct_triple_events values ('t_dx', 'context', 1, 'd5')",
        "insert into fct_triple_events values ('t_dx', 'context', 1, 'z1')",
        "insert into fct_triple_events values ('t_tx', 'context', 2, 'd6')",
    ],
    "assert_replies_conserved": [
        "delete from int_extraction_replies where request_key = 'r1'",
        "delete from int_extraction_replies where request_key = 'r2'",
        "delete from int_extraction_replies where request_key = 'r3'",
        "delete from int_extraction_rejects where request_key = 'r1'",
        "delete from int_extraction_rejects where request_key = 'r2'",
        "delete from int_extraction_proposals where request_key = 'r1'",
        "insert into int_extraction_rejects values ('r3', 'same_event', 1)",
        "insert into int_extraction_rejects values ('unknown', 'same_event', 1)",
        "update int_extraction_replies set n_triples = 3 where request_key = 'r1'",
    ],
    "assert_offered_events_capped": [
        "update int_task_events set event_number = 2 where event_number = 1",
        "update int_task_events set event_number = event_number + 1",
        "update int_task_events set is_offered = true, event_number = {n} where event_key = 'e{n}'",
        "update int_task_events set role_allowed = 'object'",
    ],
    "assert_generators_capped": [
        "insert into int_extraction_proposals select * from int_extraction_proposals",
        "insert into int_extraction_proposals select * replace ('shuffled_visits' as generator)"
        " from int_extraction_proposals",
    ],
    "assert_relation_fits_types": [
        "update fct_triples set relation = 'causes' where task = 'tx'",
        "update fct_triples set relation = 'adverse_of' where task = 'px'",
        "update fct_triples set relation = 'cures' where task = 'dx'",
        "update fct_triples set object_event_key = 'z1' where triple_id = 't_dx'",
        "update fct_triples set subject_event_key = 'z1' where triple_id = 't_tx'",
        "update fct_triples set object_cui = subject_cui where triple_id = 't_dx'",
        "update fct_triples set object_event_key = 'nowhere' where triple_id = 't_dx'",
    ],
}


def project_vars() -> dict:
    """Vars of dbt_project.yml by name."""
    return yaml.safe_load((ROOT / "dbt_project.yml").read_text())["vars"]


def rendered(test_name: str) -> str:
    """SQL of a singular test with refs as plain table names."""
    macros = "".join((ROOT / "macros" / f"{name}.sql").read_text() for name in MACROS)
    source = (ROOT / "tests" / "extraction" / f"{test_name}.sql").read_text()
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    return environment.from_string(macros + source).render(
        ref=lambda name: name, var=lambda name: project_vars()[name]
    )


def world() -> duckdb.DuckDBPyConnection:
    """A small sound world in memory."""
    connection = duckdb.connect()
    connection.execute(WORLD.format(seeds=ROOT / "seeds", **project_vars()))
    return connection


def failures(connection: duckdb.DuckDBPyConnection, test_name: str) -> int:
    """Number of rows that the test returns."""
    return len(connection.execute(rendered(test_name)).fetchall())


def test_every_singular_test_has_broken_worlds():
    names = {path.stem for path in (ROOT / "tests" / "extraction").glob("assert_*.sql")}
    assert names == set(BROKEN)


@pytest.mark.parametrize("test_name", sorted(BROKEN))
def test_sound_world_passes(test_name):
    assert failures(world(), test_name) == 0


@pytest.mark.parametrize(
    ("test_name", "mutation"),
    [(name, mutation) for name, mutations in sorted(BROKEN.items()) for mutation in mutations],
)
def test_broken_world_fails(test_name, mutation):
    connection = world()
    connection.execute(mutation.format(n=project_vars()["max_offered_events"] + 1))
    assert failures(connection, test_name) > 0
