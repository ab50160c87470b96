"""Whole builds: equal marts whatever the thread count, green whatever is missing."""

import hashlib
import shutil

import duckdb
import pytest
from conftest import dbt, ehrbench

# What is missing in a build: three sets here, every source by itself in `make soak`.
MISSING = ("mimic_iv", "umls", "mimic_iii omop semmeddb drugbank pubmed icd atc truth")
EACH = ("mimic_iii", "omop", "semmeddb", "drugbank", "pubmed", "icd", "atc", "truth")


def digests(database):
    """sha256 of every mart, its rows written in the order of all their columns."""
    found = {}
    with duckdb.connect(str(database), read_only=True) as connection:
        tables = connection.execute(
            "select table_name from duckdb_tables() where schema_name = 'main' "
            "and regexp_matches(table_name, '^(dim|fct|brg|rpt)_') order by table_name"
        ).fetchall()
        for (table,) in tables:
            rows = connection.execute(f"select * from {table} order by all").fetchall()
            found[table] = hashlib.sha256(repr(rows).encode()).hexdigest()
    return found


@pytest.fixture(scope="module")
def second_build(synthetic_build, tmp_path_factory):
    """A function that builds the same raw files again, without tests and on one thread."""
    folder = tmp_path_factory.mktemp("second")

    def build(*arguments, store):
        done = dbt("build", "--exclude-resource-type", "test", "unit_test", *arguments,
                   target_path=folder / "target", EHRBENCH_DB=folder / "second.duckdb",
                   EHRBENCH_SYNTH_DIR=synthetic_build.synth, EHRBENCH_THREADS=1,
                   EHRBENCH_COMPLETIONS_DIR=store)
        assert done.returncode == 0, done.stdout[-3000:]
        return folder / "second.duckdb"

    return build


@pytest.fixture(scope="module")
def second_digests(synthetic_build, second_build):
    return digests(second_build(store=synthetic_build.store))


def test_marts_are_equal_from_two_builds_at_other_thread_counts(synthetic_build, second_digests):
    first = digests(synthetic_build.database)
    assert len(first) > 30 and first.keys() == second_digests.keys()
    assert [name for name in first if first[name] != second_digests[name]] == []


def test_completions_never_change_an_item(synthetic_build, second_build, second_digests, tmp_path):
    """With an empty store every item is the same but for those that only completions propose."""
    bare = second_build("--select", "source:completions+", store=tmp_path / "none")
    queries = (
        "select release_id from rpt_run_manifest",
        "select item_id, template_key, n_context, released, in_subset from dim_items",
        "select item_id, option_letter, option_key, label from fct_item_options",
        "select item_id, gold_letter, gold_option_key from fct_answer_keys",
    )
    with duckdb.connect(str(bare), read_only=True) as connection:
        for query in queries:
            without = set(connection.execute(query).fetchall())
            assert without and without <= set(synthetic_build.rows(query)), query
    # The comparison says something only while completions do propose triples.
    assert synthetic_build.rows("select 1 from fct_triple_proposals where request_key is not null")


def test_digests_see_one_changed_cell(tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        with duckdb.connect(str(tmp_path / name)) as connection:
            connection.execute(f"create table fct_x as select {value} as n")
    assert digests(tmp_path / "a") != digests(tmp_path / "b")


@pytest.fixture(scope="module")
def small_cohort(tmp_path_factory):
    """Raw files of 20 synthetic patients, and a folder in which each variant is built."""
    folder = tmp_path_factory.mktemp("missing")
    done = ehrbench("synth", "--patients", 20, "--out", folder / "whole")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize(
    "sources", [*MISSING, *(pytest.param(name, marks=pytest.mark.soak) for name in EACH)]
)
def test_build_is_green_without(sources, small_cohort):
    """A missing source is an empty relation: every model builds, every data test holds.

    Tests of single columns are kept for the soak runs: there are a thousand of them.
    """
    synth = small_cohort / "variant"
    shutil.rmtree(synth, ignore_errors=True)
    shutil.copytree(small_cohort / "whole", synth)
    for source in sources.split():
        shutil.rmtree(synth / "truth" if source == "truth" else synth / "raw" / source)
    database = small_cohort / "variant.duckdb"
    database.unlink(missing_ok=True)
    fewer = ("--exclude", "test_type:generic") if sources in MISSING else ()
    done = dbt("build", "--target", "synthetic", "--exclude-resource-type", "unit_test", *fewer,
               target_path=small_cohort / "target", EHRBENCH_DB=database, EHRBENCH_SYNTH_DIR=synth,
               EHRBENCH_COMPLETIONS_DIR=small_cohort / "none")
    assert done.returncode == 0, done.stdout[-4000:]
