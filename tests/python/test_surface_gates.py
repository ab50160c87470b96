"""The gates on simulated sets: fair ones pass, one with a signal of four points does not.

A set is simulated as its results (int_baseline_results): persons with several templates, answers of
unequal popularity, one option count per template, picks that are right at chance or above. Then the
compiled SQL of rpt_surface_baselines and rpt_surface_gates decides.
"""

import importlib.util

import duckdb
import numpy as np
import pandas as pd
import pytest

TABLES = """
create or replace table int_baseline_results as
with picks as (
    select *, row_number() over (order by baseline, pick) as number
    from surface_baselines
    where gate = 'fail'
),
templates as (
    select
        range as template,
        md5_number_lower(md5(concat('person', {seed}, range))) % ({n} // 8) as person,
        -- squares make some answers far commoner than others
        cast(power(md5_number_lower(md5(concat('answer', {seed}, range))) % 1000 / 1000.0, 2) * 300
            as integer) as answer,
        4 + cast(md5_number_lower(md5(concat('k', {seed}, range))) % 3 as integer) as n_options
    from range({n})
)
select
    baseline,
    pick,
    cast(null as varchar) as model,
    concat('t', template) as template_key,
    's' as source,
    ['dx', 'tx', 'px'][template % 3 + 1] as task,
    concat('p', person) as person_group,
    answer as answer_cui_id,
    'blocks' as draw,
    n_options,
    cast(null as integer) as variant,
    true as is_pooled,
    true as is_drawn,
    cast(1 as bigint) as n,
    cast(case
        when (md5_number_lower(md5(concat('hit', {seed}, number, '|', template))) >> 11) / 9007199254740992
            < 1 / n_options + case when number = 1 then {signal} else 0 end then 1000000
        else 0
    end as bigint) as points,
    cast(1000000 // n_options as bigint) as chance_points,
    cast(null as bigint) as concordance
from picks
cross join templates
"""


def statuses(unqualified, project_root, seeds, n, signal):
    """Per seed, the set of statuses of the gates that stop the build."""
    seen = {}
    with duckdb.connect() as connection:
        connection.execute(
            "create table surface_baselines as select * from read_csv(?)",
            [str(project_root / "seeds/surface_baselines.csv")],
        )
        for seed in seeds:
            connection.execute(TABLES.format(seed=seed, n=n, signal=signal))
            connection.execute(
                "create or replace table int_surface_templates as select distinct template_key, task, draw, "
                "true as is_drawn, true as is_pooled from int_baseline_results"
            )
            for name in ("rpt_surface_baselines", "rpt_surface_gates"):
                connection.execute(f"create or replace table {name} as {unqualified[name]}")
            seen[seed] = {
                status
                for (status,) in connection.execute(
                    "select status from rpt_surface_gates where gate = 'fail' and status <> 'not_assessed'"
                ).fetchall()
            }
    return seen


def test_a_fair_set_passes_and_a_signal_of_four_points_fails(unqualified, project_root):
    assert set.union(*statuses(unqualified, project_root, (11,), 5000, 0).values()) == {"pass"}
    assert "fail" in statuses(unqualified, project_root, (11,), 5000, 0.04)[11]


def test_a_small_set_is_not_judged(unqualified, project_root):
    assert statuses(unqualified, project_root, (11,), 900, 0.2) == {11: set()}


@pytest.mark.soak
@pytest.mark.parametrize(("n", "signal"), [(5000, 0), (5000, 0.04), (20000, 0), (20000, 0.04)])
def test_gates_over_many_sets(unqualified, project_root, n, signal):
    """At least 95 per cent of fair sets pass the family; a signal of four points fails in as many."""
    seeds = 100 if n == 5000 else 40
    seen = statuses(unqualified, project_root, range(seeds), n, signal)
    failing = sum("fail" in found for found in seen.values()) / seeds
    assert all(seen.values())
    assert failing <= 0.05 if signal == 0 else failing >= 0.95


# ------------------------------------------------------------------- the logistic regression


@pytest.fixture(scope="module")
def logistic(project_root):
    path = project_root / "models/intermediate/leakage/baselines/int_surface_logistic.py"
    spec = importlib.util.spec_from_file_location("int_surface_logistic", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def simulated_options(n, weight):
    """n templates of four options whose answer follows `weight` × (log length, centred)."""
    draws = np.random.default_rng(7)
    table = pd.DataFrame({
        "template_key": np.repeat([f"t{i:05}" for i in range(n)], 4),
        "split_half": np.repeat(np.arange(n) % 2, 4),
        **{name: draws.integers(1, 40, 4 * n) for name in
           ("n_characters", "n_visits", "n_statements", "n_words", "n_marks", "n_digits")},
    })
    utility = weight * np.log1p(table["n_characters"].to_numpy(float)) + draws.gumbel(size=4 * n)
    best = utility.reshape(n, 4).argmax(axis=1)
    table["is_gold"] = (np.arange(4) == best[:, None]).ravel()
    return table


def share_right(scores, options):
    return options["is_gold"].to_numpy().reshape(-1, 4)[
        np.arange(len(options) // 4), scores.reshape(-1, 4).argmax(axis=1)
    ].mean()


def test_logistic_finds_a_signal_and_nothing_where_there_is_none(logistic):
    signal, fair = simulated_options(1500, 1.5), simulated_options(1500, 0.0)
    assert share_right(logistic.cross_fitted(signal), signal) > 0.4
    assert abs(share_right(logistic.cross_fitted(fair), fair) - 0.25) < 0.04


def test_logistic_scores_of_a_half_do_not_depend_on_its_answers(logistic):
    options = simulated_options(400, 1.0)
    first = (options["split_half"] == 0).to_numpy()
    other_answers = options.copy()
    flipped = options.loc[first, "is_gold"].to_numpy().reshape(-1, 4)[:, ::-1].ravel()
    other_answers.loc[first, "is_gold"] = flipped
    before, after = logistic.cross_fitted(options), logistic.cross_fitted(other_answers)
    assert (before[first] == after[first]).all()
    assert (before[~first] != after[~first]).any()
