"""The leaderboard's statistics against numpy, scipy and statsmodels on simulated runs.

A run is simulated as its scores: persons with several templates, answer concepts of unequal
popularity, effects of both, several option counts per template. The compiled SQL of the models then
runs on it, and what it gives is compared with the same statistic by other means.
"""

import hashlib
import random
from pathlib import Path

import duckdb
import jinja2
import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

ROOT = Path(__file__).parents[2]
VARS = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))["vars"]
Z = VARS["interval_z"]
TASKS = ["dx", "px", "tx"]
COLUMNS = {
    "model": "varchar", "mode": "varchar", "task": "varchar", "source": "varchar", "n_options": "integer",
    "template_key": "varchar", "item_id": "varchar", "person_group": "varchar", "answer_cui_id": "integer",
    "correct": "integer", "parsed": "integer", "arm": "varchar", "repetition": "integer",
}
INPUTS = """
create or replace table int_headline_scores as from fct_scores;
create or replace table int_headline_asked as select model, mode, task, source, n_options,
    cast(count(*) as integer) as n_asked from fct_scores group by all;
create or replace table int_answer_requests as select model, mode, task, n_options, item_id, arm, repetition,
    'mcq' as format from fct_scores;
create or replace table int_pooled_requests as select model, mode, task, template_key, item_id, repetition,
    true as is_headline from fct_scores;
create or replace table dim_items as select distinct item_id, source from fct_scores;
create or replace table int_subset_templates as select distinct template_key, source, task, n_options,
    person_group, answer_cui_id from fct_scores;
create or replace table int_pooled_sources as select distinct source, true as is_pooled from fct_scores;
create or replace table prompt_arms as select 'standard' as arm, true as is_headline;
"""
REPORTS = ["int_leaderboard_figures", "int_template_correlation", "int_rank_bootstrap", "rpt_model_differences",
           "int_leaderboard_tiers", "rpt_leaderboard", "rpt_accuracy", "rpt_power"]


def simulated(seed=3, models=4, modes=("choice",), templates=240, persons=120, answers=60, option_counts=(4, 5, 6),
              sources=("iii", "iv"), spread=0.7, own_persons=False):
    """Scores of models on the same items; with own_persons each model × mode has items of its own."""
    draw = np.random.default_rng(seed)
    frames = []
    for number in range(models * len(modes)):
        if number == 0 or own_persons:
            one = pd.DataFrame({"template": np.arange(templates)})
            one["person"] = draw.integers(0, persons, templates)
            one["answer"] = (draw.random(templates) ** 2 * answers).astype(int)
            one["task"] = np.array(TASKS)[one.template % 3]
            one["source"] = np.array(sources)[one.person % len(sources)]
            one["effect"] = (draw.normal(0, spread, persons)[one.person] + draw.normal(0, spread, answers)[one.answer])
            one["template_key"] = [f"t{number if own_persons else 0}_{value}" for value in one.template]
            one["person_group"] = [f"p{number if own_persons else 0}_{value}" for value in one.person]
            items = one.merge(pd.DataFrame({"n_options": option_counts}), how="cross")
        rows = items.copy()
        rows["model"], rows["mode"] = f"m{number // len(modes):03}", modes[number % len(modes)]
        chance = 1 / (1 + np.exp(-(0.15 * (number // len(modes)) - 0.4 + rows.effect)))
        rows["correct"] = (draw.random(len(rows)) < chance).astype(int)
        rows["parsed"] = np.maximum(rows.correct, draw.random(len(rows)) < 0.9).astype(int)
        frames.append(rows)
    scores = pd.concat(frames, ignore_index=True)
    scores["item_id"] = scores.template_key + "_" + scores.n_options.astype(str)
    return scores.assign(answer_cui_id=scores.answer, arm="standard", repetition=1)


class Run:
    """A database with scores, on which models are built from their compiled SQL."""

    def __init__(self, unqualified, scores, build=(), threads=2):
        self.sql, self.scores = unqualified, scores
        self.connection = duckdb.connect(config={"threads": threads})
        self.connection.register("scores", scores[list(COLUMNS)])
        columns = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in COLUMNS.items())
        self.connection.execute(f"create table fct_scores as select {columns} from scores")
        self.connection.execute(INPUTS)
        self.build(*build)

    def build(self, *names):
        for name in names:
            self.connection.execute(f"create or replace table {name} as {self.sql[name]}")

    def rows(self, sql):
        """A table; decimals come as floats."""
        return self.connection.execute(sql).df()


@pytest.fixture(scope="module")
def run(unqualified):
    return Run(unqualified, simulated(modes=("choice", "free")), REPORTS)


# ------------------------------------------------------------------------ the same by other means


def influence(values, cells):
    """Mean of the means of cells, and what each row moves it by."""
    moves, means = np.zeros(len(values)), []
    names = sorted(set(cells))
    for name in names:
        inside = np.asarray(cells == name)
        means.append(values[inside].mean())
        moves[inside] = (values[inside] - means[-1]) / inside.sum() / len(names)
    return float(np.mean(means)), moves


def clustered(moves, groups):
    sums = pd.Series(moves).groupby(list(groups)).sum()
    return len(sums) / (len(sums) - 1) * (sums**2).sum()


def two_way(values, cells, persons, answers):
    """Mean and standard error by persons and answers, not below either alone."""
    mean, moves = influence(values, cells)
    persons, answers = np.asarray(persons), np.asarray(answers)
    one, other, both = clustered(moves, [persons]), clustered(moves, [answers]), clustered(moves, [persons, answers])
    return mean, np.sqrt(max(one, other, one + other - both))


def figures_of(rows):
    """figure -> values, cells and rows, as the leaderboard defines them."""
    correct = rows.correct.to_numpy(float)
    k, parsed = rows.n_options.to_numpy(), rows.parsed.to_numpy()
    figures = {"overall": (correct, rows.task, parsed >= 0),
               "parse_failure_rate": (1.0 - parsed, np.repeat("all", len(rows)), parsed >= 0),
               "chance_corrected": ((correct - 1 / k) / (1 - 1 / k), rows.task, parsed >= 0),
               "valid_only": (correct, rows.task, parsed == 1)}
    for task in TASKS:
        figures[task] = (correct, rows.task, np.asarray(rows.task == task))
    for count in (4, 5, 6):
        figures[f"acc_{count}"] = (correct, rows.task, k == count)
    return figures


def test_figures_and_their_errors_are_those_of_numpy(run):
    found = run.rows("from int_leaderboard_figures").set_index(["model", "mode", "figure"])
    assert len(found) == 4 * 2 * 10 and (found.status == "estimable").all()
    for (model, mode), rows in run.scores.groupby(["model", "mode"]):
        for figure, (values, cells, kept) in figures_of(rows).items():
            mean, error = two_way(values[kept], np.asarray(cells)[kept], rows.person_group[kept],
                                  rows.answer_cui_id[kept])
            row = found.loc[(model, mode, figure)]
            assert abs(row["mean"] - mean) < 1e-9, figure
            assert abs(row.standard_error - error) < 1e-9, figure
            assert abs(row.low - (mean - Z * error)) < 1e-9 and abs(row.high - (mean + Z * error)) < 1e-9
            assert row.n == kept.sum()


def test_errors_of_one_cell_are_those_of_statsmodels(run):
    """statsmodels: a regression on a constant with clusters; with clusters that coincide, one way."""
    rows = run.scores[(run.scores.model == "m001") & (run.scores["mode"] == "free") & (run.scores.task == "dx")]
    persons = rows.person_group.astype("category").cat.codes.to_numpy()
    fit = OLS(rows.correct.to_numpy(float), np.ones(len(rows))).fit()
    both, one, other = cov_cluster_2groups(fit, persons, group2=rows.answer_cui_id.to_numpy())
    found = run.rows("from int_leaderboard_figures where model = 'm001' and mode = 'free' and figure = 'dx'")
    assert abs(found["standard_error"][0] - np.sqrt(max(both.item(), one.item(), other.item()))) < 1e-9

    alone = Run(run.sql, rows.assign(answer_cui_id=persons), ["int_leaderboard_figures"])
    fit = OLS(rows.correct.to_numpy(float), np.ones(len(rows))).fit(
        cov_type="cluster", cov_kwds={"groups": persons})
    found = alone.rows("from int_leaderboard_figures where figure = 'dx'")
    assert abs(found["standard_error"][0] - fit.bse.item()) < 1e-9


def test_accuracy_by_cell_is_that_of_numpy(run):
    found = run.rows("from rpt_accuracy").set_index(["source", "model", "mode", "task", "n_options"])
    assert len(found) == 3 * 8 * 9
    for source in ("all", "iii", "iv"):
        scores = run.scores if source == "all" else run.scores[run.scores.source == source]
        for keys, rows in scores.groupby(["model", "mode", "task", "n_options"]):
            mean, error = two_way(rows.correct.to_numpy(float), rows.task, rows.person_group, rows.answer_cui_id)
            row = found.loc[(source, *keys)]
            assert abs(float(row.accuracy) - mean) <= 5.1e-7
            assert abs(float(row.accuracy_low) - max(0, mean - Z * error)) <= 5.1e-7
            assert (row.n, row.n_asked, row.n_templates, row.n_clusters, row.n_answers) == (
                len(rows), len(rows),
                rows.template_key.nunique(), rows.person_group.nunique(), rows.answer_cui_id.nunique())


# ----------------------------------------------------------------------------------- differences


def expected_differences(scores):
    """(mode, first, second) -> difference, error, templates for each, by a join on items."""
    expected = {}
    for mode, rows in scores.groupby("mode"):
        wide = {model: part.set_index("item_id") for model, part in rows.groupby("model")}
        for first in wide:
            for second in wide:
                if first >= second:
                    continue
                both = wide[first].join(wide[second].correct.rename("correct_second"), how="inner")
                values = (both.correct - both.correct_second).to_numpy(float)
                signs = np.sign(pd.Series(values).groupby(both.template_key.to_numpy()).sum())
                expected[mode, first, second] = (
                    *two_way(values, both.task, both.person_group, both.answer_cui_id),
                    int((signs > 0).sum()), int((signs < 0).sum()), len(both))
    return expected


def check_differences(found, scores):
    expected = expected_differences(scores)
    found = found.set_index(["mode", "first_model", "second_model"])
    assert set(found.index) == set(expected)
    for keys, (difference, error, better, worse, n) in expected.items():
        row = found.loc[keys]
        assert abs(float(row.difference) - difference) <= 5.1e-7 and row.n == n
        assert abs(float(row.standard_error) - error) <= 5.1e-7
        assert abs(float(row.p_value) - 2 * stats.norm.sf(abs(difference / error))) < 1e-9
        assert (row.n_first_better, row.n_second_better) == (better, worse)
        assert abs(float(row.mcnemar_p) - stats.binomtest(better, better + worse).pvalue) < 1e-9
    for _, rows in found.groupby("mode"):
        p = rows.p_value.astype(float)
        assert np.abs(multipletests(p, method="holm")[1] - rows.p_holm.astype(float)).max() < 1e-9


def test_paired_differences_holm_and_mcnemar(run):
    check_differences(run.rows("from rpt_model_differences"), run.scores)


def test_differences_are_on_common_items(run):
    """Two models that lack other items each; the third lacks none."""
    scores = run.scores[run.scores["mode"] == "choice"]
    lost = ((scores.model == "m000") & (scores.index % 7 == 0)) | ((scores.model == "m001") & (scores.index % 5 == 0))
    partial = Run(run.sql, scores[~lost])
    partial.connection.register("every", scores[["model", "mode", "task", "template_key", "item_id", "repetition"]])
    partial.connection.execute(
        "create or replace table int_pooled_requests as select *, true as is_headline from every")
    partial.build("rpt_model_differences")
    found = partial.rows("from rpt_model_differences")
    check_differences(found, scores[~lost])
    assert (found.n_asked == scores.item_id.nunique()).all()


def test_persons_all_alone_in_a_task_leave_no_interval(run):
    """One person has all templates of dx: there is a difference, and no telling how sure."""
    scores = run.scores[run.scores["mode"] == "choice"]
    scores = scores.assign(person_group=np.where(scores.task == "dx", "one", scores.person_group))
    found = Run(run.sql, scores, ["rpt_model_differences"]).rows("from rpt_model_differences")
    assert found.difference.notna().all() and (found.status == "estimable").all()
    assert found[["difference_low", "difference_high", "standard_error", "p_value"]].isna().all(axis=None)


# ------------------------------------------------------------------------- correlation of templates


def test_template_correlation_is_the_formula(run):
    found = run.rows("from int_template_correlation").set_index(["model", "mode"])
    for keys, rows in run.scores.groupby(["model", "mode"]):
        centred = rows.correct - rows.groupby("task").correct.transform("mean")
        parts = pd.DataFrame({"person": rows.person_group, "s": centred, "ss": centred**2, "n": 1})
        by_template = parts.groupby(rows.template_key).agg(
            person=("person", "first"), s=("s", "sum"), ss=("ss", "sum"), n=("n", "sum"))
        by_template["products"] = by_template.s**2 - by_template.ss
        by_template["pairs"] = by_template.n * (by_template.n - 1)

        def icc(table):
            return table.products.sum() / table.pairs.sum() / (table.ss.sum() / table.n.sum())

        assert abs(found.loc[keys].icc - icc(by_template)) < 1e-9
        # The jackknife over persons says nearly the same as linearising.
        kept = [icc(by_template[by_template.person != person]) for person in by_template.person.unique()]
        jackknife = np.sqrt((len(kept) - 1) / len(kept) * ((np.array(kept) - np.mean(kept)) ** 2).sum())
        assert abs(found.loc[keys].standard_error / jackknife - 1) < 0.05


def test_design_effect_is_the_squared_ratio_of_errors(run):
    found = run.rows("from rpt_leaderboard").set_index(["model", "mode"])
    for keys, rows in run.scores.groupby(["model", "mode"]):
        _, error = two_way(rows.correct.to_numpy(float), rows.task, rows.person_group, rows.answer_cui_id)
        means = rows.groupby("task").correct.agg(["mean", "count"])
        naive = (means["mean"] * (1 - means["mean"]) / means["count"]).sum() / 9
        assert abs(float(found.loc[keys].design_effect) - error**2 / naive) <= 5.1e-5
        assert abs(float(found.loc[keys].n_effective) - len(rows) * naive / error**2) <= 0.051


# ------------------------------------------------------------------------------- ranks and tiers


def weights(keys, replicates):
    """Poisson(1) weights as the SQL draws them: md5 of seed, replicate and person."""
    limits = stats.poisson(1).cdf(np.arange(9))
    table = np.ones((replicates + 1, len(keys)))
    for replicate in range(1, replicates + 1):
        for place, key in enumerate(keys):
            digest = hashlib.md5(f"{VARS['bootstrap_seed']}|{replicate}|{key}".encode()).digest()
            draw = (int.from_bytes(digest[8:], "little") >> 11) / 2**53
            table[replicate, place] = np.searchsorted(limits, draw, side="right")
    return table


def test_ranks_and_their_intervals_are_those_of_a_bootstrap_in_numpy(unqualified):
    run = Run(unqualified, simulated(templates=180, persons=40), REPORTS[:3])
    keys = sorted(run.scores.person_group.unique())
    drawn = weights(keys, VARS["bootstrap_replicates"])
    models = sorted(run.scores.model.unique())

    def ratio(rows):
        """replicate × model: weighted accuracy."""
        sums = rows.groupby(["person_group", "model"]).correct.agg(["sum", "count"]).unstack(fill_value=0)
        sums = sums.reindex(keys, fill_value=0)
        return (drawn @ sums["sum"][models].to_numpy()) / (drawn @ sums["count"][models].to_numpy())

    def ranks(values):
        return stats.rankdata(-values.round(12), method="min", axis=1)

    overall = np.mean([ratio(rows) for _, rows in run.scores.groupby("task")], axis=0)
    columns = []
    for _, part in run.scores.groupby("source"):
        tasks = [ratio(rows) for _, rows in part.groupby("task")]
        columns += [ratio(rows) for _, rows in part.groupby(["task", "n_options"])] + tasks + [np.mean(tasks, axis=0)]
    assert len(columns) == 2 * 13
    placed, average = ranks(overall), np.mean([ranks(values) for values in columns], axis=0)
    found = run.rows("from int_rank_bootstrap order by model")
    assert found["rank"].tolist() == placed[0].tolist()
    assert np.abs(found.average_rank.astype(float) - average[0]).max() < 1e-6
    assert (found.n_rank_columns == 26).all()
    assert np.abs(found.p_best.astype(float) - (placed[1:] == 1).mean(axis=0)).max() < 1e-6
    assert np.abs(found.bootstrap_error.astype(float) - overall[1:].std(axis=0, ddof=1)).max() < 1e-6
    for low, high, values in (("rank_low", "rank_high", placed),
                              ("average_rank_low", "average_rank_high", average)):
        ends = np.quantile(values[1:], [VARS["bootstrap_tail"], 1 - VARS["bootstrap_tail"]], axis=0,
                           method="inverted_cdf")
        assert np.abs(found[low].astype(float) - np.minimum(ends[0], values[0])).max() < 1e-6
        assert np.abs(found[high].astype(float) - np.maximum(ends[1], values[0])).max() < 1e-6


def test_many_persons_are_drawn_in_groups_with_the_same_error(unqualified):
    """Over 1,000 persons in 1,000 groups: the bootstrap's error is that of the persons."""
    scores = simulated(models=2, templates=2100, persons=2000, option_counts=(4,), answers=3000, sources=("s",))
    run = Run(unqualified, scores, REPORTS[:3])
    found = run.rows("from int_rank_bootstrap order by model").bootstrap_error.astype(float)
    for error, (_, rows) in zip(found, scores.groupby("model"), strict=True):
        _, moves = influence(rows.correct.to_numpy(float), rows.task)
        assert abs(error / np.sqrt(clustered(moves, [rows.person_group.to_numpy()])) - 1) < 0.08


def tiers_of(placed, separated):
    """The rule in words: up to the first that is separated from the tier's leader."""
    tiers, leader = {}, None
    for model in placed:
        if leader is None or (leader, model) in separated:
            leader, tier = model, max(tiers.values(), default=0) + 1
        tiers[model] = tier
    return tiers


@pytest.mark.parametrize("seed", range(6))
def test_tiers_follow_the_leaders(unqualified, seed):
    draw = random.Random(seed)
    models = [f"m{n:02}" for n in range(12)]
    placed = draw.sample(models, 12)
    rows, separated = [], set()
    for place, model in enumerate(placed, 1):
        rows.append((model, "choice", place, max(1, place - draw.randint(0, 3)), place + draw.randint(0, 3)))
    differences = []
    for i, first in enumerate(rows):
        for second in rows[i + 1:]:
            p = draw.choice([None, 0.01, 0.05, 0.2, 0.9, 1.0])
            differences.append(("choice", *sorted((first[0], second[0])), p))
            if first[4] < second[3] or (p is not None and p <= VARS["tier_alpha"]):
                separated.add((first[0], second[0]))
    with duckdb.connect() as connection:
        connection.execute("create table int_rank_bootstrap (model varchar, mode varchar, rank integer, "
                           "rank_low integer, rank_high integer)")
        connection.executemany("insert into int_rank_bootstrap values (?, ?, ?, ?, ?)", rows)
        connection.execute("create table rpt_model_differences (mode varchar, first_model varchar, "
                           "second_model varchar, p_holm decimal(18, 12))")
        connection.executemany("insert into rpt_model_differences values (?, ?, ?, ?)", differences)
        found = connection.execute(f"select model, tier from ({unqualified['int_leaderboard_tiers']})").fetchall()
    assert dict(found) == tiers_of(placed, separated)


# ------------------------------------------------------------------------------------- power


def test_power_is_that_of_the_formula(unqualified):
    """Miller's n for independent templates: 3 points, variance 0.15, level 0.05, power 0.8."""
    scores = simulated(models=1, templates=1308, option_counts=(4,))
    scores["person_group"], scores["answer_cui_id"] = scores.template_key, scores.template
    run = Run(unqualified, scores, ["rpt_model_differences"])
    sql = unqualified["rpt_power"].replace("cast(null as double) as declared", "cast(0.03 as double) as declared")
    found = run.rows(f"from ({sql})").set_index(["scope", "basis"]).loc[("overall", "assumed")]
    z = stats.norm.isf(0.025) + stats.norm.isf(0.2)
    needed = z**2 * 0.15 / 0.03**2
    assert (found.n_templates, found.n_needed) == (1308, 1309) and int(np.ceil(needed)) == 1309
    assert found.status == "insufficient" and float(found.design_effect) == 1
    assert abs(float(found.detectable_difference) - z * np.sqrt(0.15 / 1308)) < 1e-5


def test_assumed_design_effect_is_the_variance_of_a_mean_of_correlated_templates(run):
    rho = VARS["evaluation_cluster_correlation"]
    found = run.rows("from rpt_power").set_index(["scope", "basis"])
    templates = run.scores.drop_duplicates("template_key")
    for task, rows in templates.groupby("task"):
        same = ((rows.person_group.to_numpy()[:, None] == rows.person_group.to_numpy())
                | (rows.answer_cui_id.to_numpy()[:, None] == rows.answer_cui_id.to_numpy()))
        covariance = np.where(same, rho, 0.0)
        np.fill_diagonal(covariance, 1.0)
        assert abs(float(found.loc[(task, "assumed")].design_effect) - covariance.sum() / len(rows)) <= 5.1e-5


# ---------------------------------------------------------------------------- whatever is missing


def test_a_model_with_few_answers_shrinks_no_other(run):
    """m000 has answered all of dx but little of px: it has no overall, the others keep theirs."""
    few = (run.scores.model == "m000") & (run.scores.task == "px") & (run.scores.template >= 50)
    partial = Run(run.sql, run.scores[~few], ())
    partial.connection.execute("create or replace table int_subset_templates as select distinct template_key, "
                               "source, task, n_options, person_group, answer_cui_id from fct_scores")
    partial.build(*REPORTS)
    columns = "overall, overall_low, overall_high, dx, px, acc_4, chance_corrected"
    order = "order by model, mode"
    before = run.rows(f"select {columns} from rpt_leaderboard where model <> 'm000' {order}")
    after = partial.rows(f"select {columns} from rpt_leaderboard where model <> 'm000' {order}")
    assert before.equals(after)
    lone = partial.rows("from rpt_leaderboard where model = 'm000'")
    assert (lone.overall_status == "not_estimable").all() and lone.overall.isna().all()
    assert (lone.px_status == "not_estimable").all() and (lone.dx_status == "estimable").all()
    assert lone["rank"].isna().all() and lone.tier.isna().all() and (lone.n_px > 0).all()
    assert (partial.rows("from rpt_model_differences where first_model = 'm000'").status == "not_estimable").all()


@pytest.mark.parametrize("rows", [0, 1, 2, 5])
def test_reports_survive_next_to_nothing(run, rows):
    few = Run(run.sql, run.scores[:rows], ())
    few.connection.execute("insert into int_headline_asked values ('waiting', 'choice', 'dx', 'iv', 4, 7)")
    few.connection.execute("""
        insert into int_answer_requests select 'waiting', 'choice', 'dx', 4, 'w', 'standard', 1, 'mcq' from range(7);
        insert into int_pooled_requests select model, 'choice', 'dx', 't', 'w', 1, true
            from (values ('waiting'), ('waits')) as v (model);
        insert into dim_items values ('w', 'iv')""")
    few.build(*REPORTS)
    found = few.rows("from rpt_leaderboard where model = 'waiting'")
    assert (found.n[0], found.n_asked[0], found.overall_status[0]) == (0, 7, "not_estimable")
    found = few.rows("from rpt_accuracy where model = 'waiting' and source = 'iv'")
    assert (len(found), found.n[0], found.n_asked[0], found.status[0]) == (1, 0, 7, "not_estimable")
    found = few.rows("from rpt_model_differences where second_model = 'waits' and first_model = 'waiting'")
    # No task has templates enough to be compared.
    assert (len(found), found.n[0], found.n_asked[0], found.status[0]) == (1, 0, 0, "not_estimable")
    assert few.rows("select count(*) as n from rpt_power where scope = 'overall'").n[0] == 2


def test_models_that_all_agree_have_intervals(run):
    """Every answer right: no linearised error, and yet no certainty."""
    sure = Run(run.sql, run.scores.assign(correct=1, parsed=1), REPORTS)
    found = sure.rows("from rpt_leaderboard").astype({"overall": float, "overall_low": float, "dx_low": float})
    assert (found.overall == 1).all() and ((found.overall_low > 0.9) & (found.overall_low < 1)).all()
    assert ((found.dx_low > 0.9) & (found.dx_low < 1)).all()
    assert (found["rank"] == 1).all() and (found.tier == 1).all()
    differences = sure.rows("from rpt_model_differences")
    assert (differences.p_holm.astype(float) == 1).all() and (differences.mcnemar_p.astype(float) == 1).all()


def test_order_and_threads_decide_nothing(run):
    shuffled = Run(run.sql, run.scores.sample(frac=1, random_state=1), REPORTS, threads=8)
    for name in REPORTS:
        pd.testing.assert_frame_equal(run.rows(f"from {name} order by all"),
                                      shuffled.rows(f"from {name} order by all"),
                                      check_exact=name.startswith("rpt_"))


# ------------------------------------------------------------------------------------- coverage


def coverage(unqualified, runs, templates, persons, answers):
    """Share of simulated runs whose interval of overall holds the truth: each run is a model."""
    scores = simulated(seed=11, models=runs, templates=templates, persons=persons, answers=answers, spread=1.0,
                       option_counts=(4,), own_persons=True)
    # The truth: answers and persons are drawn anew in each run, so it is the mean over both.
    scores["number"] = scores.model.str[1:].astype(int)
    draw = np.random.default_rng(5)
    chance = 1 / (1 + np.exp(0.4 - scores.effect))
    scores["correct"] = (draw.random(len(scores)) < chance).astype(int)
    grid = np.polynomial.hermite_e.hermegauss(60)
    truth = (grid[1] / (1 + np.exp(0.4 - np.sqrt(2) * grid[0]))).sum() / grid[1].sum()
    run = Run(unqualified, scores, REPORTS[:1])
    found = run.rows("from int_leaderboard_figures where figure = 'overall' and status = 'estimable'")
    assert len(found) == runs
    return ((found.low <= truth) & (truth <= found.high)).mean(), found.standard_error, found["mean"].std()


def test_intervals_cover_the_truth(unqualified):
    """80 runs of few persons and answers, of which some are common: a little below 95 per cent."""
    share, errors, spread = coverage(unqualified, 80, 150, 60, 80)
    assert share >= 0.87
    assert 0.8 < errors.mean() / spread < 1.25


@pytest.mark.soak
def test_intervals_cover_the_truth_in_2000_runs(unqualified):
    share, errors, spread = coverage(unqualified, 2000, 900, 300, 400)
    assert 0.935 <= share <= 0.965
    assert abs(errors.mean() / spread - 1) < 0.05


def rank_coverage(unqualified, runs, models=5):
    """Share of true ranks that the rank intervals hold; a mode is a run."""
    scores = simulated(seed=21, models=models, modes=[f"run{n:04}" for n in range(runs)], templates=150, persons=70,
                       option_counts=(4,), sources=("s",))
    run = Run(unqualified, scores, REPORTS[:3])
    found = run.rows("from int_rank_bootstrap")
    assert len(found) == runs * models
    truth = models - found.model.str[1:].astype(int)
    return ((found.rank_low <= truth) & (truth <= found.rank_high)).mean()


def test_rank_intervals_hold_the_true_rank(unqualified):
    assert rank_coverage(unqualified, 12) >= 0.9


@pytest.mark.soak
def test_rank_intervals_hold_the_true_rank_in_400_runs(unqualified):
    assert rank_coverage(unqualified, 400) >= 0.94


# ---------------------------------------------------------------- macros that no model shows whole


def rendered(text):
    """SQL of a template that calls macros, without dbt."""
    names = ("chi_squared_p", "normal_p", "sign_test_p", "kendalls_w", "rank_inversions", "holm_steps")
    macros = "".join((ROOT / f"macros/{name}.sql").read_text("utf-8") for name in names)
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    environment.globals.update(var=VARS.get)
    return environment.from_string(macros + text).render()


def query(text, **tables):
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        return connection.execute(rendered(text)).df()


def test_tail_probabilities_are_those_of_scipy():
    z = pd.DataFrame({"z": np.concatenate([np.linspace(-9, 9, 721), [20.0, 37.0]])})
    found = query("select z, {{ normal_p('z') }} as p from z", z=z)
    assert np.abs(found.p / (2 * stats.norm.sf(found.z.abs())) - 1).max() < 1e-11

    x = pd.DataFrame([(x, df) for x in (0.0, 0.01, 0.5, 1, 3, 10, 40, 200, 900) for df in (1, 2, 3, 7, 30, 31, 200)],
                     columns=["x", "df"])
    found = query("select x, df, {{ chi_squared_p('x', 'df') }} as p from x", x=x)
    assert np.abs(found.p - stats.chi2.sf(found.x, found.df)).max() < 1e-11

    counts = pd.DataFrame([(b, c) for b in (0, 1, 2, 7, 30, 400, 3000) for c in (0, 1, 5, 31, 380, 3100)],
                          columns=["b", "c"])
    found = query("select b, c, {{ sign_test_p('b', 'c') }} as p from counts", counts=counts)
    for b, c, p in found.itertuples(index=False):
        assert abs(p - (stats.binomtest(int(b), int(b + c)).pvalue if b + c else 1)) < 1e-9, (b, c)


def test_holm_within_families():
    draw = np.random.default_rng(2)
    rows = pd.DataFrame({"family": np.repeat(["a", "b"], 40), "id": np.arange(80),
                         "p": (draw.random(80) ** 3).round(2)})
    rows.loc[::9, "p"] = None
    found = query("with {{ holm_steps('adjusted', 'rows', ['family'], 'p', 'id') }} from adjusted", rows=rows)
    for _, part in found.groupby("family"):
        given = part.dropna(subset=["p"])
        assert np.abs(multipletests(given.p, method="holm")[1] - given.p_holm).max() < 1e-12
        assert part[part.p.isna()].p_holm.isna().all()


def test_kendalls_w_is_friedmans_statistic():
    """With ties within judges; a model that one judge has not scored is left out of all."""
    draw = np.random.default_rng(4)
    judges = [f"judge{n}" for n in range(5)]
    scores = pd.DataFrame([(replicate, judge, f"m{model}", round(float(model / 8 + draw.normal()), 1))
                           for replicate in range(20) for judge in judges for model in range(12)],
                          columns=["replicate", "judge", "model", "score"])
    scores.loc[len(scores)] = (0, "judge0", "lone", 0.0)
    scores.loc[len(scores)] = (0, "judge1", "lone", None)
    found = query("with {{ kendalls_w('agreement', 'scores', ['replicate']) }} from agreement order by replicate",
                  scores=scores)
    for replicate, part in scores[scores.model != "lone"].groupby("replicate"):
        table = part.pivot(index="model", columns="judge", values="score")
        expected = stats.friedmanchisquare(*table.to_numpy())
        row = found.loc[replicate]
        assert (row.n_judges, row.n_models) == (5, 12)
        assert abs(row.chi_squared - expected.statistic) < 1e-9
        assert abs(row.p_value - expected.pvalue) < 1e-9
        assert abs(row.w - expected.statistic / (5 * 11)) < 1e-9

    one = query("with {{ kendalls_w('agreement', 'scores') }} from agreement",
                scores=scores[(scores.replicate == 1)].drop(columns="replicate"))
    assert abs(one.w[0] - found.w[1]) < 1e-12
    for few in (scores[scores.judge == "judge0"], scores[scores.model == "m1"], scores.assign(score=1.0)):
        assert query("with {{ kendalls_w('agreement', 'scores', ['replicate']) }} from agreement",
                     scores=few).w.isna().all()
    assert len(query("with {{ kendalls_w('agreement', 'scores') }} from agreement", scores=scores[:0])) <= 1


def test_inversions_of_separated_neighbours():
    tiers = pd.DataFrame({"model": list("abcd"), "rank": [1, 2, 3, 4], "tier": [1, 1, 2, 3]})
    scores = pd.DataFrame([("j", "a", 0.1), ("j", "b", 0.5), ("j", "c", 0.4), ("j", "d", 0.45),
                           ("k", "a", 0.9), ("k", "b", 0.5), ("k", "c", 0.6), ("k", "d", 0.6)],
                          columns=["judge", "model", "score"])
    found = query("with {{ rank_inversions('inversions', 'scores', 'tiers') }} from inversions",
                  scores=scores, tiers=tiers)
    # b over c: j agrees, k does not; c over d: j does not, k ties.
    assert (found.n_separated[0], found.n_inversions[0]) == (4, 2)
