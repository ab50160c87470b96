"""Each dbt test of tests/benchmark stays green on a sound benchmark and turns red on a broken one."""

import duckdb
import pytest

# A sound benchmark of one template: item i4 with four options, its open-ended twin, all tables that
# the tests read. `T` rows are triples; the answer is option b at letter B.
SOUND = """
create table fct_triple_verdicts as select * from (values
    ('t1', 'open', 'accepted'), ('t2', 'open', 'accepted'), ('t3', 'open', 'rejected'),
    ('t4', 'open', 'accepted'), ('t1', 'sound', 'rejected')) as v(triple_id, policy, verdict);
create table fct_triple_proposals as select * from (values
    ('t1', 'kb_rules'), ('t1', 'all_pairs'), ('t2', 'kb_rules'), ('t4', 'all_pairs'))
    as v(triple_id, generator);
create table int_template_attrition as select * from (values
    ('t1', null, null, 2, 1), ('t2', 'template', 'answer_in_scenario', 0, 0))
    as v(triple_id, step, reason, n_items, n_items_alike);
create table fct_templates as select * from (values
    ('k1', 't1', 'px', 'patient', 'gout', 'ans', 'C0000002', 'acute'))
    as v(template_key, triple_id, task, patient_key, subject_event_key, answer_event_key, answer_cui,
        onset_class);
create table int_rendered_items as select * from (values
    ('r1', 'i4', true), ('r2', 'io', true), ('r3', 'io', false)) as v(item_key, item_id, is_kept);
create table dim_items as select * from (values
    ('i4', 'k1', 's', 'px', 'mcq', 4, 1, '- Diagnosis: Gout', 'Which?', true, true, false),
    ('io', 'k1', 's', 'px', 'oeq', null, 1, '- Diagnosis: Gout', 'What?', true, false, false))
    as v(item_id, template_key, source, task, format, n_options, variant, scenario, question,
        released, in_subset, context_critical);
create table fct_item_options as select * from (values
    ('i4', 'A', 'a', 'Sepsis', 'C0000001', 'diagnosis'),
    ('i4', 'B', 'b', 'Asthma', 'C0000002', 'diagnosis'),
    ('i4', 'C', 'c', 'Ileus', 'C0000003', 'diagnosis'),
    ('i4', 'D', 'd', 'Stroke', 'C0000004', 'diagnosis'))
    as v(item_id, option_letter, option_key, label, cui, event_type);
create table fct_answer_keys as select * from (values
    ('i4', 'B', 'b', 'C0000002', 'Asthma'), ('io', null, 'b', 'C0000002', 'Asthma'))
    as v(item_id, gold_letter, gold_option_key, gold_cui, gold_label);
create table rpt_exposure as select * from (values (500, 0.01), (20, 0.4))
    as v(n_pool_answers, share_difference);
create table onset_classes as select * from (values
    ('ICD10CM', 'I', 'I', 1), ('ICD10CM', 'I21', 'I24', 2), ('ICD10CM', 'I26', 'I26', 2),
    ('ICD9CM', 'I22', 'I23', 2)) as v(code_system, code_from, code_to, specificity);
create table fct_prompts as
select
    concat('p', item_id) as prompt_key,
    item_id,
    'standard' as arm,
    cast(json_array(json_object('role', 'system', 'content', 'Sys'), json_object('role', 'user',
        'content', concat('Record: ', scenario, chr(10), question))) as varchar) as messages
from dim_items;
"""

BROKEN = [
    ("assert_one_answer_per_item", "delete from fct_item_options where option_letter = 'D'"),
    ("assert_one_answer_per_item", "update fct_item_options set label = 'asthma' where option_letter = 'C'"),
    ("assert_one_answer_per_item", "update fct_item_options set cui = 'C0000002' where option_letter = 'C'"),
    ("assert_one_answer_per_item", "update fct_item_options set option_letter = 'E' where option_letter = 'D'"),
    ("assert_one_answer_per_item", "update fct_item_options set event_type = 'procedure' where option_key = 'd'"),
    ("assert_one_answer_per_item", "update fct_answer_keys set gold_letter = 'A' where item_id = 'i4'"),
    ("assert_one_answer_per_item", "update fct_answer_keys set gold_option_key = 'x' where item_id = 'i4'"),
    ("assert_one_answer_per_item", "delete from fct_answer_keys"),
    ("assert_one_answer_per_item", "delete from fct_item_options"),
    (
        "assert_stored_order_hides_answer",
        "create or replace table fct_item_options as "
        "select * from fct_item_options order by option_key <> 'b'",
    ),
    ("assert_templates_conserved", "delete from int_template_attrition where triple_id = 't2'"),
    ("assert_templates_conserved", "insert into int_template_attrition values ('t4', 'template', 'x', 0, 0)"),
    ("assert_templates_conserved", "insert into fct_templates(template_key) values ('k2')"),
    ("assert_templates_conserved", "insert into int_rendered_items values ('r4', 'iz', true)"),
    ("assert_templates_conserved", "delete from dim_items where item_id = 'io'"),
    ("assert_lost_templates_have_a_reason", "update int_template_attrition set reason = null"),
    ("assert_lost_templates_have_a_reason", "update int_template_attrition set n_items = 0"),
    ("assert_exposure_balanced", "update rpt_exposure set share_difference = -0.2"),
    ("assert_px_answers_have_an_onset_class", "update fct_templates set onset_class = null"),
    ("assert_onset_rules_do_not_overlap", "insert into onset_classes values ('ICD10CM', 'I23', 'I25', 2)"),
    ("assert_onset_rules_do_not_overlap", "insert into onset_classes values ('ICD10CM', 'I5', 'I50', 2)"),
    (
        "assert_subset_is_one_wording_per_template",
        "insert into dim_items select * replace ('i5' as item_id, 2 as variant) from dim_items where in_subset",
    ),
    (
        "assert_subset_is_one_wording_per_template",
        "insert into dim_items select * replace ('i5' as item_id) from dim_items where in_subset",
    ),
    (
        "assert_subset_is_one_wording_per_template",
        "insert into dim_items select items.* replace (concat('k', range) as template_key) "
        "from dim_items as items, range(10000) where in_subset",
    ),
    ("assert_prompts_match_released_items", "delete from fct_prompts where item_id = 'i4'"),
    ("assert_prompts_match_released_items", "insert into fct_prompts select * from fct_prompts"),
    ("assert_prompts_match_released_items", "update dim_items set released = false where item_id = 'io'"),
    ("assert_prompts_match_released_items", "update fct_prompts set messages = '[]'"),
    ("assert_prompts_match_released_items", "update dim_items set question = 'Other?'"),
]


@pytest.fixture(scope="module")
def benchmark_tests(manifest, unqualified):
    """Name -> compiled SQL of the singular tests of tests/benchmark, tables unqualified."""
    return {
        node["name"]: unqualified[node["name"]]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "test" and node["original_file_path"].startswith("tests/benchmark/")
    }


def found(sql, *changes):
    """Rows that a test returns on the sound benchmark after some changes."""
    with duckdb.connect() as connection:
        for statement in (SOUND, *changes):
            connection.execute(statement)
        return connection.execute(sql).fetchall()


def test_every_benchmark_test_has_a_broken_case(benchmark_tests):
    assert benchmark_tests.keys() == {name for name, _ in BROKEN}


@pytest.mark.parametrize("name", sorted({name for name, _ in BROKEN}))
def test_green_on_a_sound_benchmark(benchmark_tests, name):
    assert found(benchmark_tests[name]) == []


@pytest.mark.parametrize(("name", "change"), BROKEN)
def test_red_on_a_broken_benchmark(benchmark_tests, name, change):
    assert found(benchmark_tests[name], change)
