"""Queries in analyses/: each says what it answers, compiles, and finds rows in a built database."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

FILES = sorted((Path(__file__).parents[2] / "analyses").glob("*.sql"))


@pytest.fixture(scope="module")
def built(synthetic_build):
    with duckdb.connect(str(synthetic_build.database), read_only=True) as connection:
        yield connection


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_says_what_it_answers_and_how_to_run_it(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    begins = next(n for n, line in enumerate(lines) if line and not line.startswith("{%-"))
    comment = [lines[begins]]
    for line in lines[begins + 1 :]:
        if not line.startswith("--"):
            break
        comment.append(line)
    text = " ".join(line.removeprefix("--").strip() for line in comment)
    assert lines[begins].startswith("-- ") and "?" in text
    assert f"--select {file.stem}" in text


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_compiles_and_finds_rows(file, unqualified, built):
    assert built.execute(unqualified[file.stem]).fetchone() is not None


def test_every_event_is_traced_to_as_many_raw_rows_as_it_stands_for(unqualified, built):
    one = "order by i.released desc, i.item_id\n    limit 1"
    sql = unqualified["trace_item_to_raw_rows"]
    assert sql.count(one) == 1
    every = sql.replace(one, "qualify row_number() over (partition by i.template_key) = 1")
    sources, events, wrong = built.execute(
        f"""
        with traced as (
            select
                item_id, role, position, source, event_type,
                max(n_source_rows) as n_expected, count(source_row) as n_found
            from ({every}) as traced_rows
            group by all
        )
        select
            count(distinct (source, event_type)), count(*),
            count(*) filter (where n_found <> n_expected)
        from traced
        """
    ).fetchone()
    kinds = built.execute(
        "select count(distinct (e.source, e.event_type)) from fct_templates as t "
        "inner join fct_triple_events as r on t.triple_id = r.triple_id "
        "inner join fct_visit_events as e on r.event_key = e.event_key"
    ).fetchone()
    assert (sources, wrong) == (kinds[0], 0)
    assert events > 10_000


def test_a_raw_row_holds_the_code_of_its_event(unqualified, built):
    rows = built.execute(unqualified["trace_item_to_raw_rows"]).fetch_df()
    assert set(rows["role"]) == {"subject", "object", "context"}
    keys = ["source_file", "source_row", "patient_id", "admission_id", "raw_code"]
    assert rows[keys].notna().all(axis=None)
    coded = rows[rows["code_system"].str.startswith("ICD")]
    assert len(coded) and (
        coded["raw_code"].str.replace(".", "") == coded["normalized_code"].str.replace(".", "")
    ).all()


def test_the_chain_of_a_rejected_triple_has_every_link(unqualified, built):
    rows = built.execute(unqualified["why_was_this_triple_rejected"]).fetch_df()
    triple_id = rows["triple_id"].unique()
    assert len(triple_id) == 1
    count = {name: len(part) for name, part in rows.groupby("link")}
    for link, table in {
        "event": "fct_triple_events",
        "proposal": "fct_triple_proposals",
        "check": "fct_triple_checks",
        "verdict": "fct_triple_verdicts",
    }.items():
        expected = built.execute(
            f"select count(*) from {table} where triple_id = ?", [triple_id[0]]
        ).fetchone()
        assert count[link] == expected[0], link
    assert count["concept"] >= count["event"]
    pmids = built.execute(
        "select distinct e.pmid from fct_triple_claims as c inner join fct_claim_evidence as e "
        "on c.claim_key = e.claim_key where c.triple_id = ? and e.pmid is not null",
        [triple_id[0]],
    ).fetchall()
    assert {pmid for (pmid,) in pmids} <= set(rows["pmid"]) and pmids
    assert "rejected" in set(rows.loc[rows["link"] == "verdict", "outcome"])


def test_a_comparison_is_that_of_the_report_and_of_its_parts(unqualified, built):
    rows = built.execute(unqualified["compare_two_models"]).fetch_df().set_index("task")
    whole, parts = rows.loc["all"], rows.drop("all")
    report = built.execute(
        "select difference, difference_low, difference_high, n from rpt_model_differences "
        "where mode = ? and first_model = ? and second_model = ?",
        [whole["mode"], whole["first_model"], whole["second_model"]],
    ).fetchone()
    names = ["difference", "difference_low", "difference_high", "n_items"]
    assert [float(value) for value in report] == [float(whole[name]) for name in names]
    assert parts["n_items"].sum() == whole["n_items"]
    assert whole["difference"] == pytest.approx(parts["difference"].astype(float).mean(), abs=2e-6)
    for _, row in parts.iterrows():
        gap = (row["only_first"] - row["only_second"]) / row["n_items"]
        assert float(row["difference"]) == pytest.approx(gap, abs=1e-6)
        assert row["difference_low"] < row["difference"] < row["difference_high"]


def test_policies_are_compared_on_every_triple_but_the_null_generators(unqualified, built):
    counted = built.execute(
        "select other_policy, sum(n_triples), sum(case when outcome = concat('only ', "
        "other_policy, ' accepts') then n_triples else 0 end) "
        f"from ({unqualified['what_would_policy_x_accept']}) group by all order by all"
    ).fetchall()
    expected = built.execute(
        """
        select other.policy, count(*),
            count(*) filter (where active.verdict = 'rejected' and other.verdict = 'accepted')
        from fct_triple_verdicts as active
        inner join fct_triple_verdicts as other on active.triple_id = other.triple_id
        where active.policy = 'open' and other.policy <> 'open'
            and active.triple_id in (
                select triple_id from fct_triple_proposals where generator <> 'shuffled_visits'
            )
        group by all order by all
        """
    ).fetchall()
    assert counted == expected


def test_coverage_counts_every_event_once(unqualified, built):
    rows = built.execute(unqualified["coverage_by_code_system"]).fetch_df()
    events = built.execute("select count(*) from fct_visit_events").fetchone()[0]
    assert rows["n_events"].sum() == events
    mapped = built.execute(
        "select count(distinct event_key) from brg_event_concepts where cui is not null"
    ).fetchone()[0]
    shares = rows["share_events"].astype(float) * rows["n_events"]
    assert shares.sum() == pytest.approx(mapped, abs=1)
