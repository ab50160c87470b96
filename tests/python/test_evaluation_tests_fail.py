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
    macros = (ROOT / "macros" / "render_label.sql").read_text("utf-8")
    return environment.from_string(macros + file.read_text("utf-8")).render()


SOUND = """
create table models as select * from (values
    ('m', 'vllm', '{"json":{},"choice":{},"free":{},"free_choice":{}}', 'org/m'),
    ('random', 'sql', '{"choice":{}}', null), ('v-nearest', 'sql', '{"choice":{}}', 'v')
) as v (model, engine, sampling, weights);
create table run_plan as select * from (values
    ('synthetic', 'm', 'generator', 'extraction', 'json', null, null, 1, 1, true),
    ('synthetic', 'm', 'answerer', 'answers', 'choice', null, 'standard', 1, 2, true),
    ('synthetic', 'm', 'answerer', 'answers', 'choice', null, 'shuffled', 1, 1, true),
    ('synthetic', 'm', 'answerer', 'answers', 'free', 'oeq', 'standard', 1, 1, true),
    ('synthetic', 'm', 'answerer', 'answers', 'free', null, 'idk', 1, 3, true),
    ('synthetic', 'm', 'answerer', 'answers', 'free_choice', 'mcq', 'idk', 1, 3, true),
    ('synthetic', 'random', 'answerer', 'answers', 'choice', null, null, 1, null, true),
    ('full', 'm', 'answerer', 'answers', 'free', null, 'standard', 1, null, false)
) as v (target, model, role, stage, mode, format, arm, repetition, max_requests, enabled);
create table prompt_arms as select * from (values
    ('standard', 'own', 'own', false, null), ('choices_only', 'hidden', 'own', false, null),
    ('shuffled', 'shuffled', 'own', false, null), ('no_context', 'subject', 'own', false, null),
    ('no_subject', 'context', 'own', false, null), ('idk', 'own', 'own', true, null),
    ('cloze', 'own', 'unlisted', false, null), ('context_2', 'context_2', 'own', false, 2)
) as v (arm, scenario, options, has_abstention, n_context);
create table fct_requests as select * from (values
    ('e1', 'extraction', 'm', 'json', null, null, 1),
    ('a1', 'answers', 'm', 'choice', 'mcq', 'standard', 1),
    ('a2', 'answers', 'm', 'choice', 'mcq', 'standard', 1),
    ('o1', 'answers', 'm', 'free', 'oeq', 'standard', 1),
    ('s1', 'answers', 'm', 'choice', 'mcq', 'shuffled', 1),
    ('b1', 'answers', 'random', 'choice', 'mcq', 'standard', 1),
    ('b2', 'answers', 'random', 'choice', 'mcq', 'standard', 1),
    ('b3', 'answers', 'random', 'choice', 'mcq', 'standard', 1)
) as v (request_key, stage, model, mode, format, arm, repetition);
create table int_answer_prompts as select * from (values
    ('p1', 'mcq', 'standard', 'dx'), ('p2', 'mcq', 'standard', 'tx'),
    ('p3', 'mcq', 'standard', 'dx'), ('p4', 'mcq', 'shuffled', 'dx'),
    ('o1', 'oeq', 'standard', 'dx')) as v (prompt_key, format, arm, task);
create table int_answer_plan as select * from (values
    ('a1', 'm', 'choice', 'mcq', 'standard', 1, 'dx'),
    ('a2', 'm', 'choice', 'mcq', 'standard', 1, 'tx'),
    ('o1', 'm', 'free', 'oeq', 'standard', 1, 'dx'),
    ('s1', 'm', 'choice', 'mcq', 'shuffled', 1, 'dx'),
    ('b1', 'random', 'choice', 'mcq', 'standard', 1, 'dx'),
    ('b2', 'random', 'choice', 'mcq', 'standard', 1, 'tx'),
    ('b3', 'random', 'choice', 'mcq', 'standard', 1, 'dx')
) as v (request_key, model, mode, format, arm, repetition, task);
create table int_answer_requests as
    select request_key, model, case when model = 'm' then 'vllm' else 'sql' end as engine
    from int_answer_plan
    union all select 'n1', 'v-nearest', 'sql';
create table int_baseline_completions as
    select request_key from int_answer_requests where model = 'random';
create table rpt_source_consistency as select * from (values
    ('m', 'choice', 'iv', 'site', 0.02, 0.4, 'estimable', false),
    ('random', 'choice', 'iv', 'site', 0.2, 0.0, 'estimable', true),
    ('m', 'choice', 'iv', 'copy', null, 0.0, 'not_assessed', false)
) as v (model, mode, first_source, second_source, difference, p_holm, status, is_baseline);
create table int_requests_pending as
    select 'e1' as request_key, 'extraction' as stage, 'm' as model, 'json' as mode,
        null::varchar as arm
    union all select 's1', 'answers', 'm', 'choice', 'shuffled';
create table rpt_missing_completions as select * from (values
    ('extraction', 'm', 'json', 'none', 'missing', 1),
    ('answers', 'm', 'choice', 'standard', 'done', 1),
    ('answers', 'm', 'choice', 'standard', 'failed', 1),
    ('answers', 'm', 'choice', 'shuffled', 'missing', 1),
    ('answers', 'm', 'free', 'standard', 'done', 1),
    ('answers', 'random', 'choice', 'standard', 'done', 3),
    ('answers', 'm', 'choice', 'standard', 'not_planned', 9),
    ('answers', 'm', 'any', 'any', 'orphaned', 9)
) as v (stage, model, mode, arm, status, n);
create table dim_items as select 'i1' as item_id, 't1' as template_key, 'mcq' as format,
    'dx' as task, 1 as variant, 'Which?' as question, true as released, true as in_subset;
create table int_question_texts as select 'dx' as task, 'mcq' as format, 1 as variant,
    'Which?' as question, 'What?' as question_unlisted;
create table int_templates as select 't1' as template_key, 'e1' as subject_event_key, 'x1' as triple_id;
create table int_template_forms as select * from (values
    ('t1', null), ('w1', 't1'), ('t2', null)) as v (template_key, of_template_key);
create table int_leak__l06_code_conventions as select * from (values
    ('t1', 'L06'), ('w1', 'L06')) as v (template_key, rule_id);
create table int_leaking_templates as select * from (values
    ('t1', 'L01'), ('w1', 'L01'), ('w1', 'L03'), ('t1', 'L32'), ('t2', 'L01')) as v (template_key, rule_id);
create table fct_triple_events as select * from (values
    ('x1', 'subject', 1, 'e1'), ('x1', 'context', 1, 'e2'), ('x1', 'context', 2, 'e3'),
    ('x1', 'context', 3, 'e4'), ('x1', 'object', 1, 'e5')) as v (triple_id, role, position, event_key);
create table fct_visit_events as select * from (values
    ('e1', 'Gout'), ('e2', 'Ileus'), ('e3', 'Cough'), ('e4', 'Fever'), ('e5', 'X')) as v (event_key, label);
create table int_template_scenario as select * from (values
    ('t1', 'e1', '- Gout'), ('t1', 'e2', '- Ileus')) as v (template_key, event_key, line);
create table fct_prompts as
    select 'i1' as item_id, arm, cast(json_array(json_object('content', 'Sys'),
        json_object('content', concat('Record:', chr(10), shown, chr(10),
            case when arm = 'cloze' then 'What?' else 'Which?' end, chr(10), listed))) as varchar) as messages, options
    from (values
        ('standard', '- Gout' || chr(10) || '- Ileus' || chr(10), 'B. X', null),
        ('choices_only', '', 'B. X', null),
        ('shuffled', '- Stroke' || chr(10) || '- Ileus' || chr(10), 'B. X', null),
        ('no_context', '- Gout' || chr(10), 'B. X', null),
        ('no_subject', '- Ileus' || chr(10), 'B. X', null),
        ('idk', '- Gout' || chr(10) || '- Ileus' || chr(10), 'B. X', null),
        ('context_2', array_to_string(['- Gout', '- Ileus', '- D: Gout', '- D: Ileus', '- D: Cough', ''], chr(10)),
            'B. X', null),
        ('cloze', '- Gout' || chr(10) || '- Ileus' || chr(10), 'Answer:', '["X"]')
    ) as v (arm, shown, listed, options);
create table fct_responses as select
    'a1' as request_key, 'i1' as item_id, 'standard' as arm, 'B' as parsed_letter,
    'parsed' as parse_status, 'kb' as chosen_option_key, 0 as abstained,
    0.1 as p_a, 0.9 as p_b, null::decimal as p_c, null::decimal as p_d, null::decimal as p_e,
    null::decimal as p_f, null::decimal as p_g
    union all select 's1', 'i1', 'idk', 'C', 'parsed', null, 1,
        0.1, 0.2, 0.7, null, null, null, null;
create table fct_item_options as select * from (values
    ('i1', 'A'), ('i1', 'B')) as v (item_id, option_letter);
create table int_arm_options as select * from (values
    ('i1', 'idk', 'A'), ('i1', 'idk', 'C')) as v (item_id, arm, option_letter);
alter table prompt_arms add column is_headline boolean;
update prompt_arms set is_headline = arm in ('standard', 'cloze');
create table fct_scores as select *, 1 as repetition from (values
    ('m', 'choice', 'standard', 'iv'), ('random', 'choice', 'standard', 'iv'),
    ('random', 'choice', 'standard', 'site'), ('random', 'choice', 'choices_only', 'iv'),
    ('random', 'choice', 'standard', 'copy'), ('only', 'choice', 'standard', 'copy'),
    ('worse', 'choice', 'standard', 'iv'), ('worse', 'choice', 'standard', 'site')
) as v (model, mode, arm, source);
insert into fct_scores values ('m', 'choice', 'standard', 'iv', 2);
create table source_overlaps as select * from (values
    ('iv', null), ('copy', 'iv'), ('site', 'absent')) as v (source, derived_from);
create table rpt_accuracy as select * from (values
    ('all', 'm', 'choice', 'dx', 4, 1, 1.0, null, null, 0.25),
    ('iv', 'm', 'choice', 'dx', 4, 1, 1.0, null, null, 0.25),
    ('all', 'random', 'choice', 'dx', 4, 2, 0.5, 0.1, 0.9, 0.25),
    ('iv', 'random', 'choice', 'dx', 4, 1, 0.5, 0.1, 0.9, 0.25),
    ('site', 'random', 'choice', 'dx', 4, 1, 0.5, 0.1, 0.9, 0.25),
    ('copy', 'random', 'choice', 'dx', 4, 1, 0.5, 0.1, 0.9, 0.25),
    ('copy', 'only', 'choice', 'dx', 4, 1, 1.0, null, null, 0.25),
    ('all', 'worse', 'choice', 'dx', 4, 2, 0.5, 0.1, 0.9, 0.25),
    ('iv', 'worse', 'choice', 'dx', 4, 1, 0.5, 0.1, 0.9, 0.25),
    ('site', 'worse', 'choice', 'dx', 4, 1, 0.5, 0.1, 0.9, 0.25)
) as v (source, model, mode, task, n_options, n, accuracy, accuracy_low, accuracy_high, chance);
alter table rpt_accuracy add column n_asked integer;
update rpt_accuracy set n_asked = case when source = 'all' then n + 1 else n end;
insert into rpt_accuracy values ('site', 'm', 'choice', 'dx', 4, 0, null, null, null, 0.25, 1);
create table rpt_leaderboard as select * from (values
    ('m', 'choice', 1, 2, 1, 0, 0, null::decimal(9, 6), null, 1.0, 0.2, 1.0, null, null, null,
     null::decimal(9, 6), null::decimal(9, 6), null::decimal(9, 6), null, null),
    ('only', 'choice', 0, 0, 0, 0, 0, null, null, null, null, null, null, null, null, null, null,
     null, null, null),
    ('random', 'choice', 2, 3, 1, 1, 0, 0.5, 0.1, 1.0, 0.2, 1.0, 0.0, 0.0, 0.5, null, null, null,
     1, 1),
    ('worse', 'choice', 2, 3, 1, 1, 0, 0.5, 0.1, 1.0, 0.2, 1.0, 0.0, 0.0, 0.5, null, null, null,
     2, 2)
) as v (model, mode, n, n_asked, n_dx, n_tx, n_px, overall, overall_low,
    dx, dx_low, dx_high, tx, tx_low, tx_high, px, px_low, px_high, rank, tier);
alter table rpt_leaderboard add column overall_high decimal(9, 6);
update rpt_leaderboard set overall_high = 0.9 where overall is not null;
create table rpt_model_differences as select * from (values
    ('choice', 'm', 'random', null, null, null), ('choice', 'random', 'worse', 0.1, -0.1, 0.3)
) as v (mode, first_model, second_model, difference, difference_low, difference_high);
create table rpt_calibration as select
    'm' as model, 'choice' as mode, 'standard' as arm, 'stated' as confidence_kind, 'all' as task;
create table rpt_power as select * from (values
    ('overall', 'assumed', 0.05, 0.06), ('overall', 'measured', null, 0.06),
    ('px', 'assumed', 0.09, 0.06)
) as v (scope, basis, detectable_difference, declared_difference);
"""
for _figure in ("acc_4", "acc_5", "acc_6", "parse_failure_rate", "chance_corrected", "valid_only",
                "average_rank", "icc_template"):
    for _end in ("", "_low", "_high"):
        SOUND += f"alter table rpt_leaderboard add column {_figure}{_end} decimal(9, 6);\n"
for _figure in ("mean_confidence", "accuracy", "overconfidence", "brier", "auroc", "ece"):
    for _end in ("", "_low", "_high"):
        SOUND += f"alter table rpt_calibration add column {_figure}{_end} decimal(9, 6);\n"
        SOUND += f"update rpt_calibration set {_figure}{_end} = {0.3 if not _end else int(_end == '_high')};\n"
for _end in ("_low", "_high"):
    SOUND += f"alter table rpt_leaderboard add column rank{_end} integer;\n"
SOUND += "update rpt_leaderboard set rank_low = rank, rank_high = rank;\n"

# test, what breaks it
BROKEN = [
    ("assert_plan_modes_have_sampling", "update run_plan set mode = 'free' where model = 'random'"),
    ("assert_plan_modes_match_arms", "update run_plan set mode = 'cloze' where arm = 'shuffled'"),
    ("assert_plan_modes_match_arms", "update run_plan set arm = 'cloze' where arm = 'shuffled'"),
    ("assert_plan_modes_match_arms", "update run_plan set format = 'oeq' where arm = 'shuffled'"),
    ("assert_plan_modes_match_arms", "update run_plan set max_requests = 2 where arm = 'idk' and mode = 'free'"),
    ("assert_plan_modes_match_arms", "delete from run_plan where arm = 'idk' and mode = 'free'"),
    ("assert_plan_modes_match_arms", "update run_plan set arm = 'idk' where model = 'random'"),
    ("assert_plan_modes_match_arms", "update models set engine = 'sql'"),
    ("assert_plan_modes_match_arms", "update run_plan set max_requests = null where mode = 'free_choice'"),
    ("assert_plan_modes_have_sampling", "delete from models where model = 'm'"),
    ("assert_baselines_answer_every_request", "delete from int_baseline_completions where request_key = 'b1'"),
    ("assert_baselines_answer_every_request", "update models set weights = null"),
    ("assert_sources_are_consistent", "update rpt_source_consistency set p_holm = 0.01 where model = 'm'"),
    ("assert_sources_are_consistent", "update rpt_source_consistency set is_baseline = false"),
    ("assert_plan_roles_match_stages", "update run_plan set role = 'answerer' where mode = 'json'"),
    ("assert_plan_roles_match_stages", "update run_plan set mode = 'json' where model = 'random'"),
    (
        "assert_plan_roles_match_stages",
        "update run_plan set role = 'generator', stage = 'extraction', mode = 'json' "
        "where model = 'random'",
    ),
    (
        "assert_requests_stay_within_the_plan",
        "insert into fct_requests values ('a3', 'answers', 'm', 'choice', 'mcq', 'standard', 1)",
    ),
    (
        "assert_requests_stay_within_the_plan",
        "insert into fct_requests values ('x', 'answers', 'm', 'free', 'mcq', 'standard', 1)",
    ),
    ("assert_requests_stay_within_the_plan", "update run_plan set enabled = false"),
    (
        "assert_requests_stay_within_the_plan",
        "insert into fct_requests values ('x', 'answers', 'm', 'choice', 'mcq', 'no_context', 1)",
    ),
    (
        "assert_requests_stay_within_the_plan",
        "insert into fct_requests values ('s2', 'answers', 'm', 'choice', 'mcq', 'shuffled', 1)",
    ),
    (
        "assert_capped_plans_ask_every_task",
        "update int_answer_plan set task = 'dx' where model = 'm'",
    ),
    (
        "assert_capped_plans_ask_every_task",
        "update int_answer_prompts set task = 'tx' where arm = 'standard'",
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
            ("idk", "- Gout", "- Stroke"),
            ("idk", "B. X", ""),
            ("cloze", "Answer:", "A. Y\\nB. X"),
            ("cloze", "What?", "Which?"),
            ("choices_only", "Record:", "Record:\\n- Gout"),
            ("shuffled", "- Stroke", "- Gout"),
            ("no_context", "- Gout", "- Gout\\n- Ileus"),
            ("no_context", "- Gout", "- Ileus"),
            ("no_subject", "- Ileus", "- Gout"),
            ("no_subject", "- Ileus", "- Stroke"),
            ("context_2", "- D: Cough", ""),
            ("context_2", "- D: Cough", "- D: Cough\\n- D: Fever"),
            ("context_2", "- D: Cough", "- D: Cough\\n- D: X"),
            ("context_2", "- D: Ileus", "- D: Stroke"),
            ("context_2", "- Ileus", ""),
        )
    ),
    ("assert_wide_forms_leak_no_less", "delete from int_leaking_templates where template_key = 'w1'"),
    ("assert_wide_forms_leak_no_less", "delete from int_leak__l06_code_conventions where template_key = 'w1'"),
    ("assert_pending_are_the_missing", "delete from int_requests_pending"),
    ("assert_pending_are_the_missing", "delete from rpt_missing_completions where n = 1"),
    ("assert_pending_are_the_missing", "update int_requests_pending set arm = 'standard'"),
    ("assert_arms_show_what_they_should", "update fct_prompts set options = null"),
    ("assert_arms_show_what_they_should", "update fct_prompts set options = '[]'"),
    ("assert_parsed_letters_are_options", "update fct_responses set parsed_letter = 'C' where arm = 'standard'"),
    ("assert_parsed_letters_are_options", "update fct_responses set parsed_letter = 'B' where arm = 'idk'"),
    ("assert_choices_agree_with_their_letters", "update fct_responses set chosen_option_key = null"),
    ("assert_choices_agree_with_their_letters", "update fct_responses set abstained = 0"),
    ("assert_choices_agree_with_their_letters", "update fct_responses set abstained = 1"),
    ("assert_choices_agree_with_their_letters", "update fct_responses set parsed_letter = null"),
    ("assert_letter_only_when_parsed", "update fct_responses set parse_status = 'unparsed'"),
    ("assert_letter_only_when_parsed", "update fct_responses set parsed_letter = null"),
    ("assert_option_probabilities_sum_to_one", "update fct_responses set p_a = 0.2"),
    (
        "assert_missing_completions_cover_requests",
        "delete from rpt_missing_completions where status = 'failed'",
    ),
    (
        "assert_missing_completions_cover_requests",
        "insert into fct_requests values ('z', 'answers', 'new', 'choice', 'mcq', 'standard', 1)",
    ),
    (
        "assert_missing_completions_cover_requests",
        "update fct_requests set arm = 'no_context' where arm = 'shuffled'",
    ),
    (
        "assert_overall_is_the_mean_of_tasks",
        "update rpt_leaderboard set overall = 0.51 where overall is not null",
    ),
    ("assert_overall_is_the_mean_of_tasks", "update rpt_leaderboard set overall = 1 where model = 'm'"),
    (
        "assert_overall_is_the_mean_of_tasks",
        "update rpt_leaderboard set px = 0.5, overall = null where model = 'random'",
    ),
    ("assert_tiers_follow_ranks", "update rpt_leaderboard set tier = 3 where model = 'worse'"),
    ("assert_tiers_follow_ranks", "update rpt_leaderboard set tier = 2"),
    ("assert_tiers_follow_ranks", "update rpt_leaderboard set rank = 3 where model = 'random'"),
    ("assert_tiers_follow_ranks", "update rpt_leaderboard set tier = null where model = 'worse'"),
    ("assert_subset_has_power", "update rpt_power set declared_difference = 0.04"),
    ("assert_subset_has_power", "update rpt_power set detectable_difference = null"),
    ("assert_intervals_hold_their_figure", "update rpt_leaderboard set rank_low = 3"),
    ("assert_intervals_hold_their_figure", "update rpt_model_differences set difference_low = 0.2"),
    ("assert_intervals_hold_their_figure", "update rpt_accuracy set accuracy_low = 0.6"),
    ("assert_intervals_hold_their_figure", "update rpt_leaderboard set tx_high = null"),
    ("assert_intervals_hold_their_figure", "update rpt_leaderboard set overall_high = 1.1 where n = 2"),
    ("assert_intervals_hold_their_figure", "update rpt_leaderboard set rank_low = 0 where rank = 1"),
    ("assert_intervals_hold_their_figure", "update rpt_calibration set ece_high = 1.1"),
    ("assert_intervals_hold_their_figure", "update rpt_calibration set overconfidence_low = -1.1"),
    ("assert_intervals_hold_their_figure", "update rpt_leaderboard set px_low = 0, px_high = 1"),
    ("assert_reports_count_every_score", "delete from fct_scores where model = 'm'"),
    ("assert_reports_count_every_score", "update fct_scores set repetition = 1"),
    ("assert_reports_count_every_score", "update prompt_arms set is_headline = true"),
    ("assert_reports_count_every_score", "delete from rpt_leaderboard where model = 'm'"),
    ("assert_reports_count_every_score", "update rpt_accuracy set n = 3"),
    ("assert_reports_count_every_score", "update rpt_leaderboard set n_asked = 0"),
    ("assert_reports_count_every_score", "update rpt_leaderboard set n_asked = 4 where model = 'worse'"),
    ("assert_reports_count_every_score", "update rpt_accuracy set n_asked = 0 where source = 'iv'"),
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
