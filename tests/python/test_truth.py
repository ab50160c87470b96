"""The checks against the planted truth: exact on a clean knowledge base, not on a noisy one."""

import duckdb
import pytest
from conftest import dbt, ehrbench

QUALITY = "select check_name, n_true_pos, precision, recall from fct_check_quality"


def test_clean_checks_find_exactly_what_was_planted(synthetic_build):
    found = synthetic_build.rows(QUALITY)
    assert len(found) == 6
    assert [row for row in found if row[1] == 0 or row[2] != 1 or row[3] != 1] == []


def test_every_task_has_accepted_rule_triples(synthetic_build):
    accepted = synthetic_build.rows(
        "select t.task, count(*) from fct_triples as t "
        "inner join fct_triple_proposals as p on t.triple_id = p.triple_id "
        "inner join fct_triple_verdicts as v on t.triple_id = v.triple_id "
        "where p.generator = 'kb_rules' and v.policy = 'open' and v.verdict = 'accepted' "
        "group by t.task"
    )
    assert {task for task, _ in accepted} == {"dx", "tx", "px"}


@pytest.mark.soak
def test_noise_lowers_what_the_checks_find(tmp_path):
    done = ehrbench("synth", "--regime", "noisy", "--patients", 100, "--out", tmp_path / "synth")
    assert done.returncode == 0, done.stderr
    database = tmp_path / "noisy.duckdb"
    done = dbt("build", "--target", "synthetic", "--exclude-resource-type", "unit_test",
               target_path=tmp_path / "target", EHRBENCH_DB=database,
               EHRBENCH_SYNTH_DIR=tmp_path / "synth", EHRBENCH_COMPLETIONS_DIR=tmp_path / "none")
    assert done.returncode == 0, done.stdout[-3000:]
    with duckdb.connect(str(database), read_only=True) as connection:
        found = {row[0]: row[2:] for row in connection.execute(QUALITY).fetchall()}
    assert found["positive_support"][0] < 1 and found["no_negative_evidence"][0] < 1
    assert found["grounded"] == (1, 1)
