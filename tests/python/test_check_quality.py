"""Checks, verdicts and the audit against planted truth, on all pairs of events of a cohort."""

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from conftest import ehrbench
from raw_renderer import Renderer

from ehrbench.synth import catalogue, evidence, facts

PATIENTS = 30
SELECTED = ["fct_check_quality", "rpt_recall_by_popularity", "int_audit_ratings",
            "int_template_candidates"]
RATERS = (("ann", 0.05), ("bob", 0.05))  # each errs with this chance, whatever is true
RATINGS = (
    "triple_id,rater,is_right,comment\n"
    "nobody,ann,Yes,a triple that was never drawn\n"
    "nobody,bob,perhaps,not an answer\n"
)
# No items are drawn here.
NO_ITEMS = """
create or replace table int_audit_item_frame as select '' as stratum_key, '' as source, '' as task limit 0;
create or replace table fct_audit_items as select '' as item_id, '' as stratum_key, 1 as n_stands_for limit 0;
create or replace table int_audit_item_ratings as select '' as rater, '' as item_id, '' as reason, true as is_key,
    true as is_unique, true as has_other_right, true as is_answerable, true as has_leak, true as is_valid limit 0;
"""


@dataclass(frozen=True)
class Cohort:
    """A built cohort, and the compiled SQL of the models with which it was built."""

    database: Path
    models: dict[str, dict]

    @contextmanager
    def changing(self, keep=False):
        """A connection under the name that the compiled SQL uses; what it changes is undone, or kept."""
        with duckdb.connect() as connection:
            connection.execute(f"attach '{self.database}' as empty")
            connection.execute("use empty")
            connection.execute("begin")
            yield connection
            connection.execute("commit" if keep else "rollback")

    def sql(self, name: str) -> str:
        return self.models[name]["compiled_code"]

    def make(self, connection, *names: str) -> None:
        """Run models again on what the tables now hold."""
        for name in names:
            kind = self.models[name]["config"]["materialized"]
            connection.execute(f"create or replace {kind} {name} as {self.sql(name)}")

    def between(self, changed: set[str], wanted: list[str]) -> list[str]:
        """Models that depend on changed ones and feed wanted ones, in the order of running."""
        ids = {node["unique_id"]: name for name, node in self.models.items()}
        parents = {
            name: [ids[i] for i in node["depends_on"]["nodes"] if i in ids]
            for name, node in self.models.items()
        }
        order, seen, reached = [], set(changed), set(changed)

        def visit(name):
            if name in seen:
                return
            seen.add(name)
            for parent in parents[name]:
                visit(parent)
            if reached.intersection(parents[name]):
                reached.add(name)
                order.append(name)

        for name in wanted:
            visit(name)
        return order


@pytest.fixture(scope="module")
def cohorts(manifest, tmp_path_factory) -> dict[str, Cohort]:
    """The clean and the noisy cohort, each with every pair of events as a triple."""
    folder = tmp_path_factory.mktemp("quality")
    store = folder / "store"
    store.mkdir()
    (store / "audit_ratings.csv").write_text(RATINGS, encoding="utf-8")
    models = {
        node["name"]: node
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node.get("compiled_code")
    }
    views = {name for name, node in models.items() if node["config"]["materialized"] == "view"}
    made = {}
    for regime in ("clean", "noisy"):
        synth = folder / regime
        done = ehrbench("synth", "--regime", regime, "--patients", PATIENTS, "--out", synth)
        assert done.returncode == 0, done.stderr
        database = folder / f"{regime}.duckdb"
        with duckdb.connect(str(database)) as connection:
            rows = Renderer(connection, "synthetic", {"all_pairs": True}, views).make(
                *("audit_questions", "audit_columns", *SELECTED),
                EHRBENCH_SYNTH_DIR=synth,
                EHRBENCH_COMPLETIONS_DIR=store,
            )
        # The reports on ratings read items too, which are not built here: their SQL is that of
        # `manifest`.
        sql = {name: {**models[name], "compiled_code": text} for name, text in rows.sql.items()}
        made[regime] = Cohort(database, models | sql)
    return made


@pytest.fixture
def clean(cohorts):
    with cohorts["clean"].changing() as connection:
        yield connection


@pytest.fixture
def noisy(cohorts):
    with cohorts["noisy"].changing() as connection:
        yield connection


def quality(connection) -> dict[tuple[str, str], tuple]:
    """(check or `verdict`, policy) -> counts, precision and recall over all sources and tasks."""
    rows = connection.execute(
        "select check_name, policy, n_true_pos, n_false_pos, n_false_neg, precision, recall "
        "from fct_check_quality where source = 'all' and task = 'all'"
    ).fetchall()
    return {row[:2]: row[2:] for row in rows}


def test_clean_checks_and_verdicts_are_exact_on_all_pairs(clean):
    found = quality(clean)
    checks = clean.execute("select check_name from validation_checks").fetchall()
    policies = clean.execute("select policy from evidence_policies").fetchall()
    assert set(found) == {(c, "fixed") for c, in checks} | {("verdict", p) for p, in policies}
    assert [name for name, row in found.items() if row[0] == 0 or row[1:] != (0, 0, 1, 1)] == []
    assert clean.execute(
        "select * from fct_check_quality where n_false_pos + n_false_neg > 0 "
        "or (population = 'all_pairs') = (check_name = 'grounded')"
    ).fetchall() == []
    sources = clean.execute("select source from fct_check_quality").fetchall()
    assert {("all",), ("mimic_iv",)} < set(sources)
    tasks = clean.execute(
        "select distinct task from fct_check_quality where check_name = 'verdict' and n_true_pos > 0"
    ).fetchall()
    assert {task for task, in tasks} == {"all", "dx", "tx", "px"}


def test_planted_counts_agree_with_planted_flags():
    """The counts behind the verdicts and the flags behind the checks are worked out apart."""
    loaded = catalogue.load()
    statements = facts.statements(loaded, 7)
    cui = {key: concept.cui for key, concept in loaded.concepts.items()}
    flags = {
        (cui[s], relation, cui[o]): tuple(flag.values())
        for (s, relation, o), flag in facts.claims(loaded, statements).items()
    }
    counts = {}
    for row in evidence.rows(loaded, statements, 7):
        found = dict(zip(evidence.HEADER, row))
        supported = found["n_supporting_pmids"] + found["n_supporting_curated"] > 0
        opposed = found["n_hazard_pmids"] + found["n_reverse_pmids"] > 0
        flag = (supported, found["n_contradicting_pmids"] > 0, supported and opposed)
        if any(flag):
            counts[tuple(row[:3])] = tuple(map(int, flag))
        assert found["n_supporting_pmids_exact"] <= found["n_supporting_pmids"]
    assert counts == flags


def test_policies_have_different_truths(clean):
    """Exact verdicts would prove little if one truth fitted all policies."""
    counts = clean.execute(
        "select count(*) from (select triple_id from int_triple_truth_verdicts group by triple_id "
        "having count(distinct verdict) > 1)"
    ).fetchall()[0][0]
    assert counts > 100


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (("verdict", "sound"), "update fct_triple_verdicts set verdict = 'accepted' where triple_id = "
         "(select min(triple_id) from fct_triple_verdicts where policy = 'sound' "
         "and verdict = 'rejected' and triple_id in (select triple_id from fct_triple_proposals "
         "where generator = 'all_pairs'))"),
        (("positive_support", "fixed"), "update fct_triple_checks set status = 'fail' "
         "where check_name = 'positive_support' and status = 'pass'"),
        (("mapped", "fixed"), "update int_triple_truth set is_mapped = not is_mapped"),
    ],
)
def test_a_wrong_decision_is_seen(cohorts, clean, name, change):
    clean.execute(change)
    cohorts["clean"].make(clean, "fct_check_quality")
    assert quality(clean)[name][3:] != (1, 1)


def test_noise_lowers_quality_and_is_reported(noisy):
    found = quality(noisy)
    assert found[("grounded", "fixed")][3:] == found[("mapped", "fixed")][3:] == (1, 1)
    for name in [("positive_support", "fixed"), *(n for n in found if n[0] == "verdict")]:
        assert found[name][3] < 1 and found[name][4] < 1, name
    outside = noisy.execute(
        "select * from fct_check_quality where not (precision between precision_low and "
        "precision_high) or not (recall between recall_low and recall_high)"
    ).fetchall()
    assert outside == []


def test_strict_negation_loses_popular_pairs_and_ratio_does_not(noisy):
    rows = noisy.execute(
        "select policy, band, recall, denied_share from rpt_recall_by_popularity "
        "where task = 'tx' and source = 'all'"
    ).fetchall()
    recall = {(policy, band): float(share) for policy, band, share, _ in rows}
    denied = {(policy, band): float(share) for policy, band, _, share in rows if share is not None}
    assert denied["paper", "many"] > 0.5 > 0.1 > denied["paper", "few"]
    for ratio in ("sound", "open"):
        assert recall["paper", "many"] < recall[ratio, "many"]
        assert recall["paper", "many"] < recall["paper", "few"]
        assert denied[ratio, "many"] < denied["paper", "many"] / 2
        assert recall[ratio, "many"] > recall[ratio, "few"] - 0.1


def test_templates_ignore_all_pairs(cohorts, clean):
    """Without the generator the candidates are the same, and nothing else turns triples to items."""
    cohort = cohorts["clean"]
    before = clean.execute("select * from int_template_candidates order by all").fetchall()
    accepted = clean.execute(
        "select count(distinct triple_id) from fct_triple_verdicts where verdict = 'accepted'"
    ).fetchall()[0][0]
    assert 0 < len(before) < accepted
    clean.execute("delete from int_generator_all_pairs")
    cohort.make(clean, *cohort.between({"int_generator_all_pairs"}, ["int_template_candidates"]))
    assert clean.execute(
        "select count(*) from fct_triple_proposals where generator = 'all_pairs'"
    ).fetchall() == [(0,)]
    after = clean.execute("select * from int_template_candidates order by all").fetchall()
    assert before == after


def test_triples_become_items_by_one_door(manifest):
    readers = {
        node["name"]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model"
        and re.match(r"models/(intermediate/items|marts/benchmark)/", node["original_file_path"])
        and {"model.ehrbench.fct_triples", "model.ehrbench.fct_triple_verdicts"}
        & set(node["depends_on"]["nodes"])
    }
    assert readers == {"int_template_candidates"}


def test_all_pairs_refuses_a_large_cohort(cohorts, clean):
    sql = cohorts["clean"].sql("int_generator_all_pairs")
    small = re.sub(r"count\(\*\) > \d+", "count(*) > 3", sql)
    assert small != sql
    with pytest.raises(duckdb.Error, match="all_pairs is for small test cohorts"):
        clean.execute(small)


# ------------------------------------------------------------------------------- the audit


def rate(cohort: Cohort, connection, seed: object, raters=RATERS) -> None:
    """Draw a sample with this seed and let raters answer from the truth, with errors."""
    sample = cohort.sql("fct_audit_sample").replace("'audit'", f"'audit {seed}'")
    assert sample != cohort.sql("fct_audit_sample")
    connection.execute(f"create or replace table fct_audit_sample as {sample}")
    values = ", ".join(f"('{name}', {error})" for name, error in raters)
    connection.execute(NO_ITEMS)
    connection.execute(
        "create or replace table stg_completions__audit_ratings as "
        "select row_number() over (order by rater, triple_id) as source_row, rater, triple_id, "
        "((md5_number_lower(concat_ws('|', ?::varchar, rater, triple_id)) >> 11)::double "
        "/ 9007199254740992.0 < error) <> is_right as is_right, false as is_unsure "
        "from fct_audit_sample inner join int_triple_truth using (triple_id) "
        f"cross join (values {values}) as raters(rater, error)",
        [str(seed)],
    )
    cohort.make(connection, "int_audit_ratings", "int_audit_answers", "rpt_audit_agreement",
                "rpt_audit_estimates")


def known(connection) -> dict[str, float]:
    """The shares that the audit estimates, from all triples of the frame."""
    rows = connection.execute(
        "select verdict, avg(is_right::int) from int_audit_frame "
        "inner join int_triple_truth using (triple_id) group by verdict"
    ).fetchall()
    shares = dict(rows)
    return {"precision_of_accepted": shares["accepted"], "miss_rate_of_rejected": shares["rejected"]}


def estimates(connection, method: str) -> dict[str, tuple]:
    rows = connection.execute(
        "select measure, estimate, estimate_low, estimate_high from rpt_audit_estimates "
        "where source = 'all' and task = 'all' and n_rated > 0 and method = ?", [method]
    ).fetchall()
    return {row[0]: tuple(map(float, row[1:])) for row in rows}


def coverage(cohort: Cohort, connection, seeds) -> dict[str, float]:
    """Share of draws whose interval holds the known share."""
    truth = known(connection)
    held = dict.fromkeys(truth, 0)
    for seed in seeds:
        rate(cohort, connection, seed)
        for measure, (_, low, high) in estimates(connection, "corrected").items():
            held[measure] += low <= truth[measure] <= high
    return {measure: count / len(seeds) for measure, count in held.items()}


def test_audit_recovers_precision_and_miss_rate(cohorts, noisy):
    truth = known(noisy)
    assert 0.5 < truth["precision_of_accepted"] < 0.9 and 0 < truth["miss_rate_of_rejected"] < 0.2
    assert min(coverage(cohorts["noisy"], noisy, range(8)).values()) >= 0.85


def test_audit_without_errors_needs_no_correction(cohorts, noisy):
    rate(cohorts["noisy"], noisy, "sure", raters=(("ann", 0), ("bob", 0)))
    truth = known(noisy)
    for measure, (estimate, low, high) in estimates(noisy, "as_rated").items():
        assert low <= truth[measure] <= high, measure
        assert estimate == estimates(noisy, "corrected")[measure][0]
    agreement = noisy.execute("select kappa, ac1 from rpt_audit_agreement").fetchall()
    assert agreement == [(1, 1)]


def test_errors_of_raters_are_found(cohorts, noisy):
    """Uncorrected, raters who err in a tenth find far more misses than there are."""
    rate(cohorts["noisy"], noisy, "tired", raters=(("ann", 0.1), ("bob", 0.1)))
    truth = known(noisy)["miss_rate_of_rejected"]
    assert estimates(noisy, "as_rated")["miss_rate_of_rejected"][1] > truth
    _, low, high = estimates(noisy, "corrected")["miss_rate_of_rejected"]
    assert low <= truth <= high
    error = noisy.execute("select distinct rater_error from rpt_audit_estimates "
                          "where method = 'corrected' and rater_error is not null").fetchall()
    assert len(error) == 1 and 0.07 < error[0][0] < 0.13


def test_ratings_are_read_from_the_store(noisy):
    rows = noisy.execute(
        "select source_row, rater, is_right, reason from int_audit_ratings order by source_row"
    ).fetchall()
    assert rows == [(1, "ann", True, "not_in_the_sample"), (2, "bob", None, "not_in_the_sample")]


@pytest.mark.soak
def test_audit_intervals_hold_as_often_as_they_say(cohorts, noisy):
    held = coverage(cohorts["noisy"], noisy, range(100, 300))
    assert min(held.values()) >= 0.94, held
