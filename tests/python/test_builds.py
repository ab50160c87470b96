"""Whole builds: equal marts whatever the thread count, green whatever is missing.

Where dbt takes a minute for all models, raw_renderer takes seconds for their SQL; the first test
compares both.
"""

import hashlib
import shutil

import duckdb
import pytest
from conftest import ehrbench
from raw_renderer import contracts, made, model_files

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


def digests(rows):
    """sha256 of every mart, its rows written in the order of all their columns."""
    tables = rows(
        "select table_name from information_schema.tables where table_schema = 'main' "
        "and regexp_matches(table_name, '^(dim|fct|brg|rpt)_') order by table_name"
    )
    return {
        table: hashlib.sha256(repr(rows(f"select * from {table} order by all")).encode()).hexdigest()
        for (table,) in tables
    }


def digests_of(database):
    """The same of a database file."""
    with duckdb.connect(str(database), read_only=True) as connection:
        return digests(lambda sql: connection.execute(sql).fetchall())


def test_marts_are_equal_from_two_builds_at_other_thread_counts(synthetic_build):
    """One by dbt on all threads, one without it on a single thread."""
    with made(
        *model_files(),
        target="synthetic",
        EHRBENCH_SYNTH_DIR=synthetic_build.synth,
        EHRBENCH_COMPLETIONS_DIR=synthetic_build.store,
    ) as rows:
        second = digests(rows)
    first = digests_of(synthetic_build.database)
    assert len(first) > 30 and first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_completions_never_change_an_item(synthetic_build, tmp_path):
    """With an empty store every item is the same but for those that only completions propose."""
    with made(
        *(*ITEMS, "stg_completions__completions"),
        target="synthetic",
        EHRBENCH_SYNTH_DIR=synthetic_build.synth,
        EHRBENCH_COMPLETIONS_DIR=tmp_path / "none",
    ) as rows:
        assert not rows("select 1 from stg_completions__completions")
        for table, columns in ITEMS.items():
            query = f"select {columns} from {table}"
            without = set(rows(query))
            assert without and without <= set(synthetic_build.rows(query)), query
    # The comparison says something only while completions do propose triples.
    assert synthetic_build.rows("select 1 from fct_triple_proposals where request_key is not null")


def test_digests_see_one_changed_cell(tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        with duckdb.connect(str(tmp_path / name)) as connection:
            connection.execute(f"create table fct_x as select {value} as n")
    assert digests_of(tmp_path / "a") != digests_of(tmp_path / "b")


@pytest.fixture(scope="module")
def small_cohort(tmp_path_factory):
    """Raw files of 20 synthetic patients, and a folder in which each variant is built."""
    folder = tmp_path_factory.mktemp("missing")
    done = ehrbench("synth", "--patients", 20, "--out", folder / "whole")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def without(small_cohort):
    """The raw files without some sources."""

    def made_without(sources):
        synth = small_cohort / "variant"
        shutil.rmtree(synth, ignore_errors=True)
        shutil.copytree(small_cohort / "whole", synth)
        for source in sources.split():
            shutil.rmtree(synth / "truth" if source == "truth" else synth / "raw" / source)
        return synth

    return made_without


@pytest.mark.parametrize("sources", MISSING)
def test_build_is_green_without(sources, without):
    """A missing source is an empty relation: every model and contract holds, every data test too.

    dbt itself, and with it the tests of single columns, is kept for the soak runs.
    """
    with made(
        *model_files(),
        target="synthetic",
        EHRBENCH_SYNTH_DIR=without(sources),
        EHRBENCH_COMPLETIONS_DIR="none",
    ) as rows:
        for mart, columns in contracts().items():
            found = {row[0]: row[1] for row in rows(f"describe {mart}")}
            named = ", ".join(f"cast(null as {kind}) as {name}" for name, kind in columns.items())
            assert found == {row[0]: row[1] for row in rows(f"describe select {named}")}, mart
        found = {name: len(rows(sql)) for name, sql in rows.tests()}
    assert len(found) > 90 and not any(found.values()), found


@pytest.mark.soak
@pytest.mark.parametrize("sources", EACH)
def test_dbt_is_green_without(sources, without, small_cohort, plain_project):
    plain_project.build(
        small_cohort,
        *("build", "--no-write-json", "--exclude-resource-type", "unit_test"),
        EHRBENCH_SYNTH_DIR=without(sources),
    )
