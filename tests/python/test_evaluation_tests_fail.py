"""Each singular test of tests/evaluation goes red on a broken fixture and green on a sound one.

The tests' own SQL runs in DuckDB over tiny tables named as the models.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import duckdb
import jinja2
import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "evaluation"
VARS = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))["vars"]


def compiled(name: str) -> str:
    """SQL of a singular test with `ref` as the bare name and vars from dbt_project.yml."""
    (file,) = FOLDER.rglob(f"{name}.sql")
    environment = jinja2.Environment()
    environment.globals.update(
        ref=lambda model: model,
        var=lambda key, default=None: VARS.get(key, default),
        config=lambda **_: "",
        target=SimpleNamespace(name="synthetic"),
    )
    return environment.from_string(file.read_text("utf-8")).render()


SOUND = """
create table models as
    select 'm' as model, 'vllm' as engine, '{"json":{},"choice":{}}' as sampling
    union all select 'random', 'sql', '{"choice":{}}';
create table run_plan as select * from (values
    ('synthetic', 'm', 'generator', 'extraction', 'json', null, 1, 1, true),
    ('synthetic', 'm', 'answerer', 'answers', 'choice', 'standard', 1, 2, true),
    ('synthetic', 'm', 'answerer', 'answers', 'choice', 'shuffled', 1, 1, true),
    ('synthetic', 'random', 'answerer', 'answers', 'choice', null, 1, null, true),
    ('full', 'm', 'answerer', 'answers', 'free', 'standard', 1, null, false)
) as v (target, model, role, stage, mode, arm, repetition, max_requests, enabled);
create table fct_requests as select * from (values
    ('e1', 'extraction', 'm', 'json', null, 1), ('a1', 'answers', 'm', 'choice', 'standard', 1),
    ('a2', 'answers', 'm', 'choice', 'standard', 1),
    ('s1', 'answers', 'm', 'choice', 'shuffled', 1),
    ('b1', 'answers', 'random', 'choice', 'standard', 1),
    ('b2', 'answers', 'random', 'choice', 'standard', 1),
    ('b3', 'answers', 'random', 'choice', 'standard', 1)
) as v (request_key, stage, model, mode, arm, repetition);
create table int_answer_prompts as select * from (values
    ('p1', 'standard', 'dx'), ('p2', 'standard', 'tx'), ('p3', 'standard', 'dx'),
    ('p4', 'shuffled', 'dx')) as v (prompt_key, arm, task);
create table int_answer_requests as select * from (values
    ('a1', 'm', 'choice', 'standard', 1, 'dx'), ('a2', 'm', 'choice', 'standard', 1, 'tx'),
    ('s1', 'm', 'choice', 'shuffled', 1, 'dx'),
    ('b1', 'random', 'choice', 'standard', 1, 'dx'),
    ('b2', 'random', 'choice', 'standard', 1, 'tx'),
    ('b3', 'random', 'choice', 'standard', 1, 'dx')
) as v (request_key, model, mode, arm, repetition, task);
create table int_requests_pending as
    select 'e1' as request_key, 'extraction' as stage, 'm' as model, 'json' as mode,
        null::varchar as arm
    union all select 's1', 'answers', 'm', 'choice', 'shuffled';
create table rpt_missing_completions as select * from (values
    ('extraction', 'm', 'json', 'none', 'missing', 1),
    ('answers', 'm', 'choice', 'standard', 'done', 1),
    ('answers', 'm', 'choice', 'standard', 'failed', 1),
    ('answers', 'm', 'choice', 'shuffled', 'missing', 1),
    ('answers', 'random', 'choice', 'standard', 'done', 3),
    ('answers', 'm', 'choice', 'standard', 'not_planned', 9),
    ('answers', 'm', 'any', 'any', 'orphaned', 9)
) as v (stage, model, mode, arm, status, n);
create table dim_items as select 'i1' as item_id, 't1' as template_key, 'mcq' as format,
    'Which?' as question, true as released, true as in_subset;
create table int_templates as select 't1' as template_key, 'e1' as subject_event_key;
create table int_template_scenario as select * from (values
    ('t1', 'e1', '- Gout'), ('t1', 'e2', '- Ileus')) as v (template_key, event_key, line);
create table fct_prompts as
    select 'i1' as item_id, arm, cast(json_array(json_object('content', 'Sys'),
        json_object('content', concat('Record:', chr(10), shown, chr(10), 'Which?'))) as varchar)
        as messages
    from (values ('standard', '- Gout' || chr(10) || '- Ileus' || chr(10)), ('choices_only', ''),
        ('shuffled', '- Stroke' || chr(10) || '- Ileus' || chr(10)),
        ('no_context', '- Gout' || chr(10)), ('no_subject', '- Ileus' || chr(10))) as v (arm, shown);
create table fct_responses as select
    'a1' as request_key, 'i1' as item_id, 'B' as parsed_letter, 'parsed' as parse_status,
    0.1 as p_a, 0.9 as p_b, null::decimal as p_c, null::decimal as p_d, null::decimal as p_e,
    null::decimal as p_f;
create table fct_item_options as select * from (values
    ('i1', 'A'), ('i1', 'B')) as v (item_id, option_letter);
create table fct_scores as select * from (values
    ('m', 'choice', 'standard', 'iv'), ('random', 'choice', 'standard', 'iv'),
    ('random', 'choice', 'standard', 'site'), ('random', 'choice', 'choices_only', 'iv'),
    ('random', 'choice', 'standard', 'copy'), ('only', 'choice', 'standard', 'copy')
) as v (model, mode, arm, source);
create table source_overlaps as select * from (values
    ('iv', null), ('copy', 'iv'), ('site', 'absent')) as v (source, derived_from);
create table rpt_accuracy as select * from (values
    ('all', 'm', 'choice', 'dx', 4, 1, 1.0, null, null, 0.25),
    ('iv', 'm', 'choice', 'dx', 4, 1, 1.0, null, null, 0.25),
    ('all', 'random', 'choice', 'dx', 4, 2, 0.5, 0.1, 0.9, 0.25),
    ('iv', 'random', 'choice', 'dx', 4, 1, 0.5, 0.1, 0.9, 0.25),
    ('site', 'random', 'choice', 'dx', 4, 1, 0.5, 0.1, 0.9, 0.25),
    ('copy', 'random', 'choice', 'dx', 4, 1, 0.5, 0.1, 0.9, 0.25),
    ('copy', 'only', 'choice', 'dx', 4, 1, 1.0, null, null, 0.25)
) as v (source, model, mode, task, n_options, n, accuracy, accuracy_low, accuracy_high, chance);
create table rpt_leaderboard as select * from (values
    ('m', 'choice', 1, 2, 1, 0, 0, 1.0, null, null, 1.0, null, null, null, null, null,
     null::decimal, null::decimal, null::decimal),
    ('only', 'choice', 0, 0, 0, 0, 0, null, null, null, null, null, null, null, null, null, null,
     null, null),
    ('random', 'choice', 2, 3, 1, 1, 0, 0.5, 0.1, 0.9, 1.0, 0.2, 1.0, 0.0, 0.0, 0.5, null, null,
     null)
) as v (model, mode, n, n_asked, n_dx, n_tx, n_px, overall, overall_low, overall_high,
    dx, dx_low, dx_high, tx, tx_low, tx_high, px, px_low, px_high);
"""
for _figure in ("acc_4", "acc_5", "acc_6", "parse_failure_rate"):
    for _end in ("", "_low", "_high"):
        SOUND += f"alter table rpt_leaderboard add column {_figure}{_end} decimal(9, 6);\n"

# test, what breaks it
BROKEN = [
    ("assert_plan_modes_have_sampling", "update run_plan set mode = 'free' where model = 'random'"),
    ("assert_plan_modes_have_sampling", "delete from models where model = 'm'"),
    ("assert_plan_roles_match_stages", "update run_plan set role = 'answerer' where mode = 'json'"),
    ("assert_plan_roles_match_stages", "update run_plan set mode = 'json' where model = 'random'"),
    (
        "assert_plan_roles_match_stages",
        "update run_plan set role = 'generator', stage = 'extraction', mode = 'json' "
        "where model = 'random'",
    ),
    (
        "assert_requests_stay_within_the_plan",
        "insert into fct_requests values ('a3', 'answers', 'm', 'choice', 'standard', 1)",
    ),
    (
        "assert_requests_stay_within_the_plan",
        "insert into fct_requests values ('x', 'answers', 'm', 'free', 'standard', 1)",
    ),
    ("assert_requests_stay_within_the_plan", "update run_plan set enabled = false"),
    (
        "assert_requests_stay_within_the_plan",
        "insert into fct_requests values ('x', 'answers', 'm', 'choice', 'no_context', 1)",
    ),
    (
        "assert_requests_stay_within_the_plan",
        "insert into fct_requests values ('s2', 'answers', 'm', 'choice', 'shuffled', 1)",
    ),
    (
        "assert_capped_plans_ask_every_task",
        "update int_answer_requests set task = 'dx' where model = 'm'",
    ),
    (
        "assert_capped_plans_ask_every_task",
        "update int_answer_prompts set task = 'tx' where arm = 'shuffled'",
    ),
    ("assert_arms_show_what_they_should", "update dim_items set in_subset = false"),
    ("assert_arms_show_what_they_should", "update dim_items set released = false"),
    ("assert_arms_show_what_they_should", "update dim_items set question = 'Why?'"),
    *(
        (
            "assert_arms_show_what_they_should",
            "update fct_prompts set messages = "
            f"replace(messages, '{old}', '{new}') where arm = '{arm}'",
        )
        for arm, old, new in (
            ("choices_only", "Record:", "Record:\\n- Gout"),
            ("shuffled", "- Stroke", "- Gout"),
            ("no_context", "- Gout", "- Gout\\n- Ileus"),
            ("no_context", "- Gout", "- Ileus"),
            ("no_subject", "- Ileus", "- Gout"),
            ("no_subject", "- Ileus", "- Stroke"),
        )
    ),
    ("assert_pending_are_the_missing", "delete from int_requests_pending"),
    ("assert_pending_are_the_missing", "delete from rpt_missing_completions where n = 1"),
    ("assert_pending_are_the_missing", "update int_requests_pending set arm = 'standard'"),
    ("assert_parsed_letters_are_options", "update fct_responses set parsed_letter = 'C'"),
    ("assert_letter_only_when_parsed", "update fct_responses set parse_status = 'unparsed'"),
    ("assert_letter_only_when_parsed", "update fct_responses set parsed_letter = null"),
    ("assert_option_probabilities_sum_to_one", "update fct_responses set p_a = 0.2"),
    (
        "assert_missing_completions_cover_requests",
        "delete from rpt_missing_completions where status = 'failed'",
    ),
    (
        "assert_missing_completions_cover_requests",
        "insert into fct_requests values ('z', 'answers', 'new', 'choice', 'standard', 1)",
    ),
    (
        "assert_missing_completions_cover_requests",
        "update fct_requests set arm = 'no_context' where arm = 'shuffled'",
    ),
    ("assert_overall_is_the_mean_of_tasks", "update rpt_leaderboard set overall = 0.51"),
    (
        "assert_overall_is_the_mean_of_tasks",
        "update rpt_leaderboard set overall = null where model = 'm'",
    ),
    ("assert_intervals_hold_their_figure", "update rpt_accuracy set accuracy_low = 0.6"),
    ("assert_intervals_hold_their_figure", "update rpt_leaderboard set tx_high = null"),
    ("assert_intervals_hold_their_figure", "update rpt_leaderboard set px_low = 0, px_high = 1"),
    ("assert_reports_count_every_score", "delete from fct_scores where model = 'm'"),
    ("assert_reports_count_every_score", "delete from rpt_leaderboard where model = 'm'"),
    ("assert_reports_count_every_score", "update rpt_accuracy set n = 3"),
    ("assert_reports_count_every_score", "update rpt_leaderboard set n_asked = 0"),
    ("assert_reports_count_every_score", "delete from rpt_accuracy where source = 'copy'"),
    ("assert_reports_count_every_score", "update rpt_accuracy set n = 2 where source = 'site'"),
    (
        "assert_reports_count_every_score",
        "update source_overlaps set derived_from = null where source = 'copy'",
    ),
    (
        "assert_reports_count_every_score",
        "update rpt_leaderboard set n = 3, n_dx = 2 where model = 'random'",
    ),
    ("assert_reports_count_every_score", "update rpt_leaderboard set n_px = 5"),
    ("assert_random_baseline_is_at_chance", "update rpt_accuracy set n = 1000"),
]


def found(name: str, breakage: str = "") -> list[tuple]:
    with duckdb.connect() as connection:
        connection.execute(SOUND)
        if breakage:
            connection.execute(breakage)
        return connection.execute(compiled(name)).fetchall()


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.rglob("*.sql")))
def test_green_when_sound(name: str) -> None:
    assert found(name) == []


@pytest.mark.parametrize(("name", "breakage"), BROKEN)
def test_red_when_broken(name: str, breakage: str) -> None:
    assert found(name, breakage)


def test_every_test_is_broken_once() -> None:
    assert {name for name, _ in BROKEN} == {file.stem for file in FOLDER.rglob("*.sql")}
