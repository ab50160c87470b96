"""Policies and their reports as one chain: from counts to verdicts, yields, curves and enrichment.

The compiled models run in DuckDB on random counts, so that every threshold meets both sides of it.
"""

import csv
import random

import duckdb
import pyarrow
import pytest

SEEDS = ["evidence_policies", "yield_sweep", "match_levels", "conflict_rules", "validation_reasons",
         "validation_checks"]
CHAIN = ["int_triple_policy_reasons", "fct_triple_verdicts", "int_sweep_points", "int_yield_signatures",
         "rpt_yield_by_policy", "rpt_rejection_reasons", "rpt_yield_sweep", "rpt_enrichment"]
LEVELS = ["exact", "equivalent", "descendant", "ancestor"]
N_TRIPLES = 900


def random_counts(seed=7):
    """Rows of int_triple_counts with task, source, generator, person and the reasons of two checks."""
    draw = random.Random(seed)
    for number in range(N_TRIPLES):
        generator = draw.choice(["kb_rules", "a_model", "shuffled_visits"])
        mapped = draw.random() < 0.9
        row = {
            "triple_id": f"t{number}",
            "task": draw.choice(["dx", "tx", "px"]),
            "source": draw.choice(["one", "two"]),
            "generator": generator,
            "person_group": f"p{draw.randrange(25)}",
            "grounded": "shuffled_donor" if generator == "shuffled_visits" else None,
            "mapped": None if mapped else "unmapped_object",
            "is_kb_loaded": True,
            "n_claims": int(mapped),
            "rule": draw.choice([None] * 8 + ["excludes1", "paper_literal"]),
            "ehr_lift": draw.choice([None, 0.0, 0.4, 0.5, 1.0, 1.49, 1.5, 2.5, 9.0]) if mapped else None,
        }
        for kind, most in (("pmids", 30), ("curated", 2), ("undirected", 1)):
            total = 0
            for level in LEVELS:
                total += draw.choice([0, 0, 0, draw.randint(0, most)]) if mapped else 0
                row[f"n_{kind}_to_{level}"] = total
        for kind, name in (("pmids", "supporting_pmids"), ("curated", "supporting_curated"),
                           ("undirected", "undirected_curated")):
            row[f"n_{name}_exact"] = row[f"n_{kind}_to_equivalent"]
            row[f"n_{name}"] = row[f"n_{kind}_to_ancestor"]
        for name, most in (("contradicting_pmids", 12), ("contradicting_curated", 1), ("hazard_pmids", 25),
                           ("reverse_pmids", 25)):
            row[f"n_{name}"] = draw.choice([0, 0, 0, draw.randint(0, most)]) if mapped else 0
        yield row


@pytest.fixture(scope="module")
def sql(manifest, unqualified):
    """Name -> compiled SQL of the chain's models and of the tests in tests/validation/reports."""
    return {
        node["name"]: unqualified[node["name"]]
        for node in manifest["nodes"].values()
        if node["name"] in CHAIN
        or (node["resource_type"] == "test" and "tests/validation/reports/" in node["original_file_path"])
    }


def start(project_root, manifest):
    """A database with the shipped seeds, one more policy and the random counts."""
    connection = duckdb.connect()
    seeds = {n["name"]: n for n in manifest["nodes"].values() if n["resource_type"] == "seed"}
    for name in SEEDS:
        types = seeds[name]["config"]["column_types"]
        columns = {column: {"string": "varchar"}.get(kind, kind) for column, kind in types.items()}
        path = project_root / seeds[name]["original_file_path"]
        with open(path, newline="") as lines:
            assert next(csv.reader(lines)) == list(columns), name
        connection.execute(f"create table {name} as select * from read_csv(?, columns = ?, header = true)",
                           [str(path), columns])
    rows = pyarrow.Table.from_pylist(list(random_counts()))
    connection.register("rows", rows)
    connection.execute("""
        create table drawn as select * replace (cast(ehr_lift as decimal(18, 6)) as ehr_lift) from rows
    """)
    connection.execute("""
        create view fct_triples as select * from drawn;
        create view fct_triple_proposals as select triple_id, generator from drawn;
        create view int_triple_counts as select * exclude (task, source) from drawn;
        create view int_triple_generators as
            select triple_id, generator, source, task, person_group from drawn;
        create view int_check__grounded as select triple_id, grounded as reason_code from drawn;
        create view int_check__mapped as select triple_id, mapped as reason_code from drawn;
        create view int_context_conflicts as select triple_id, rule from drawn where rule is not null;
        create view fct_triple_checks as
            select triple_id, 'mapped' as check_name, mapped as reason_code from drawn;
    """)
    connection.execute("""
        insert into evidence_policies by name select
            'mine' as policy, true as uses_curated, false as uses_undirected, true as uses_inherited,
            3 as min_supporting_pmids, 1 as min_negative_pmids, 0.30 as max_negative_share,
            2 as min_ambiguous_pmids, 0.50 as max_hazard_share, 0.50 as min_direction_share,
            1.25 as min_ehr_lift;
        insert into conflict_rules by name select
            'mine' as policy, 'excludes1' as rule, 1 as rule_order, true as is_enabled;
    """)
    return connection


def build(connection, sql):
    for name in CHAIN:
        connection.execute(f"create or replace table {name} as {sql[name]}")


@pytest.fixture(scope="module")
def built(project_root, manifest, sql):
    connection = start(project_root, manifest)
    build(connection, sql)
    yield connection
    connection.close()


def reports(sql):
    return sorted(name for name in sql if name.startswith("assert_"))


def test_reports_agree_on_random_counts(built, sql):
    for name in reports(sql):
        assert built.execute(sql[name]).fetchall() == [], name


def test_random_counts_meet_both_sides_of_every_curve(built):
    """A curve that never moves would prove nothing."""
    flat = built.execute("""
        select threshold from rpt_yield_sweep where is_nested
        group by threshold having count(distinct position) > 1 and max(n_kb_pass) = min(n_kb_pass)
    """).fetchall()
    assert flat == []
    moved = built.execute("""
        select count(distinct threshold) from (
            select threshold from rpt_yield_sweep where policy = 'open' and source = 'one' and task = 'px'
                and generator = 'a_model'
            group by threshold having max(n_accepted) > min(n_accepted))
    """).fetchone()[0]
    assert moved >= 7


def test_a_new_policy_row_is_in_every_report(built):
    """`mine` has a row in evidence_policies and rules in conflict_rules, and no SQL knows it."""
    for name in CHAIN:
        if name != "int_sweep_points":
            assert built.execute(f"select count(*) from {name} where policy = 'mine'").fetchone()[0] > 0, name
    n_accepted, n_seldom = built.execute("""
        select sum(n_accepted), sum(n_any_ehr_lift) from rpt_yield_by_policy where policy = 'mine'
    """).fetchone()
    assert n_accepted > 0
    assert n_seldom > 0
    assert built.execute("""
        select sum(n_any_ehr_lift) from rpt_yield_by_policy where policy <> 'mine'
    """).fetchone()[0] == 0, "off in the shipped policies"


def test_a_sweep_point_is_what_a_policy_of_its_own_would_accept(project_root, manifest, sql):
    """Each point as a row of evidence_policies, decided triple by triple."""
    with start(project_root, manifest) as connection:
        build(connection, sql)
        connection.execute("""
            create table wanted as
            select policy, threshold, position, concat_ws(' ', policy, threshold, position) as name,
                min_supporting_pmids, max_level_rank = 3 as uses_inherited, uses_curated, uses_undirected,
                min_negative_pmids, max_negative_share, min_ambiguous_pmids, max_hazard_share,
                min_direction_share, min_ehr_lift
            from int_sweep_points where max_level_rank in (1, 3) and min_supporting_pmids is not null;
            insert into conflict_rules by name
                select wanted.name as policy, rules.rule, rules.rule_order, rules.is_enabled
                from wanted join conflict_rules as rules on wanted.policy = rules.policy;
            delete from evidence_policies;
            insert into evidence_policies by name
                select name as policy, * exclude (policy, threshold, position, name) from wanted;
        """)
        n_points = connection.execute("select count(*) from wanted").fetchone()[0]
        assert n_points > 100
        for name in ["int_triple_policy_reasons", "fct_triple_verdicts", "rpt_yield_by_policy"]:
            connection.execute(f"create or replace table {name} as {sql[name]}")
        compared, unequal = connection.execute("""
            select count(*), count(*) filter (
                yields.n_accepted <> sweep.n_accepted or yields.n_kb_accepted <> sweep.n_kb_pass)
            from wanted
            join rpt_yield_sweep as sweep on wanted.policy = sweep.policy
                and wanted.threshold = sweep.threshold and wanted.position = sweep.position
            join rpt_yield_by_policy as yields on wanted.name = yields.policy
                and sweep.source = yields.source and sweep.task = yields.task
                and sweep.generator = yields.generator
        """).fetchone()
        assert (compared, unequal) == (n_points * 18, 0)


def test_signatures_are_fewer_than_triples(built):
    n_rows, n_triples = built.execute("select count(*), sum(n_triples) from int_yield_signatures").fetchone()
    n_policies = built.execute("select count(*) from evidence_policies").fetchone()[0]
    assert n_triples == N_TRIPLES * n_policies
    assert n_rows < n_triples


BROKEN = [
    ("assert_yields_reconcile", "update rpt_yield_by_policy set n_accepted = n_accepted + 1"),
    ("assert_yields_reconcile", "update rpt_yield_by_policy set n_first_mapped = n_first_mapped + 1"),
    ("assert_yields_reconcile", "update rpt_yield_by_policy set n_any_mapped = n_any_mapped + 1"),
    ("assert_yields_reconcile", "update rpt_yield_by_policy set n_rejected = 0"),
    ("assert_yields_reconcile", "delete from rpt_yield_by_policy where task = 'px'"),
    ("assert_yields_reconcile", "delete from rpt_rejection_reasons where check_name = 'mapped'"),
    ("assert_yields_reconcile", "update rpt_rejection_reasons set n_only = n_any + 1"),
    ("assert_yields_reconcile", "update fct_triple_verdicts set verdict = 'rejected'"),
    ("assert_yields_reconcile", "delete from fct_triple_verdicts where policy = 'open'"),
    ("assert_sweep_meets_policies", "update rpt_yield_sweep set n_accepted = n_accepted + 1"),
    ("assert_sweep_meets_policies", "update rpt_yield_sweep set n_kb_pass = n_kb_pass + 1"),
    ("assert_sweep_meets_policies", "update rpt_yield_sweep set is_policy_point = true"),
    ("assert_sweep_meets_policies", "delete from rpt_yield_sweep where policy = 'sound'"),
    ("assert_sweep_meets_policies", "update rpt_yield_by_policy set n_triples = 0"),
    ("assert_sweep_curves_fall", "update rpt_yield_sweep set n_accepted = position"),
    ("assert_sweep_curves_fall", "update rpt_yield_sweep set n_kb_pass = position"),
    ("assert_sweep_curves_fall", "delete from rpt_yield_sweep where position = 1"),
    ("assert_enrichment_levels_add_up", "delete from rpt_enrichment where match_level = 'ancestor'"),
    ("assert_enrichment_levels_add_up", "update rpt_enrichment set n_kb_pass = 0 where match_level = 'any'"),
    ("assert_enrichment_levels_add_up", "update rpt_enrichment set n = n + 1"),
    ("assert_enrichment_levels_add_up", "update rpt_enrichment set reason = null"),
    ("assert_enrichment_levels_add_up", "update rpt_enrichment set enrichment = enrichment_low / 2"),
    ("assert_enrichment_levels_add_up", "update rpt_enrichment set enrichment = null"),
    ("assert_reasons_are_listed", "delete from validation_reasons where reason_code = 'low_ehr_lift'"),
    ("assert_reasons_are_listed", "update int_triple_policy_reasons set reason_mapped = 'unknown'"),
    ("assert_reasons_are_listed", "update validation_reasons set in_checks = false"),
    ("assert_reasons_are_listed", "insert into conflict_rules by name select 'open' as policy, 'new' as rule"),
    ("assert_reasons_are_listed", "insert into validation_checks by name select 'new' as check_name"),
    ("assert_levels_are_counted", "insert into match_levels by name select 'two_steps' as match_level, 4 as level_rank"),
    ("assert_levels_are_counted", "delete from match_levels where match_level = 'equivalent'"),
    ("assert_levels_are_counted", "update match_levels set level_rank = 3 - level_rank"),
    ("assert_levels_are_counted", "update match_levels set is_inherited = true where level_rank = 1"),
    ("assert_levels_are_counted", "update drawn set n_supporting_pmids = n_supporting_pmids + 1"),
    ("assert_levels_are_counted", "update drawn set n_undirected_curated_exact = 9"),
]


def test_every_report_test_has_a_broken_case(sql):
    assert set(reports(sql)) == {name for name, _ in BROKEN}


@pytest.mark.parametrize(("name", "change"), BROKEN)
def test_a_broken_report_is_seen(built, sql, name, change):
    needs_lift = change.endswith("'low_ehr_lift'")
    built.execute("begin")
    try:
        if needs_lift:
            built.execute("update int_triple_policy_reasons set reason_ehr_lift = 'low_ehr_lift'")
            assert built.execute(sql[name]).fetchall() == []
        built.execute(change)
        assert built.execute(sql[name]).fetchall() != []
    finally:
        built.execute("rollback")
