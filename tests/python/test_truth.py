"""The checks against the planted truth, and what every synthetic source yields."""

SOURCES = ("mimic_iii", "mimic_iv", "omop_harbor", "omop_mimic_iv_synth")
TASKS = ("dx", "px", "tx")


def test_clean_checks_find_exactly_what_was_planted(synthetic_build):
    found = synthetic_build.rows(
        "select check_name, n_true_pos from fct_check_quality "
        "where source = 'all' and task = 'all' and policy = 'fixed'"
    )
    assert len(found) == 6 and all(count > 0 for _, count in found)
    wrong = synthetic_build.rows(
        "select check_name, policy, source, task, n_false_pos, n_false_neg "
        "from fct_check_quality where n_false_pos + n_false_neg > 0"
    )
    assert wrong == []


def test_every_source_and_task_has_accepted_rule_triples(synthetic_build):
    accepted = synthetic_build.rows(
        "select t.source, t.task, count(*) from fct_triples as t "
        "inner join fct_triple_proposals as p on t.triple_id = p.triple_id "
        "inner join fct_triple_verdicts as v on t.triple_id = v.triple_id "
        "where p.generator = 'kb_rules' and v.policy = 'open' and v.verdict = 'accepted' "
        "group by t.source, t.task"
    )
    assert {row[:2] for row in accepted} == {(s, t) for s in SOURCES for t in TASKS}


def test_every_source_is_known_to_be_synthetic(synthetic_build):
    classes = dict(synthetic_build.rows("select source, data_class from int_source_data_classes"))
    assert classes == {source: "synthetic" for source in SOURCES}
