"""Probes of contamination, subgroups, generators and the canary against numpy, scipy and statsmodels.

A run is simulated with effects of persons and answer concepts, a true gap between two groups, a true slope against
the logarithm of articles, and twins that are answered at a rate of their own. The compiled SQL of the reports runs on
it; what it has before its last rounding is compared with the same figure by other means.
"""

import re

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.sandwich_covariance import cov_cluster

from ehrbench import canary, recorded

Z = 1.96
GAP, SLOPE, TWIN = 0.12, 0.06, -0.15
TABLES = {
    "fct_scores": "model varchar, mode varchar, task varchar, source varchar, n_options integer, item_id varchar, "
                  "template_key varchar, person_group varchar, answer_cui_id integer, correct integer, arm varchar, "
                  "repetition integer",
    "int_pooled_requests": "model varchar, mode varchar, arm varchar, is_headline boolean, repetition integer, "
                           "item_id varchar, template_key varchar, task varchar, n_options integer",
    "int_pooled_sources": "source varchar, is_pooled boolean",
    "int_template_groups": "template_key varchar, grouping varchar, subgroup varchar, subgroup_order integer",
    "int_patient_groups": "patient_key varchar, source varchar, anchor_year_group varchar",
    "int_subset_templates": "template_key varchar, source varchar",
    "int_templates": "template_key varchar, triple_id varchar",
    "int_triple_counts": "triple_id varchar, n_supporting_pmids integer",
    "int_triple_generators": "triple_id varchar, generator varchar, source varchar, task varchar, person_group varchar",
    "int_generator_triples": "triple_id varchar, generator varchar, task varchar, person_group varchar, "
                             "object_cui_id integer, is_accepted integer, is_kb_accepted integer, "
                             "template_key varchar, answer_cui_id integer",
    "models": "model varchar, kind varchar",
}
ARMS = """
create table prompt_arms as select * from (values
    ('standard', 'own', 'own', false, true), ('twin', 'twin', 'own', false, false),
    ('choices_only', 'hidden', 'own', false, false), ('idk', 'own', 'own', true, false)
) as v (arm, scenario, options, has_abstention, is_headline);
create view int_headline_scores as select * from fct_scores where arm = 'standard' and repetition = 1;
create view int_headline_asked as select model, mode, cast(count(*) as integer) as n_asked
    from int_pooled_requests where is_headline and repetition = 1 group by all;
"""


def simulated(seed=7, models=3, templates=240, persons=120, answers=60, option_counts=(4, 5), own_templates=False):
    """Scores in three arms; with own_templates each model has persons, answers and templates of its own."""
    draw = np.random.default_rng(seed)
    frames = []
    for number in range(models):
        if number == 0 or own_templates:
            of_person, of_answer = draw.uniform(-0.15, 0.15, persons), draw.uniform(-0.15, 0.15, answers)
            one = pd.DataFrame({"person": draw.integers(0, persons, templates)})
            one["answer"] = (draw.random(templates) ** 1.5 * answers).astype(int)
            one["task"] = np.array(["dx", "px", "tx"])[np.arange(templates) % 3]
            one["later"] = one.person % 2 == 1
            one["pmids"] = np.floor(10 ** draw.uniform(0, 2, templates)).astype(int) * (draw.random(templates) < 0.9)
            one["effect"] = of_person[one.person] + of_answer[one.answer]
            name = f"{number}_" if own_templates else ""
            one["template_key"] = [f"t{name}{value}" for value in range(templates)]
            one["person_group"] = [f"p{name}{value}" for value in one.person]
            items = one.merge(pd.DataFrame({"n_options": option_counts}), how="cross")
            items["item_id"] = items.template_key + "_" + items.n_options.astype(str)
        log_pmids = np.log10(np.maximum(items.pmids, 1))
        for arm, shift in (("standard", 0), ("twin", TWIN), ("choices_only", TWIN)):
            rows = items.copy()
            chance = 0.35 + 0.05 * (rows.task == "dx") + rows.effect + GAP * rows.later + SLOPE * log_pmids + shift
            rows["correct"] = (draw.random(len(rows)) < chance).astype(int)
            rows["arm"], rows["model"] = arm, f"m{number:04}"
            frames.append(rows)
    scores = pd.concat(frames, ignore_index=True)
    return scores.assign(mode="choice", source="s", repetition=1, answer_cui_id=scores.answer)


def database(scores=None):
    """A database with the reports' inputs, empty or of a simulated run."""
    connection = duckdb.connect(config={"threads": 2})
    for name, columns in TABLES.items():
        connection.execute(f"create table {name} ({columns})")
    connection.execute(ARMS)
    if scores is not None:
        connection.register("scores", scores)
        connection.execute("""
            insert into fct_scores by name select model, mode, task, source, n_options, item_id, template_key,
                person_group, answer_cui_id, correct, arm, repetition from scores;
            insert into int_pooled_requests by name
                select model, mode, arm, arm = 'standard' as is_headline, repetition, item_id, template_key, task, n_options
                from scores;
            insert into int_pooled_sources values ('s', true);
            insert into int_subset_templates select distinct template_key, source from scores;
            insert into int_templates select distinct template_key, template_key from scores;
            insert into int_triple_counts select distinct template_key, pmids from scores;
            insert into int_patient_groups values ('p', 's', null);
            insert into int_template_groups select distinct template_key, 'anchor_period',
                case when later then 'later' else 'earlier' end, cast(later as integer) from scores;
            insert into int_template_groups select distinct template_key, 'age', concat('band ', person % 3), person % 3
                from scores;
            insert into models select distinct model, 'general' from scores;
        """)
    return connection


def before_rounding(sql, last):
    """The query with an earlier step as its result, which holds the doubles."""
    head, _, _ = sql.rpartition("select * from ")
    return f"{head}select * from {last}"


def clustered(moves, *groups):
    """Variance by clusters of the rows' moves; two-way, never below either alone."""
    def by(keys):
        sums = pd.Series(np.asarray(moves)).groupby([np.asarray(key) for key in keys]).sum()
        return len(sums) / (len(sums) - 1) * (sums**2).sum()

    persons, answers = by(groups[:1]), by(groups[1:])
    return max(persons, answers, persons + answers - by(groups))


def mean_and_error(values, rows):
    values = np.asarray(values, float)
    moves = (values - values.mean()) / len(values)
    return values.mean(), np.sqrt(clustered(moves, rows.person_group, rows.answer))


def ends(estimate, error):
    """Figure and interval."""
    return estimate, estimate - Z * error, estimate + Z * error


def difference_and_error(values, first, rows):
    values, first = np.asarray(values, float), np.asarray(first)
    one, other = values[first].mean(), values[~first].mean()
    moves = np.where(first, (values - one) / first.sum(), -(values - other) / (~first).sum())
    return one - other, np.sqrt(clustered(moves, rows.person_group, rows.answer))


@pytest.fixture(scope="module")
def scores():
    return simulated()


@pytest.fixture(scope="module")
def run(unqualified, scores):
    connection = database(scores)
    connection.execute(f"create table rpt_subgroups as {unqualified['rpt_subgroups']}")
    return connection


def test_subgroups_against_numpy(unqualified, scores, run):
    found = run.execute(before_rounding(unqualified["rpt_subgroups"], "judged")).df()
    assert len(found) == 3 * 4 * (2 + 3)
    standard = scores[scores.arm == "standard"]
    for row in found.itertuples():
        rows = standard[(standard.model == row.model) & ((row.scope == "all") | (standard.task == row.scope))]
        if row.grouping == "age":
            inside = ("band " + (rows.person % 3).astype(str)) == row.subgroup
        else:
            inside = rows.later == (row.subgroup == "later")
        mean, error = mean_and_error(rows.correct[inside], rows[inside])
        assert (row.mean, row.low, row.high) == pytest.approx(ends(mean, error), abs=1e-9)
        assert (row.gap, row.gap_error) == pytest.approx(difference_and_error(rows.correct, inside, rows), abs=1e-9)
        assert row.n == inside.sum() == row.n_asked
        assert row.n_persons == rows.person_group[inside].nunique()


def test_twins_against_numpy(unqualified, scores, run):
    # Some items have no answer in an arm: pairs are of items that have both.
    run.execute("delete from fct_scores where arm = 'choices_only' and item_id like '%3_4'")
    found = run.execute(before_rounding(unqualified["rpt_contamination"], "united")).df()
    wide = scores.pivot(index=["model", "item_id"], columns="arm", values="correct").reset_index()
    rows = scores[scores.arm == "twin"].drop(columns=["correct", "arm"]).merge(wide, on=["model", "item_id"])
    with_options = rows[~rows.item_id.str.endswith("3_4")]
    for model in sorted(scores.model.unique()):
        for figure, frame, values in [
            ("twin", rows, lambda f: f.twin), ("standard", rows, lambda f: f.standard),
            ("choices_only", with_options, lambda f: f.choices_only),
            ("twin_less_standard", rows, lambda f: f.twin - f.standard),
            ("twin_less_choices_only", with_options, lambda f: f.twin - f.choices_only),
            ("twin_less_chance", rows, lambda f: f.twin - 1 / f.n_options),
        ]:
            own = frame[frame.model == model]
            mean, error = mean_and_error(values(own), own)
            row = found[(found.model == model) & (found.figure == figure)].iloc[0]
            assert (row["mean"], row.low, row.high) == pytest.approx(ends(mean, error), abs=1e-9)
            assert row.n == len(own)
            assert row.n_asked == len(rows[rows.model == model])


def test_slope_against_statsmodels(unqualified, scores, run):
    """Dummies of task and option count in the one, deviations from their means in the other."""
    found = run.execute(before_rounding(unqualified["rpt_contamination"], "united")).df()
    found = found[found.figure == "slope_per_tenfold"].set_index("model")
    standard = scores[(scores.arm == "standard") & (scores.pmids > 0)]
    for model, rows in standard.groupby("model"):
        rows = rows.assign(x=np.log10(rows.pmids), cell=rows.task + rows.n_options.astype(str)).reset_index()
        fit = smf.ols("correct ~ x + C(cell)", rows).fit()
        place = list(fit.params.index).index("x")
        variance = {}
        for kind in ("person_group", "answer", "pair"):
            keys = rows.person_group + "|" + rows.answer.astype(str) if kind == "pair" else rows[kind]
            groups = pd.factorize(keys)[0]
            size = groups.max() + 1
            variance[kind] = cov_cluster(fit, groups, use_correction=False)[place, place] * size / (size - 1)
        error = np.sqrt(max(variance["person_group"], variance["answer"],
                            variance["person_group"] + variance["answer"] - variance["pair"]))
        row = found.loc[model]
        assert row["mean"] == pytest.approx(fit.params["x"], abs=1e-9)
        assert (row.high - row.low) / 2 / Z == pytest.approx(error, abs=1e-9)
        assert row.n == len(rows) and row.n_asked == len(scores[(scores.arm == "standard") & (scores.model == model)])


@pytest.mark.parametrize("pmids", [1000, 1001])
def test_article_counts_that_hardly_differ_have_no_slope(unqualified, scores, pmids):
    """One fact with one article more than all others: a tenfold would be worth hundreds."""
    close = scores.assign(pmids=np.where(scores.template_key == "t0", pmids, 1000))
    found = database(close)
    for name in ("rpt_subgroups", "rpt_contamination"):
        found.execute(f"create table {name} as {unqualified[name]}")
    rows = found.execute("from rpt_contamination where figure = 'slope_per_tenfold'").df()
    assert len(rows) == 3 and (rows.reason == "one_article_count").all() and rows.estimate.isna().all()


def test_time_is_read_off_the_subgroups(unqualified, scores, run):
    found = run.execute(f"select * from ({unqualified['rpt_contamination']}) where probe = 'time'").df()
    assert set(found.figure) == {"earlier", "later", "later_less_earlier"}
    assert set(found[found.source == "s"].reason) == {"no_year_groups"}
    for model, rows in scores[scores.arm == "standard"].groupby("model"):
        gap, error = difference_and_error(rows.correct, rows.later, rows)
        row = found[(found.model == model) & (found.source == "mimic_iv") & (found.figure == "later_less_earlier")]
        values = row[["estimate", "estimate_low", "estimate_high"]].astype(float).iloc[0]
        assert tuple(values) == pytest.approx(ends(gap, error), abs=6e-7)
        assert row.n.iloc[0] == len(rows)


# ------------------------------------------------------------------------------------ coverage


def coverage(unqualified, replicates):
    """Share of the replicates, one model each, whose interval holds the truth: by figure."""
    scores = simulated(seed=11, models=replicates, templates=200, persons=100, answers=60, option_counts=(4,),
                       own_templates=True)
    connection = database(scores)
    connection.execute(f"create table rpt_subgroups as {unqualified['rpt_subgroups']}")
    found = connection.execute(f"""
        select figure, avg(cast(estimate_low <= truth and truth <= estimate_high as integer))
        from ({unqualified['rpt_contamination']})
        inner join (values
            ('later_less_earlier', {GAP}), ('slope_per_tenfold', {SLOPE}), ('twin_less_standard', {TWIN})
        ) as truths (figure, truth) using (figure)
        where status = 'estimable' group by figure
    """).fetchall()
    return dict(found)


def test_intervals_hold_the_truth(unqualified):
    held = coverage(unqualified, 60)
    assert len(held) == 3
    # Four standard errors of a share of 0.94 of 60.
    assert all(0.82 <= share <= 1 for share in held.values()), held


@pytest.mark.soak
def test_intervals_hold_the_truth_often_enough(unqualified):
    held = coverage(unqualified, 2000)
    assert len(held) == 3
    assert all(0.93 <= share <= 0.98 for share in held.values()), held


# ----------------------------------------------------------------------------------- generators


@pytest.fixture(scope="module")
def arms():
    """Two generators and the null with 300 triples each, some shared; templates of what is accepted."""
    draw = np.random.default_rng(5)
    frames = []
    for generator, rate, first in (("kb", 0.6, 0), ("llm", 0.4, 150), ("shuffled_visits", 0.2, 1000)):
        rows = pd.DataFrame({"number": np.arange(first, first + 300)})
        rows["generator"], rows["rate"] = generator, rate
        frames.append(rows)
    rows = pd.concat(frames, ignore_index=True)
    rows["triple_id"] = "r" + rows.number.astype(str)
    rows["person_group"] = "p" + (rows.number % 60).astype(str)
    rows["object_cui_id"] = rows.number * 7 % 41
    threshold = np.random.default_rng(9).random(2000)[rows.number] + draw.normal(0, 0.2, 60)[rows.number % 60]
    rows["is_kb_accepted"] = (threshold < rows.rate).astype(int)
    rows["is_accepted"] = rows.is_kb_accepted * (rows.generator != "shuffled_visits")
    has_template = (rows.generator != "shuffled_visits") & (rows.number % 5 < 3)
    rows["template_key"] = [f"t{key}" if has else None for key, has in zip(rows.triple_id, has_template, strict=True)]
    rows["template_key"] = rows.template_key.astype(object).where(has_template, None)
    return rows.assign(task="dx", answer_cui_id=rows.object_cui_id)


@pytest.fixture(scope="module")
def generator_run(arms):
    connection = database()
    connection.register("arms", arms)
    draw = np.random.default_rng(1)
    keys = sorted(set(arms.template_key.dropna()))
    scores = pd.concat([
        pd.DataFrame({"model": f"m{number}", "template_key": keys,
                      "correct": (draw.random(len(keys)) < 0.3 + 0.02 * number).astype(int)})
        for number in range(5)
    ]).merge(arms.drop_duplicates("template_key")[["template_key", "person_group", "answer_cui_id"]], on="template_key")
    scores = scores.assign(mode="choice", task="dx", source="s", n_options=4, item_id="i" + scores.template_key,
                           arm="standard", repetition=1)
    connection.register("scores", scores)
    connection.execute("""
        insert into int_generator_triples by name select * exclude (number, rate) from arms;
        insert into int_triple_generators select triple_id, generator, 's', task, person_group from arms;
        insert into int_pooled_sources values ('s', true);
        insert into fct_scores by name from scores;
        insert into int_pooled_requests by name
            select model, mode, arm, arm = 'standard' as is_headline, repetition, item_id, template_key, task, n_options
            from scores;
        insert into models select distinct model, 'general' from scores;
    """)
    return connection, scores


def test_generators_against_numpy_and_scipy(unqualified, arms, generator_run):
    connection, scores = generator_run
    found = connection.execute(before_rounding(unqualified["rpt_generator_arms"], "united")).df()
    assert found.reason.isna().all()

    def row(figure, generator, versus=None):
        rows = found[(found.figure == figure) & (found.generator == generator)]
        return (rows if versus is None else rows[rows.versus == versus]).iloc[0]

    null = arms[arms.generator == "shuffled_visits"]
    for generator in ("kb", "llm"):
        own = arms[arms.generator == generator].rename(columns={"object_cui_id": "answer"})
        for figure, column in (("accept_rate", "is_accepted"), ("kb_pass_rate", "is_kb_accepted")):
            mean, error = mean_and_error(own[column], own)
            one = row(figure, generator)
            assert (one.estimate, one.low, one.high) == pytest.approx(ends(mean, error), abs=1e-9)
        both = pd.concat([own, null.rename(columns={"object_cui_id": "answer"})])
        first = (both.generator == generator).to_numpy()
        rates = np.where(first, own.is_kb_accepted.mean(), null.is_kb_accepted.mean())
        moves = np.where(first, 1, -1) * (both.is_kb_accepted - rates) / rates / 300
        error = np.sqrt(clustered(moves, both.person_group, both.answer))
        one = row("enrichment", generator)
        ratio = own.is_kb_accepted.mean() / null.is_kb_accepted.mean()
        assert one.estimate == pytest.approx(ratio, abs=1e-9)
        assert np.log([one.estimate, one.low, one.high]) == pytest.approx(ends(np.log(ratio), error), abs=1e-8)

    kb, llm = (set(arms.template_key[(arms.generator == name) & arms.template_key.notna()]) for name in ("kb", "llm"))
    union = arms[arms.template_key.isin(kb | llm)].drop_duplicates("template_key")
    union = union.rename(columns={"object_cui_id": "answer"})
    mean, error = mean_and_error(union.template_key.isin(kb & llm), union)
    one = row("item_overlap", "kb", "llm")
    assert mean == len(kb & llm) / len(kb | llm)
    assert (one.estimate, one.low, one.high) == pytest.approx(ends(mean, error), abs=1e-9)

    ranks = []
    for name, keys in (("kb", kb), ("llm", llm)):
        means = scores[scores.template_key.isin(keys)].groupby("model").correct.mean()
        ranks.append(stats.rankdata(means.round(12)))
        for model, value in means.items():
            assert row("accuracy", name, model).estimate == pytest.approx(value, abs=1e-9)
    totals = np.sum(ranks, axis=0)
    ties = sum((counts**3 - counts).sum() for counts in (np.unique(one, return_counts=True)[1] for one in ranks))
    w = 12 * ((totals - totals.mean()) ** 2).sum() / (4 * (5**3 - 5) - 2 * ties)
    one = row("rank_agreement", "all")
    assert one.estimate == pytest.approx(w, abs=1e-9)
    assert one.low <= one.estimate <= one.high and one.n == one.n_asked == 5


# ------------------------------------------------------------------------------- nothing there


@pytest.mark.parametrize("report", ["rpt_subgroups", "rpt_contamination", "rpt_generator_arms"])
def test_reports_of_nothing(unqualified, report):
    connection = database()
    connection.execute(f"create table rpt_subgroups as {unqualified['rpt_subgroups']}")
    assert connection.execute(unqualified[report]).fetchall() == []


def test_what_is_asked_and_not_answered_has_its_rows(unqualified, scores):
    connection = database(scores)
    connection.execute("delete from fct_scores")
    connection.execute(f"create table rpt_subgroups as {unqualified['rpt_subgroups']}")
    for report in ("rpt_subgroups", "rpt_contamination"):
        rows = connection.execute(f"select * from ({unqualified[report]})").df()
        rows = rows[rows.n_asked > 0]
        assert len(rows) and set(rows.n) == {0} and set(rows.status) == {"not_estimable"}


# ----------------------------------------------------------------------------------- the canary


def missing(folder):
    """Files of a folder that do not carry the canary."""
    line = canary.text().encode()
    return sorted(file.name for file in folder.rglob("*") if file.is_file() and line not in file.read_bytes())


def test_every_file_that_ships_with_data_carries_the_canary():
    assert recorded.files(), "nothing recorded: the test below would look at nothing"
    assert missing(recorded.folder().parent) == []


def test_a_file_without_the_canary_is_seen(tmp_path):
    pq.write_table(pa.table({"a": ["b"] * 9}), tmp_path / "bare.parquet", compression="zstd")
    pq.write_table(canary.mark(pa.table({"a": ["b"] * 9})), tmp_path / "marked.parquet", compression="zstd")
    assert missing(tmp_path) == ["bare.parquet"]


def test_the_mart_words_the_same_canary(unqualified):
    connection = duckdb.connect()
    connection.execute("create table rpt_run_manifest as select 'r' as release_id from range(3)")
    rows = connection.execute(unqualified["rpt_canary"]).fetchall()
    assert rows == [("r", canary.text()[-36:], canary.text())]


# --------------------------------------------------------------------------- groups and prompts


def test_no_prompt_knows_the_groups(manifest, unqualified):
    """Race and the years of MIMIC-IV are read by the reports alone."""
    (prompts,) = (node for node in manifest["nodes"] if node.endswith(".fct_prompts"))
    found, todo = set(), [prompts]
    while todo:
        new = {parent for parent in manifest["parent_map"].get(todo.pop(), []) if parent not in found}
        found |= new
        todo += new
    assert not {node.split(".")[-1] for node in found} & {"int_patient_groups", "int_template_groups", "race_groups"}
    readers = {name for name, sql in unqualified.items() if re.search(r"\b(race|ethnicity|race_source_value)\b", sql)}
    assert readers == {"stg_mimic_iv__admissions", "stg_mimic_iii__admissions", "stg_omop__person",
                       "int_patient_groups", "int_template_groups"}
