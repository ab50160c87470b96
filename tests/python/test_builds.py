"""Whole builds: equal marts whatever the thread count, green whatever is missing."""

import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
from conftest import dbt, ehrbench

# What is missing in a build: two sets here, every source by itself in `make soak`.
MISSING = ("mimic_iv umls semmeddb icd atc truth", "mimic_iii omop drugbank pubmed")
EACH = (
    "mimic_iv", "mimic_iii", "omop", "umls", "semmeddb", "drugbank", "pubmed", "icd", "atc", "truth",
)
# Tables that completions may not change, and what of them is compared.
ITEMS = {
    "rpt_run_manifest": "release_id",
    "dim_items": "item_id, template_key, n_context, released, in_subset",
    "fct_item_options": "item_id, option_letter, option_key, label",
    "fct_answer_keys": "item_id, gold_letter, gold_option_key",
}


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
def second_builds(synthetic_build, plain_project, tmp_path_factory):
    """Databases of two more builds of the same raw files, made side by side on one thread each.

    One is built anew; the other is the first build brought to an empty store, as far as the
    tables go that are read below.
    """
    again, bare = tmp_path_factory.mktemp("again"), tmp_path_factory.mktemp("bare")
    whole = ("build", "--threads", 1, "--exclude-resource-type", "test", "unit_test")
    shutil.copy(synthetic_build.database, bare)

    def build_again():
        plain_project.build(
            again,
            *(*whole, "--no-write-json"),
            EHRBENCH_SYNTH_DIR=synthetic_build.synth,
            EHRBENCH_COMPLETIONS_DIR=synthetic_build.store,
        )
        return again / "empty.duckdb"

    def build_bare():
        database = bare / synthetic_build.database.name
        done = dbt(
            *(*whole, "--no-write-json", "--target", "synthetic"),
            *("--select", *(f"source:completions+,+{name}" for name in ITEMS)),
            target_path=bare / "target",
            EHRBENCH_DB=database,
            EHRBENCH_SYNTH_DIR=synthetic_build.synth,
            EHRBENCH_COMPLETIONS_DIR=bare / "none",
        )
        assert done.returncode == 0, done.stdout[-3000:]
        return database

    with ThreadPoolExecutor() as pool:
        made = [pool.submit(build_again), pool.submit(build_bare)]
        return [build.result() for build in made]


def test_marts_are_equal_from_two_builds_at_other_thread_counts(synthetic_build, second_builds):
    first, second = digests(synthetic_build.database), digests(second_builds[0])
    assert len(first) > 30 and first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_completions_never_change_an_item(synthetic_build, second_builds):
    """With an empty store every item is the same but for those that only completions propose."""
    with duckdb.connect(str(second_builds[1]), read_only=True) as connection:
        assert not connection.execute("select 1 from stg_completions__completions").fetchall()
        for table, columns in ITEMS.items():
            query = f"select {columns} from {table}"
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
def test_build_is_green_without(sources, small_cohort, plain_project):
    """A missing source is an empty relation: every model builds, every data test holds.

    Tests of single columns are kept for the soak runs: there are a thousand of them.
    """
    synth = small_cohort / "variant"
    shutil.rmtree(synth, ignore_errors=True)
    shutil.copytree(small_cohort / "whole", synth)
    for source in sources.split():
        shutil.rmtree(synth / "truth" if source == "truth" else synth / "raw" / source)
    fewer = ("--exclude", "test_type:generic") if sources in MISSING else ()
    plain_project.build(
        small_cohort,
        *("build", "--no-write-json", "--exclude-resource-type", "unit_test", *fewer),
        EHRBENCH_SYNTH_DIR=synth,
    )
