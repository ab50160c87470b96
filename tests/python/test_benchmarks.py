"""Benchmarks can be asked for help, are in the list of make bench, and name models that exist."""

import importlib
import importlib.util
import json
import re

import duckdb
import pytest
from conftest import BENCHMARKS as FOLDER
from conftest import ROOT, Plan

from ehrbench import generate

SHARED = {"common", "claims", "pending", "__main__"}
NAMES = sorted(file.stem for file in FOLDER.glob("*.py") if file.stem not in SHARED)
MODEL = re.compile(r"\b(?:stg|int|dim|fct|brg|rpt)_[a-z0-9_]*[a-z0-9]\b")


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_says_what_it_does(name, load, capsys):
    with pytest.raises(SystemExit) as ended:
        load(name).main(["--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert "--repeats" in said and "--work" in said and "--results" in said


def test_make_bench_lists_every_benchmark(capsys):
    spec = importlib.util.spec_from_file_location("all_benchmarks", FOLDER / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert sorted(module.BENCHMARKS) == NAMES
    with pytest.raises(SystemExit):
        module.main(["--help"])
    said = capsys.readouterr().out
    assert all(re.search(rf"^  {name} +\S", said, re.M) for name in NAMES)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^bench: .*\n\t@\$\(PY\) benchmarks\b", makefile, re.M)


def test_a_built_file_for_the_checks_needs_its_raw_files(load, tmp_path, capsys):
    file = tmp_path / "built.duckdb"
    for given in (["--database", str(file)], ["--database", str(file), "--raw", str(tmp_path)]):
        with pytest.raises(SystemExit) as ended:
            load("checks").main(given)
        assert ended.value.code == 2
        assert "--database is a built file, and --raw what it was built from" in capsys.readouterr().err


def unknown_names(text, known):
    return sorted(set(MODEL.findall(text)) - known)


def test_models_that_benchmarks_name_exist():
    known = {file.stem for file in (ROOT / "models").rglob("*.sql")}
    known |= {file.stem for file in (ROOT / "models").rglob("*.py")}
    # The beginning that the names of a source's staging models share.
    known |= {"stg_mimic_iv_"}
    found = {
        file.name: unknown
        for file in FOLDER.glob("*.py")
        if (unknown := unknown_names(file.read_text(encoding="utf-8"), known))
    }
    assert found == {}
    assert unknown_names("select * from int_edges_of_yore", known) == ["int_edges_of_yore"]


def test_the_scan_reads_columns_that_are_staged(load):
    claims = load("claims")
    model = ROOT / "models/staging/semmeddb/stg_semmeddb__predications.sql"
    staged = re.findall(r"(\w+),?$", model.read_text(encoding="utf-8"), re.M)
    assert sorted({*claims.TEXTS, *claims.NUMBERS} - set(staged)) == []


def test_copies_are_predications_of_their_own(load, tmp_path):
    claims = load("claims")
    made = """
        create or replace table stg_semmeddb__predications as
        select id as predication_id, id as sentence_id, '7' as pmid, id + 9 as source_row, 'C' as subject_cui
        from range(1, 4) as made(id)
    """
    key = "predication_id, sentence_id, source_row"
    for copies, n_articles in ((1, 1), (3, 3)):
        with duckdb.connect() as connection:
            connection.execute(made)
            before = connection.execute("describe stg_semmeddb__predications").fetchall()
            claims.as_parquet(connection, tmp_path, copies)
            assert connection.execute("describe stg_semmeddb__predications").fetchall() == before
            found = connection.execute(
                f"select count(*), count(distinct ({key})), count(distinct predication_id), "
                "count(distinct source_row), count(distinct pmid) from stg_semmeddb__predications"
            ).fetchone()
        assert found == (3 * copies, 3 * copies, 3 * copies, 3 * copies, n_articles)


def test_selections_of_incremental_name_nodes(load, manifest):
    names = {node["name"] for node in manifest["nodes"].values()}
    names |= {f"source:{source['source_name']}" for source in manifest["sources"].values()}
    what = load("incremental").WHAT
    unknown = {one for select in what.values() for one in select if one.rstrip("+") not in names}
    assert unknown == set()
    assert all(any(word in name for name in what) for word in load("incremental").ONLY)


def test_ways_between_models(load):
    def model(parents, *tags):
        return {
            "resource_type": "model",
            "depends_on": {"nodes": [f"model.p.{name}" for name in parents]},
            "tags": list(tags),
        }

    manifest = {
        "sources": {"source.p.raw.files": {}},
        "nodes": {
            "model.p.a": {
                "resource_type": "model",
                "depends_on": {"nodes": ["source.p.raw.files"]},
                "tags": [],
            },
            "model.p.b": model(["a"], "portable"),
            "model.p.c": model(["b"]),
            "model.p.d": model(["c", "e"], "portable"),
            "model.p.e": model([], "portable"),
            "model.p.f": model(["b"], "portable"),
        },
    }
    between = load("common").between
    assert between(manifest, ["raw.files"], ["d"]) == {"a", "b", "c", "d"}
    assert between(manifest, ["b", "e"], ["d", "f"], tag="portable") == {"b", "d", "e", "f"}
    assert between(manifest, ["b"], ["d"], tag="portable") == set()


def test_figures_are_medians_and_say_whether_the_goal_is_met(load, tmp_path, capsys):
    common = load("common")
    asked = common.parser("text").parse_args(["--results", str(tmp_path)])
    report = common.Report("one", asked)
    report.add("ratio", [3.0, 1.0, 1.5], goal=2.0)
    report.add("speed", 2.0, goal=3.0, at_least=True)
    report.close()
    figures = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))["figures"]
    assert [(row["median"], row["least"], row["most"], row["met"]) for row in figures] == [
        (1.5, 1.0, 3.0, True),
        (2.0, 2.0, 2.0, False),
    ]
    said = capsys.readouterr().out
    assert "<= 2: met" in said and ">= 3: MISSED" in said


def test_reading_counts_every_column_and_no_row_number(load, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\nlong,x\nlong,y\n", encoding="utf-8")
    sql = f"""
        with raw_t as (
            select * from (
                select a, b, row_number() over () as _row
                from read_csv('{tmp_path}/x.csv', all_varchar = true, filename = '_path')
            )
        ),
        renamed as (select a from raw_t)
        select * from renamed
    """
    reader = load("raw_to_events").reader
    with duckdb.connect() as connection:
        assert connection.execute(reader(sql)).fetchall() == [(2, 8, 2)]
    assert reader("with raw_t as (select * from (select cast(null as varchar) as a where false)) "
                  "select * from raw_t") is None


def test_claims_are_distinct_and_as_many_as_asked(load):
    """On a cohort of two lists: one triple per claim, ends of the right kinds."""
    claims = load("claims")
    with duckdb.connect() as connection:
        connection.execute("""
            create table int_task_events as
            select * from (values
                (7, 'v1', null, 'dx', 'both', 'diagnosis', 'e1', true),
                (7, 'v1', null, 'dx', 'both', 'diagnosis', 'e2', true),
                (9, 'v2', null, 'dx', 'both', 'diagnosis', 'e3', true),
                (9, 'v2', null, 'dx', 'both', 'diagnosis', 'e4', true),
                (9, 'v2', null, 'dx', 'both', 'diagnosis', 'e5', false)
            ) as t (list_number, visit_key, target_visit_key, prompt_task, role_allowed,
                    event_type, event_key, is_offered);
            create table brg_event_concepts as
            select * from (values
                ('e1', 1, 'C1', 1, 'exact'), ('e2', 2, 'C2', 1, 'exact'),
                ('e3', 1, 'C1', 1, 'exact'), ('e4', 2, 'C2', 1, 'exact'),
                ('e5', 3, 'C3', 1, 'exact')
            ) as t (event_key, cui_id, cui, rank, mapping_level);
            create table relations as
            select 'dx' as task, 'dx' as prompt_task, 'causes' as relation,
                'diagnosis' as subject_type, 'diagnosis' as object_type;
            create table dim_visits as
            select * from (values ('v1', 's', 'p1'), ('v2', 's', 'p2'))
                as t (visit_key, source, patient_key);
        """)
        assert claims.make_triples(connection, 10) == 2
        made = connection.execute(
            "select subject_cui, object_cui, visit_key from fct_triples order by all"
        ).fetchall()
        assert made == [("C1", "C2", "v1"), ("C2", "C1", "v1")]
        assert claims.make_triples(connection, 1) == 1


def test_prompts_that_begin_alike_go_out_side_by_side(tmp_path):
    """Within a group: its arms differ in what they show."""
    plan = Plan(tmp_path)
    plan.add_model("tiny")
    texts = {"k1": "shown: b", "k2": "hidden: b", "k3": "shown: a", "k4": "hidden: a"}
    for key, text in texts.items():
        plan.add(key, prefix_group="g", messages=[{"role": "user", "content": text}])
    file = tmp_path / "todo.parquet"
    generate.copy_pending(plan.database, plan.store, "answers", "tiny", file, None)
    rows = [row["request_key"] for batch in generate.batches(file, 10) for row in batch]
    assert rows == ["k4", "k2", "k3", "k1"]


def test_parsing_reads_every_column(load, tmp_path):
    """Also those that the model guards against torn lines, and those that nobody asks for."""
    reader = load("raw_to_events").reader
    (tmp_path / "t.csv").write_text("a,b\n1,22\n3,44\n", encoding="utf-8")
    read = reader(f"""
        with raw_t as (
            select * from (
                select case when coalesce(_surplus, '') = '' then a end as a
                from read_csv('{tmp_path}/t.csv', header = true, auto_detect = false,
                    null_padding = true, filename = '_path',
                    columns = {{'a': 'VARCHAR', 'column_2': 'VARCHAR', '_surplus': 'VARCHAR'}})
            )
        )
        select a from raw_t
    """)
    with duckdb.connect() as connection:
        assert connection.execute(read).fetchone() == (2, 2, 4, None)
    assert reader("with raw_t as (select null as a where false) select * from raw_t") is None


def test_a_build_has_the_resources_that_were_asked_for(load, monkeypatch, tmp_path):
    """DuckDB's threads and memory, whatever the shell says."""
    monkeypatch.setenv("EHRBENCH_THREADS", "9")
    monkeypatch.setenv("EHRBENCH_MEMORY_LIMIT", "9GB")
    common = load("common")
    asked = common.parser("x", share=0.1).parse_args(["--threads", "3", "--memory-limit", "4GB"])
    set_ = common.Project.of(asked, tmp_path / "x.duckdb").environment()
    assert (set_["EHRBENCH_THREADS"], set_["EHRBENCH_MEMORY_LIMIT"]) == ("3", "4GB")
