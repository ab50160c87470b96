"""The surface gates on a synthetic cohort of their own, whose seed nothing was tuned on."""

import duckdb
import pytest
from conftest import dbt, ehrbench

# Seeds below 10 were looked at while the draw was made. Never tune on this one: a gate that fails here says that something
# tells the answer, and what it is has to be found on another seed.
GATE_SEED = 11
CAPS = {
    "max_templates_per_fact": 15,
    "max_templates_per_answer": 60,
    "max_templates_per_patient": 40,
    "max_templates_per_visit": 10,
}
SOAK_CAPS = {
    "max_templates_per_fact": 150,
    "max_templates_per_answer": 500,
    "max_templates_per_patient": 60,
    "max_templates_per_visit": 15,
}


def gates(folder, patients, caps):
    """Build a cohort up to its gates; their rows, and the templates that they judge by task."""
    out = folder / "synth"
    made = ehrbench("synth", "--patients", patients, "--seed", GATE_SEED, "--out", out)
    assert made.returncode == 0, made.stderr
    done = dbt(
        *("build", "--target", "synthetic", "--exclude-resource-type", "test", "unit_test"),
        *("--select", "+rpt_surface_gates"),
        *("--vars", "{" + ", ".join(f"{name}: {value}" for name, value in caps.items()) + "}"),
        target_path=folder / "target",
        EHRBENCH_DB=folder / "gate.duckdb",
        EHRBENCH_SYNTH_DIR=out,
        EHRBENCH_COMPLETIONS_DIR=folder / "none",
    )
    assert done.returncode == 0, done.stdout[-3000:]
    with duckdb.connect(str(folder / "gate.duckdb"), read_only=True) as connection:
        found = connection.execute(
            "select baseline, pick, task, status, reason, lift from rpt_surface_gates "
            "where gate = 'fail'"
        ).fetchall()
        templates = dict(connection.execute(
            "select task, count(distinct template_key) from int_surface_templates "
            "where is_pooled group by task"
        ).fetchall())
    return found, templates


@pytest.mark.gates
def test_gates_hold_on_five_thousand_templates(tmp_path):
    found, templates = gates(tmp_path, 900, CAPS)
    assert sum(templates.values()) >= 5000, templates
    judged = [row for row in found if row[3] != "not_assessed"]
    assert judged and {row[3] for row in judged} == {"pass"}, found


@pytest.mark.soak
def test_gates_hold_on_twenty_thousand_templates_per_task(tmp_path):
    """Prognosis has fewer answers and visits: its gate speaks from what it has."""
    found, templates = gates(tmp_path, 24000, SOAK_CAPS)
    assert min(templates["dx"], templates["tx"]) >= 20000, templates
    judged = [row for row in found if row[3] != "not_assessed"]
    assert judged and {row[3] for row in judged} == {"pass"}, found
