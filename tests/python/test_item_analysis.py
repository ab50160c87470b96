"""Item analysis, probes and agreement against numpy, scipy and statsmodels on simulated runs.

A run is simulated as its scores; the compiled SQL of the reports runs on it, and what it gives is
compared with the same statistic by other means.
"""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pandas as pd
import pytest
from conftest import rows_on
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from test_statistics import TASKS, VARS, Z, influence, two_way

SCORES = {
    "model": "varchar", "mode": "varchar", "task": "varchar", "source": "varchar", "n_options": "integer",
    "template_key": "varchar", "item_id": "varchar", "person_group": "varchar", "answer_cui_id": "integer",
    "correct": "integer", "arm": "varchar", "repetition": "integer", "variant": "integer",
    "n_context": "integer", "chosen_option_key": "varchar",
}
# What the reports read beside the scores; the scores are what was answered of the requests.
INPUTS = """
create table int_answer_requests as select distinct model, mode, 1 as repetition, 'mcq' as format, arm, item_id,
    template_key, task, n_options from asked;
create table int_pooled_requests as select distinct model, mode, 1 as repetition, arm, arm = 'standard' as is_headline,
    item_id, template_key, task, source from asked;
create table fct_scores as from answered;
create table int_headline_scores as from fct_scores where arm = 'standard';
create table int_headline_asked as select model, mode, task, source, n_options,
    cast(count(*) as integer) as n_asked from asked where arm = 'standard' group by all;
create table int_subset_templates as select distinct template_key, source, task, n_options, person_group,
    answer_cui_id from asked;
create table int_pooled_sources as select distinct source, source <> 'copy' as is_pooled from asked;
create table models as select distinct model, if(model like 'base%', 'sql', 'vllm') as engine,
    if(model like 'base%', 'baseline', 'general') as kind from asked;
create table prompt_arms (arm varchar, is_headline boolean, scenario varchar, should_abstain boolean,
    n_context integer);
insert into prompt_arms values ('standard', true, 'own', false, null), ('idk', false, 'own', false, null),
    ('twin', false, 'twin', false, null), ('context_3', false, 'context_3', false, 3),
    ('context_4', false, 'context_4', false, 4);
create table dim_items as select distinct item_id, source from asked;
create table dim_patients as select distinct source, person_group from asked;
create table source_overlaps (source varchar, person_family varchar);
create table int_source_data_classes as select distinct source, 'credentialed' as data_class from asked;
create table fct_item_options as select distinct item_id, chr(cast(65 + place as integer)) as option_letter,
    concat('o', place) as option_key from asked, range(n_options) as places(place);
create table fct_answer_keys as select distinct item_id, 'o0' as gold_option_key from asked;
create table int_templates as select distinct template_key, concat('tr', template_key) as triple_id from asked;
create table fct_triple_proposals as select distinct concat('tr', template_key) as triple_id, generator
    from asked, (values ('rules'), ('model')) as g(generator)
    where generator = 'rules' or md5(template_key) < '9';
create table int_leaderboard_tiers (model varchar, mode varchar, rank integer, tier integer);
"""
REPORTS = ["int_template_scores", "rpt_item_analysis", "rpt_distractor_analysis", "rpt_item_summary",
           "rpt_over_baseline", "rpt_option_probe", "rpt_source_consistency"]


def simulated(seed=5, models=12, baselines=2, modes=("choice", "free"), templates=288, persons=100,
              option_counts=(4, 5, 6), sources=("iii", "iv", "site")):
    """Requests of models on the same items, with the option that each would choose."""
    draw = np.random.default_rng(seed)
    one = pd.DataFrame({"number": np.arange(templates), "person": draw.integers(0, persons, templates),
                        "answer_cui_id": (draw.random(templates) ** 2 * 60).astype(int)})
    one["task"] = np.array(TASKS)[one.number % len(TASKS)]
    one["source"] = np.array(sources)[one.person % len(sources)]
    one["ease"] = draw.normal(0, 1, templates) + draw.normal(0, 0.7, persons)[one.person]
    one["template_key"] = "t" + one.number.astype(str)
    one["person_group"] = "p" + one.person.astype(str)
    one["variant"] = one.number % 2
    items = one.merge(pd.DataFrame({"n_options": option_counts}), how="cross")
    items["item_id"] = items.template_key + "_" + items.n_options.astype(str)
    names = [(f"m{number:02}", mode, number) for number in range(models) for mode in modes]
    names += [(f"base{number}", "choice", 0) for number in range(baselines)]
    frames = []
    for model, mode, skill in names:
        rows = items.assign(model=model, mode=mode)
        right = draw.random(len(rows)) < 1 / (1 + np.exp(-(0.2 * skill - 1 + rows.ease)))
        wrong = (draw.random(len(rows)) ** 4 * (rows.n_options - 1)).astype(int) + 1
        rows["chosen_option_key"] = "o" + np.where(right, 0, wrong).astype(str)
        rows["correct"] = right.astype(int)
        frames.append(rows)
    rows = pd.concat(frames, ignore_index=True)
    return rows.assign(arm="standard", repetition=1, n_context=2)


class Run:
    """A database with scores on which models are built from their compiled SQL."""

    def __init__(self, unqualified, asked, kept=None, change="", build=REPORTS):
        self.sql, self.asked = unqualified, asked
        self.scores = asked if kept is None else asked[kept]
        self.connection = duckdb.connect(config={"threads": 2})
        columns = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in SCORES.items())
        for name, rows in (("asked", self.asked), ("answered", self.scores)):
            self.connection.register("frame", rows[list(SCORES)])
            self.connection.execute(f"create table {name} as select {columns} from frame")
        self.connection.execute(INPUTS + change)
        for name in build:
            self.connection.execute(f"create table {name} as {unqualified[name]}")

    def rows(self, sql):
        """A table; decimals come as floats."""
        return self.connection.execute(sql).df()


@pytest.fixture(scope="module")
def run(unqualified):
    """With a tenth of the answers missing, but for the free mode."""
    asked = simulated()
    kept = (np.random.default_rng(1).random(len(asked)) < 0.9) | (asked["mode"] == "free")
    return Run(unqualified, asked, kept)


def rounded(found, expected, digits=6):
    return abs(float(found) - expected) <= 0.5 * 10**-digits + 1e-9


# -------------------------------------------------------------------------------- the baselines


def test_differences_from_baselines_are_paired_and_clustered(run):
    found = run.rows("from rpt_over_baseline").set_index(["model", "mode", "baseline"])
    assert len(found) == 12 * 2 * 2 and (found.status == "estimable").all()
    assert {"level", "above"} <= set(found.verdict)
    for (model, mode, baseline), row in found.iloc[::5].iterrows():
        of = run.scores.set_index("item_id")
        one = of[(of.model == model) & (of["mode"] == mode)]
        pair = one.join(of[of.model == baseline].correct.rename("other"), how="inner")
        mean, error = two_way((pair.correct - pair.other).to_numpy(float), pair.task.to_numpy(),
                              pair.person_group, pair.answer_cui_id)
        assert rounded(row.difference, mean) and rounded(row.difference_low, mean - Z * error)
        assert rounded(row.difference_high, mean + Z * error)
        assert abs(row.p_value - 2 * stats.norm.sf(abs(mean / error))) < 1e-9
        assert (row.n, row.n_asked) == (len(pair), 864)
        level = row.p_holm > 0.05
        assert row.verdict == ("level" if level else "above" if mean > 0 else "below")
    for _, part in found.groupby(["mode", "baseline"]):
        assert np.abs(multipletests(part.p_value, method="holm")[1] - part.p_holm).max() < 1e-9


def brute_score(template, option, pairs, concepts, first, smoothing):
    """The score of one option by loops over the visits of other persons."""
    windows = [pair for pair in pairs if pair[0] == template["window"] and pair[1] != template["person"]]

    def has(pair, concept):
        subject, object_ = pair[2], pair[3]
        if concept not in concepts[object_]:
            return False
        return template["window"] == "same_visit" or first[pair[1], concept] > subject
    total = 0.0
    for concept in template["concepts"]:
        with_concept = [pair for pair in windows if concept in concepts[pair[2]]]
        both = sum(has(pair, option) for pair in with_concept)
        expected = len(with_concept) * sum(has(pair, option) for pair in windows) / max(len(windows), 1)
        total += math.log((both + smoothing) / (expected + smoothing))
    return total


def test_cooccurrence_counts_other_persons(unqualified):
    """Against loops: twelve persons with up to four visits; visits are numbered through."""
    draw = np.random.default_rng(8)
    pairs, visits, concepts, number = [], [], {}, 0
    for person in range(12):
        own = range(number, number + draw.integers(1, 5))
        number = own.stop
        for visit in own:
            visits.append((visit, person))
            concepts[visit] = set(draw.choice(30, 12, replace=False).tolist())
            pairs.append(("same_visit", person, visit, visit))
        pairs += [("next_visit", person, visit, visit + 1) for visit in own[:-1]]
    first = {}
    for visit, person in reversed(visits):
        first.update({(person, concept): visit for concept in concepts[visit]})
    templates = [{"person": person, "window": window, "concepts": draw.choice(15, 3, replace=False).tolist()}
                 for person in range(12) for window in ("same_visit", "next_visit")]
    with duckdb.connect() as connection:
        def table(name, columns, rows):
            connection.execute(f"create table {name} ({columns})")
            connection.executemany(f"insert into {name} values ({', '.join('?' * len(rows[0]))})", rows)
        numbers = range(len(templates))
        table("dim_items", "item_id int, template_key int, in_subset bool, format text",
              [(n, n, True, "mcq") for n in numbers])
        table("fct_item_options", "item_id int, option_key int, cui text",
              [(n, o, f"C{o:07}") for n in numbers for o in range(15, 30)])
        table("int_templates", "template_number int, template_key int, source text, task text, person_group int",
              [(n, n, "s", {"next_visit": "px"}.get(t["window"], "dx"), t["person"]) for n, t in enumerate(templates)])
        table("int_scenario_concepts", "template_number int, cui_id int",
              [(n, c) for n, t in enumerate(templates) for c in t["concepts"]])
        table("int_pair_visits", "source text, pair_window text, person_group int, subject_visit_id int, "
              "object_visit_id int", [("s", *pair) for pair in pairs])
        table("dim_visits", "source text, visit_key int, patient_key int, visit_number int",
              [("s", visit, person, visit) for visit, person in visits])
        table("int_visit_ids", "visit_key int, visit_id int", [(visit, visit) for visit, _ in visits])
        table("int_visit_concepts", "visit_id int, cui_id int",
              [(visit, concept) for visit, own in concepts.items() for concept in sorted(own)])
        found = connection.execute(unqualified["int_cooccurrence_scores"]).fetchall()
        assert len(found) == len(templates) * 15
        for number, option, score in found:
            expected = brute_score(templates[number], option, pairs, concepts, first, VARS["cooccurrence_smoothing"])
            assert abs(score / 1e6 - expected) < 3e-6
        connection.execute("delete from int_pair_visits")
        assert connection.execute("select distinct score from "
                                  f"({unqualified['int_cooccurrence_scores']})").fetchall() == [(0,)]


# ------------------------------------------------------------------------------- options, sources


def know_or_guess(rows, count, scope):
    """Values of templates with both option counts: with count, with four, and the gap."""
    rows = rows if scope == "overall" else rows[rows.task == scope]
    pivot = rows.pivot(index="template_key", columns="n_options", values="correct").dropna(subset=[4, count])
    slope = (1 - 1 / count) / (1 - 1 / 4)
    keys = rows.drop_duplicates("template_key").set_index("template_key").loc[pivot.index]
    gap = pivot[count] - (1 / count + slope * (pivot[4] - 1 / 4))
    return pivot[count].to_numpy(float), pivot[4].to_numpy(float), gap.to_numpy(float), keys


def test_option_probe_is_paired_by_template(run):
    found = run.rows("from rpt_option_probe where mode = 'choice'").set_index(["model", "scope", "n_options"])
    assert len(found) == 14 * 4 * 2 and (found.status == "estimable").all()
    for (model, scope, count), row in found.loc[["m00", "m07", "base1"]].iterrows():
        rows = run.scores[(run.scores.model == model) & (run.scores["mode"] == "choice")]
        accuracy, base, gap, keys = know_or_guess(rows, count, scope)
        for figure, values in (("accuracy", accuracy), ("base_accuracy", base), ("gap", gap)):
            mean, error = two_way(values, keys.task.to_numpy(), keys.person_group, keys.answer_cui_id)
            assert rounded(row[figure], mean), figure
            assert rounded(row[f"{figure}_low"], mean - Z * error) and rounded(row[f"{figure}_high"], mean + Z * error)
        assert abs(row.p_value - 2 * stats.norm.sf(abs(mean / error))) < 1e-8
        knows = (row.base_accuracy - 1 / 4) / (3 / 4)
        assert abs(row.expected - (knows + (1 - knows) / count)) < 2e-6
        assert abs(row.gap - (row.accuracy - row.expected)) < 3e-6
        assert row.n_templates == len(gap)
        asked = run.asked[(run.asked.model == model) & (run.asked["mode"] == "choice")]
        asked = asked[asked.n_options == count]
        assert row.n_asked == len(asked if scope == "overall" else asked[asked.task == scope])


def test_who_knows_or_guesses_has_no_gap(unqualified):
    """Sixty such models with items of their own: their intervals hold zero about as often as said."""
    draw = np.random.default_rng(3)
    frames = []
    for model in range(60):
        one = pd.DataFrame({"template": np.arange(120)})
        one["known"] = draw.random(120) < 0.5
        rows = one.merge(pd.DataFrame({"n_options": (4, 5, 6)}), how="cross")
        rows["correct"] = (rows.known | (draw.random(len(rows)) < 1 / rows.n_options)).astype(int)
        frames.append(rows.assign(model=f"m{model}", template_key=f"t{model}_" + rows.template.astype(str)))
    rows = pd.concat(frames, ignore_index=True)
    rows = rows.assign(mode="choice", task=np.array(TASKS)[rows.template % 3], source="iv", variant=0, n_context=2,
                       item_id=rows.template_key + "_" + rows.n_options.astype(str), arm="standard", repetition=1,
                       person_group=rows.template_key, answer_cui_id=rows.index // 3, chosen_option_key="o0")
    found = Run(unqualified, rows, build=["rpt_option_probe"]).rows("from rpt_option_probe where scope = 'overall'")
    assert len(found) == 120
    assert ((found.gap_low <= 0) & (found.gap_high >= 0)).mean() >= 0.88
    assert abs(found.gap.mean()) < 0.015


def test_sources_are_compared_on_the_same_cells(run):
    found = run.rows("from rpt_source_consistency").set_index(["model", "mode", "first_source", "second_source"])
    assert len(found) == 26 * 3
    estimable = found[found.status == "estimable"]
    assert len(estimable) > 40
    cells = run.asked.drop_duplicates("item_id").groupby(["source", "task", "n_options"]).size()
    for (model, mode, first, second), row in estimable.iloc[::5].iterrows():
        rows = run.scores[(run.scores.model == model) & (run.scores["mode"] == mode)].copy()
        wanted = {key for key in cells[first].index if min(cells[first][key], cells[second].get(key, 0)) >= 20}
        rows = rows[[key in wanted for key in zip(rows.task, rows.n_options, strict=True)]]
        rows["cell"] = rows.task + rows.n_options.astype(str)
        moves, means = [], []
        for source, sign in ((first, 1), (second, -1)):
            part = rows[rows.source == source]
            mean, move = influence(part.correct.to_numpy(float), part.cell.to_numpy())
            means.append(mean)
            moves.append(pd.Series(sign * move, index=part.index))
        moves = pd.concat(moves)
        part = rows.loc[moves.index]
        variances = []
        for keys in (["person_group"], ["answer_cui_id"], ["person_group", "answer_cui_id"]):
            sums = moves.groupby([part[key] for key in keys]).sum()
            variances.append(len(sums) / (len(sums) - 1) * (sums**2).sum())
        error = math.sqrt(max(*variances[:2], variances[0] + variances[1] - variances[2]))
        difference = means[0] - means[1]
        assert rounded(row.accuracy_first, means[0]) and rounded(row.accuracy_second, means[1])
        assert rounded(row.difference, difference) and rounded(row.difference_low, difference - Z * error)
        assert abs(row.p_value - 2 * stats.norm.sf(abs(difference / error))) < 1e-8
    for _, part in estimable.groupby(["mode", "is_baseline"]):
        assert np.abs(multipletests(part.p_value, method="holm")[1] - part.p_holm).max() < 1e-9


def test_sources_that_overlap_are_refused(unqualified):
    asked = simulated(models=2, baselines=0, modes=("choice",), templates=600,
                      sources=("iii", "iv", "site", "demo", "copy", "twin"))
    asked.loc[asked.template_key == "t0", ["source", "person_group"]] = ["site", "shared"]
    asked.loc[asked.template_key == "t1", ["source", "person_group"]] = ["twin", "shared"]
    change = """insert into source_overlaps values ('iv', 'family'), ('demo', 'family'), ('site', 'own');
        update int_source_data_classes set data_class = 'demo' where source = 'demo';"""
    found = Run(unqualified, asked, change=change, build=["rpt_source_consistency"]).rows(
        "from rpt_source_consistency where model = 'm00'").set_index(["first_source", "second_source"])
    reasons = {pair: reason for pair, reason in found.reason.items() if isinstance(reason, str)}
    assert reasons == {
        ("demo", "iv"): "overlapping_sources", ("site", "twin"): "shared_persons",
        ("demo", "iii"): "public_demo", ("demo", "site"): "public_demo", ("demo", "twin"): "public_demo",
        **{tuple(sorted(("copy", other))): "made_from_another_source"
           for other in ("iii", "iv", "site", "demo", "twin")},
    }
    refused = found.loc[list(reasons)]
    assert (refused.status == "not_assessed").all() and refused[["difference", "p_value"]].isna().all(axis=None)
    assert len(found) == 15 and (found.drop(list(reasons)).status == "estimable").all()


def test_the_firewall_sees_a_source_that_a_model_knows(unqualified):
    asked = simulated(models=2, baselines=1, modes=("choice",), templates=400, sources=("iii", "iv"))
    check = f"select model from ({unqualified['assert_sources_are_consistent']})"
    quiet = asked.assign(correct=(asked.index % 5 < 2).astype(int))
    built = ["rpt_source_consistency"]
    assert len(Run(unqualified, quiet, build=built).rows(check)) == 0
    known = quiet.assign(correct=np.where((asked.source == "iii") & (asked.model != "m01"), 1, quiet.correct))
    assert Run(unqualified, known, build=built).rows(check).model.tolist() == ["m00"]


# ---------------------------------------------------------------------------------- item analysis


def template_scores(run, mode):
    rows = run.scores[(run.scores["mode"] == mode) & run.scores.model.str.startswith("m")]
    return rows.groupby(["task", "template_key", "model"]).correct.mean()


def test_items_are_analysed_as_numpy_does(run):
    for mode in ("choice", "free"):
        found = run.rows(f"from rpt_item_analysis where mode = '{mode}'").set_index("template_key")
        assert len(found) == 288
        for _, part in template_scores(run, mode).groupby("task"):
            table = part.droplevel("task").unstack("template_key")
            for key in table.columns[::3]:
                row, own = found.loc[key], table[key].dropna()
                others = table.drop(columns=key).loc[own.index].mean(axis=1)
                assert row.n == len(own) and row.n_asked == 12
                if len(own) < VARS["item_analysis_min_models"]:
                    assert row.status == "not_estimable" and np.isnan(row.difficulty)
                    continue
                low, high = proportion_confint(own.mean() * len(own), len(own), 2 * stats.norm.sf(Z), "wilson")
                assert rounded(row.difficulty, own.mean()) and rounded(row.difficulty_low, low)
                assert rounded(row.difficulty_high, high)
                if own.nunique() == 1:
                    assert np.isnan(row.discrimination)
                    assert row.flag == {0.0: "all_miss", 1.0: "all_solve"}.get(own.iloc[0])
                    continue
                # Thirds are billionths here, so the last digit may differ.
                r = np.corrcoef(own, others)[0, 1]
                assert abs(row.discrimination - r) < 1e-6
                half = Z / math.sqrt(len(own) - 3)
                assert abs(row.discrimination_low - math.tanh(math.atanh(r) - half)) < 2e-6
                assert abs(row.discrimination_high - math.tanh(math.atanh(r) + half)) < 2e-6
                assert (row.flag == "negative_discrimination") == (row.discrimination < 0)


def alpha(table):
    """Cronbach's alpha of models × templates; KR-20 for scores of 0 and 1."""
    count = table.shape[1]
    return count / (count - 1) * (1 - table.var(axis=0, ddof=0).sum() / table.sum(axis=1).var(ddof=0))


def test_kr20_is_that_of_numpy(run, unqualified):
    found = run.rows("from rpt_item_summary").set_index(["mode", "task"])
    assert len(found) == 6 and (found.status == "estimable").all()
    for (mode, task), row in found.iterrows():
        table = template_scores(run, mode)[task].unstack("template_key").dropna(axis=1)
        whole = alpha(table)
        logs = np.array([math.log(1 - alpha(table.drop(index=model))) for model in table.index])
        error = math.sqrt((len(logs) - 1) / len(logs) * ((logs - logs.mean()) ** 2).sum())
        assert abs(row.kr20 - whole) < 1e-6
        assert abs(row.kr20_low - (1 - (1 - whole) * math.exp(Z * error))) < 2e-6
        assert abs(row.kr20_high - (1 - (1 - whole) * math.exp(-Z * error))) < 2e-6
        assert (row.n_models, row.n_templates, row.n_templates_asked) == (12, table.shape[1], 96)
    once = Run(unqualified, simulated(option_counts=(4,)))
    row = once.rows("from rpt_item_summary where mode = 'free' and task = 'dx'").iloc[0]
    table = template_scores(once, "free")["dx"].unstack("template_key")
    p = table.mean(axis=0)
    kr20 = len(p) / (len(p) - 1) * (1 - (p * (1 - p)).sum() / table.sum(axis=1).var(ddof=0))
    assert rounded(row.kr20, kr20)


def test_models_that_rounding_alone_parts_have_no_kr20(unqualified):
    """A third of three templates is a billionth less than all of one."""
    draw, rows = np.random.default_rng(1), []
    for model in range(10):
        firsts = [1000000000, 0, 0] if model % 2 else [333333333] * 3
        scores = [*firsts, *draw.permutation(np.repeat([0, 1000000000], 15)).tolist()]
        rows += [("choice", f"m{model}", f"t{place}", "dx", 3, 3, score) for place, score in enumerate(scores)]
    with duckdb.connect() as connection:
        connection.execute("""
            create table int_template_scores (mode varchar, model varchar, template_key varchar, task varchar,
                n_asked integer, n integer, score bigint);
            create table rpt_item_analysis (mode varchar, task varchar, flag varchar, status varchar);
            create table rpt_distractor_analysis (mode varchar, task varchar, is_non_functioning boolean)""")
        connection.executemany("insert into int_template_scores values (?, ?, ?, ?, ?, ?, ?)", rows)
        found = connection.execute(unqualified["rpt_item_summary"]).df().iloc[0]
    assert (found.status, found.n, found.n_asked) == ("estimable", 990, 990)
    assert found[["kr20", "kr20_low", "kr20_high"]].isna().all()


def test_distractors_that_nobody_chooses(run):
    found = run.rows("from rpt_distractor_analysis where mode = 'free'").set_index(["item_id", "option_key"])
    rows = run.scores[(run.scores["mode"] == "free") & run.scores.model.str.startswith("m")]
    chosen = rows.groupby(["item_id", "chosen_option_key"]).size()
    assert len(found) == 288 * 15 and (found.n == 12).all()
    for key, row in found.iterrows():
        count = chosen.get(key, 0)
        assert row.n_chosen == count and rounded(row.chosen_share, count / 12)
        assert row.is_answer == (key[1] == "o0")
        if row.is_answer:
            assert pd.isna(row.is_non_functioning)
        else:
            assert row.is_non_functioning == (count / 12 < VARS["non_functioning_share"])
    summary = run.rows("from rpt_item_summary where mode = 'free'")
    assert summary.n_non_functioning.sum() == found.is_non_functioning.fillna(False).sum()
    assert summary.n_distractors.sum() == 288 * 12


# -------------------------------------------------------------------------------- rank agreement


def test_rank_agreement_is_friedmans(unqualified):
    asked = simulated(models=6, baselines=1, modes=("choice",))
    spared = asked.assign(arm="idk", correct=1 - asked.correct.where(asked.index % 3 > 0, 1 - asked.correct))
    tiers = "insert into int_leaderboard_tiers values " + ", ".join(
        f"('m{5 - n:02}', 'choice', {n + 1}, {1 if n < 3 else n})" for n in range(6))
    run = Run(unqualified, pd.concat([asked, spared, spared.assign(arm="twin")], ignore_index=True),
              change=tiers, build=["rpt_rank_agreement"])
    found = run.rows("from rpt_rank_agreement").set_index(["kind", "scope"])
    judges = {"option_count": "n_options", "source": "source", "task": "task", "paraphrase": "variant", "arm": "arm"}
    rows = run.scores[run.scores.model.str.startswith("m") & (run.scores.arm != "twin")]
    proposals = run.rows("select substr(triple_id, 3) as template_key, generator from fct_triple_proposals")
    standard = rows[rows.arm == "standard"]
    for kind, column in {**judges, "generator": "generator"}.items():
        of = rows if kind == "arm" else standard.merge(proposals) if kind == "generator" else standard
        cells = of.groupby([column, "task"] if column != "task" else ["task"]).template_key.nunique()
        assert cells.min() >= 20, kind
        score = of.groupby(["model", *dict.fromkeys([column, "task"])]).correct.mean()
        score = score.groupby(["model", column]).mean()
        table = score.unstack(column).round(12)
        for scope, models in (("all", table.index), ("tier 1", ["m03", "m04", "m05"])):
            part, row = table.loc[models].to_numpy(), found.loc[(kind, scope)]
            if part.shape[1] > 2:
                assert abs(row.chi_squared - stats.friedmanchisquare(*part).statistic) < 2e-6, kind
            ranks = stats.rankdata(-part, axis=0)
            ties = sum((np.unique(judge, return_counts=True)[1] ** 3 - np.unique(judge, return_counts=True)[1]).sum()
                       for judge in ranks.T)
            n, m = part.shape
            spread = ((ranks.sum(axis=1) - m * (n + 1) / 2) ** 2).sum()
            assert rounded(row.w, 12 * spread / (m**2 * (n**3 - n) - m * ties)), kind
            assert (row.n_models, row.n_judges, row.status) == (n, m, "estimable")
            assert row.w_low <= row.w <= row.w_high
        order = [f"m{5 - n:02}" for n in range(6)]
        pairs = [(order[n], order[n + 1]) for n in range(2, 5)]
        row = found.loc[(kind, "all")]
        assert row.n_separated == 3 * table.shape[1]
        assert row.n_inversions == sum((table.loc[upper] < table.loc[lower]).sum() for upper, lower in pairs)
    lone = found.loc[("context_size", "all")]
    assert (lone.status, lone.reason, lone.n_judges) == ("not_estimable", "few_judges", 0)
    # The bootstrap moves W: an interval of no width would say that nothing was drawn.
    assert (found.w_high - found.w_low).max() > 0.05


def test_two_models_have_no_order_to_agree_on(unqualified):
    run = Run(unqualified, simulated(models=2, modes=("choice",)), build=["rpt_rank_agreement"])
    found = run.rows("from rpt_rank_agreement").set_index("kind")
    assert (found.status == "not_estimable").all() and found.reason["task"] == "few_models"
    assert found.n_models["task"] == 2 and found.n_judges["task"] == 3


def kendalls_w(part):
    """W of models × judges, corrected for ties, by the definition."""
    ranks = stats.rankdata(-part, axis=0)
    ties = sum((counts**3 - counts).sum() for counts in (np.unique(judge, return_counts=True)[1] for judge in ranks.T))
    n, m = part.shape
    return 12 * ((ranks.sum(axis=1) - m * (n + 1) / 2) ** 2).sum() / (m**2 * (n**3 - n) - m * ties)


def test_context_sizes_judge_the_same_items(unqualified):
    """Two thirds are asked with more context; m04 never answers size 4, and nobody answers all."""
    own = simulated(models=5, baselines=1, modes=("choice",), templates=180, option_counts=(4, 5))
    draw = np.random.default_rng(2)
    wide = own[(own.template_key.str[1:].astype(int) < 120) & (own.model != "base0")]
    frames = [own]
    for size in (3, 4):
        flipped = draw.random(len(wide)) < 0.15
        frames.append(wide.assign(arm=f"context_{size}", n_context=size, correct=wide.correct.to_numpy() ^ flipped))
    asked = pd.concat(frames, ignore_index=True)
    kept = (draw.random(len(asked)) < 0.97) & ~((asked.model == "m04") & (asked.n_context == 4))
    run = Run(unqualified, asked, kept, build=["rpt_rank_agreement", "rpt_context_size"])
    sizes = run.scores.groupby(["model", "item_id"]).n_context.transform("nunique")
    complete = run.scores[sizes == 3]
    row = run.rows("from rpt_rank_agreement").set_index(["kind", "scope"]).loc[("context_size", "all")]
    score = complete.groupby(["model", "n_context", "task"]).correct.mean().groupby(level=[0, 1]).mean()
    part = score.unstack().round(12)
    assert list(part.index) == ["m00", "m01", "m02", "m03"] and rounded(row.w, kendalls_w(part.to_numpy()))
    assert (row.n_judges, row.n_models, row.n, row.n_asked) == (3, 4, len(complete), 5 * 240 * 3)
    found = run.rows("from rpt_context_size").set_index(["model", "n_context"]).sort_index()
    assert list(found.index) == [(f"m{n:02}", size) for n in range(5) for size in (2, 3, 4)]
    assert (found.n_asked == 240).all() and (found.loc["m04"].n == 0).all()
    assert set(found.loc["m04"].status) == {"not_estimable"}
    for (model, size), row in found.loc[["m00", "m03"]].iterrows():
        rows = complete[complete.model == model].set_index(["item_id", "n_context"]).sort_index()
        at = rows.xs(size, level="n_context")
        assert (row.n, row.n_templates, row.n_clusters) == (
            len(at), at.template_key.nunique(), at.person_group.nunique())
        change = at.correct - rows.xs(2, level="n_context").correct
        for name, values in [("accuracy", at.correct), ("change", change)][:1 if size == 2 else 2]:
            mean, error = two_way(values.to_numpy(float), np.zeros(len(at)), at.person_group, at.answer_cui_id)
            assert rounded(row[name], mean) and rounded(row[f"{name}_low"], mean - Z * error)
            assert rounded(row[f"{name}_high"], mean + Z * error)
    assert found.change.isna().sum() == 7


def test_a_judge_of_few_models_is_none(unqualified):
    """Of source site two models were asked: the other sources still order five."""
    asked = simulated(models=5, baselines=0, modes=("choice",))
    asked = asked[(asked.source != "site") | asked.model.isin(["m00", "m01"])].reset_index(drop=True)
    found = Run(unqualified, asked, build=["rpt_rank_agreement"]).rows("from rpt_rank_agreement").set_index("kind")
    assert (found.n_judges["source"], found.n_models["source"], found.status["source"]) == (2, 5, "estimable")
    assert found.n["source"] == found.n_asked["source"] == len(asked)


# ---------------------------------------------------------------------------------- empty inputs


@pytest.mark.parametrize("answered", ["nothing asked", "nothing answered", "one answer"])
def test_reports_stand_on_little(unqualified, answered):
    asked = simulated(models=3, modes=("choice",), templates=60)
    asked = asked[:0] if answered == "nothing asked" else asked
    kept = np.arange(len(asked)) < (answered == "one answer")
    run = Run(unqualified, asked, kept, build=[*REPORTS, "rpt_rank_agreement", "rpt_context_size"])
    for name in REPORTS[1:] + ["rpt_rank_agreement"]:
        found = run.rows(f"from {name}")
        assert (len(found) == 0) == (answered == "nothing asked"), name
        assert "estimable" not in set(found.status), name
    assert len(run.rows("from rpt_context_size")) == 0


def test_an_unanswered_baseline_request_is_seen(unqualified):
    tables = {
        "int_answer_requests": ("request_key text, model text, engine text",
                                [("a", "random", "sql"), ("b", "near", "sql"), ("c", "m", "vllm")]),
        "models": ("model text, weights text", [("random", None), ("near", "vectors"), ("m", None)]),
        "int_baseline_completions": ("request_key text", [("a",)]),
    }
    check = unqualified["assert_baselines_answer_every_request"]
    assert rows_on(tables, check) == 0
    assert rows_on(tables, check, "delete from int_baseline_completions") == 1
