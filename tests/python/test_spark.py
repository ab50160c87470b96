"""The portable part on Spark: who makes what, what crosses, what is refused; all of it for real in `make soak`."""

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pyarrow.parquet as pq
import pytest
import sqlglot
import yaml
from conftest import ROOT, ehrbench
from raw_renderer import project_file, sources
from sqlglot import exp

from ehrbench import dbt, macros, spark
from ehrbench.convert import semmeddb
from ehrbench.errors import EhrbenchError


@pytest.fixture(scope="module")
def nodes(manifest):
    return spark.nodes_of(manifest)


def node(name, *parents, portable=False, kind="table", folder="intermediate"):
    """A node as spark.nodes_of gives it."""
    tags = ["portable"] * portable + ["staging"] * (folder == "staging")
    return {
        "name": name, "tags": tags, "parents": list(parents), "resource_type": "model",
        "config": {"materialized": kind}, "checksum": {"checksum": name},
    }


# ------------------------------------------------------------------------------ who makes what


def test_what_spark_reads_is_made_before(nodes, manifest):
    """Every parent of a portable model is made before it: by Spark, or by DuckDB and handed over."""
    turns = spark.turns_of(nodes)
    for id, one in nodes.items():
        for parent in one["parents"]:
            between = spark.is_portable(nodes[parent]) and not spark.is_portable(one)
            assert turns[parent] + between <= turns[id], (parent, id)
    raw = {p for id, one in nodes.items() if spark.is_portable(one)
           for p in manifest["nodes"][id]["depends_on"]["nodes"] if p not in nodes}
    assert raw == {f"source.ehrbench.semmeddb.{table}" for table in (
        "predication", "predication_aux", "sentence", "citations", "generic_concept")}


def test_spark_is_asked_twice(nodes):
    """The knowledge base first, then, when triples are proposed, what is said about them."""
    turns = spark.turns_of(nodes)
    made = {one["name"]: turns[id] for id, one in nodes.items() if spark.is_portable(one)}
    assert set(made.values()) == {0, 1}
    for name in ("stg_semmeddb__predications", "stg_semmeddb__sentences", "int_edges", "int_supported_pairs"):
        assert made[name] == 0
    for name in ("int_claims", "int_claim_counts", "fct_triple_checks", "fct_triple_verdicts", "fct_claim_evidence"):
        assert made[name] == 1


def test_turns_grow_on_the_way_back_only():
    graph = {"a": node("a"), "s": node("s", "a", portable=True), "t": node("t", "s", "a", portable=True),
             "b": node("b", "t"), "u": node("u", "b", "s", portable=True), "c": node("c", "u", "a")}
    assert spark.turns_of(graph) == {"a": 0, "s": 0, "t": 0, "b": 1, "u": 1, "c": 2}


def test_views_of_an_earlier_turn_are_made_again():
    graph = {"a": node("a"), "s": node("s", "a", portable=True), "v": node("v", "s", portable=True, kind="view"),
             "w": node("w", "v", "a", portable=True, kind="view"), "u": node("u", "w", portable=True)}
    assert spark.with_views(graph, ["u"]) == {"u", "w", "v"}


def test_names_with_a_plus_take_what_reads_them():
    graph = {"a": node("a"), "b": node("b", "a"), "c": node("c", "b"), "d": node("d")}
    assert spark.named(graph, "a") == {"a"}
    assert spark.named(graph, "a+ d") == {"a", "b", "c", "d"}


def macros_of_spark(connection):
    """The project's macros as dbt's target spark has them."""

    class OnSpark(macros.Macros):
        def _dispatch(self, name):
            return self._known.get(f"spark__{name}") or self._known[f"default__{name}"]

    project = project_file("dbt_project.yml")
    return OnSpark(
        ROOT, connection, sources(),
        target=SimpleNamespace(name="spark", type="spark"),
        source=lambda *names: SimpleNamespace(is_cte=False),
        ref=lambda name: name, config=lambda **_: "",
        env_var=lambda name, default="": {"EHRBENCH_SEMMEDDB_DIR": "dumps"}.get(name, default),
        var=lambda name, default=None: project["vars"].get(name, default),
    )


def rendered_for_spark(name, connection):
    """SQL of a model as dbt's target spark has it."""
    text = next((ROOT / "models").rglob(f"{name}.sql")).read_text(encoding="utf-8")
    return macros_of_spark(connection).render(text)


def unknown_to_spark(sql):
    """Functions and types in a text of Spark that Spark may not have."""
    found = set()
    for tree in sqlglot.parse(sql, dialect="spark"):
        found |= {one.name.lower() for one in tree.find_all(exp.Anonymous)}
        found |= {one.sql() for one in tree.find_all(exp.DataType) if one.sql().upper() in ("HUGEINT", "UBIGINT")}
    # sqlglot knows these by another dialect's name.
    return found | set(re.findall(r"\bregexp_matches\b|\bas varchar\)|\bqualify\b", sql, re.I))


def test_portable_models_use_what_spark_has(nodes):
    for bad in ("select regexp_matches(a, 'b') from t", "select cast(a as varchar) from t",
                "select md5_number(a) from t", "select a from t qualify row_number() over () = 1"):
        assert unknown_to_spark(bad), bad
    assert not unknown_to_spark("select regexp_like(a, 'b') and cast(a as string) = md5(a) as c from t")
    with duckdb.connect() as connection:
        found = {one["name"]: bad for one in nodes.values() if spark.is_portable(one)
                 and (bad := unknown_to_spark(rendered_for_spark(one["name"], connection)))}
        staged = rendered_for_spark("stg_semmeddb__citations", connection)
    assert found == {}
    assert "from parquet.`dumps/CITATIONS/part-*.parquet`" in staged


# ------------------------------------------------------------------------------ the way there and back


def test_spark_keeps_to_this_machine_and_to_its_folder():
    settings = project_file("profiles.yml")["ehrbench"]["outputs"]["spark"]["server_side_parameters"]
    assert settings["spark.ui.enabled"] == "false"
    assert settings["spark.sql.catalogImplementation"] == "in-memory"
    assert "'local-cluster[2,1,1024]'" in settings["spark.master"]
    for name in ("spark.driver.host", "spark.driver.bindAddress"):
        assert "'127.0.0.1'" in settings[name]


@pytest.fixture
def built_file(tmp_path):
    """A database with one table that a portable model reads, and the graph of both."""
    database = tmp_path / "x.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("create table a as select * from (values (1, 'x'), (2, null)) as rows (n, t)")
    return database, {"a": node("a"), "s": node("s", "a", portable=True)}


def test_what_spark_needs_is_handed_over_with_a_digest_of_it(built_file, tmp_path):
    database, graph = built_file
    folder = tmp_path / "x'); drop table a"
    first = spark.hand_over(database, graph, ["s"], folder)
    assert pq.read_table(folder / "in/a").to_pylist() == [{"n": 1, "t": "x"}, {"n": 2, "t": None}]
    assert spark.hand_over(database, graph, ["s"], folder) == first
    graph["s"]["checksum"]["checksum"] = "edited"
    edited = spark.hand_over(database, graph, ["s"], folder)
    (folder / "semmeddb/PREDICATION").mkdir(parents=True)
    (folder / "semmeddb/PREDICATION/part-0000000001.parquet").write_text("rows")
    dumped = spark.hand_over(database, graph, ["s"], folder)
    with duckdb.connect(str(database)) as connection:
        connection.execute("update a set t = 'y' where n = 2")
    assert len({first, edited, dumped, spark.hand_over(database, graph, ["s"], folder)}) == 4


def test_a_number_that_parquet_cannot_hold_is_refused(built_file, tmp_path):
    database, graph = built_file
    with duckdb.connect(str(database)) as connection:
        connection.execute("create or replace table a as select cast(1 as hugeint) as n")
    with pytest.raises(EhrbenchError, match=r"a\.n is hugeint: cast it to bigint there"):
        spark.hand_over(database, graph, ["s"], tmp_path)
    with duckdb.connect(str(database)) as connection:
        connection.execute("drop table a")
    with pytest.raises(EhrbenchError, match="a is not built: run ehrbench run --spark from the start"):
        spark.hand_over(database, graph, ["s"], tmp_path)


def test_dumps_are_converted_linked_or_empty(tmp_path):
    raw, converted, staged = tmp_path / "raw", tmp_path / "converted", tmp_path / "staged"
    raw.mkdir()
    dump = raw / "semmedver43_2024_r_CITATIONS.csv"
    dump.write_text('"11","0000-0000","1998 Jan","null",1998\n')
    semmeddb.convert_semmeddb(raw, converted, ["CITATIONS"])
    nothing = dict.fromkeys(semmeddb.declared_dumps(ROOT), 0)

    spark.stage_dumps(None, staged)
    assert [pq.read_table(p).num_rows for p in sorted(staged.glob("*/part-*.parquet"))] == [0] * len(nothing)
    spark.stage_dumps(converted, staged)
    assert (staged / "CITATIONS").is_symlink() and (converted / "CITATIONS/source.json").is_file()
    assert (staged / "CITATIONS/part-0000000001.parquet").is_file()
    spark.stage_dumps(raw, staged)
    assert not (staged / "CITATIONS").is_symlink() and (converted / "CITATIONS/source.json").is_file()
    parts = semmeddb.parts_of(staged / "CITATIONS")
    before = parts[0].stat().st_mtime_ns
    spark.stage_dumps(raw, staged)
    assert parts[0].stat().st_mtime_ns == before
    # Another dump of the same size in its place, written later.
    dump.write_text('"12","0000-0000","1998 Jan","null",1998\n')
    os.utime(dump, ns=(before + 10**10, before + 10**10))
    spark.stage_dumps(raw, staged)
    assert pq.read_table(parts[0]).column("pmid").to_pylist() == ["12"]


@pytest.fixture
def staged(built_file, monkeypatch, tmp_path):
    """spark.build with dbt replaced by bookkeeping: DuckDB makes nothing, Spark tables `s` and `t`."""
    database, graph = built_file
    graph |= {"t": node("t", "a", portable=True), "b": node("b", "s")}
    folder, calls = tmp_path / "spark", []
    monkeypatch.setenv("EHRBENCH_SPARK_DIR", str(folder))
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(tmp_path / "none"))
    monkeypatch.delenv("EHRBENCH_SPARK_MASTER", raising=False)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(spark, "check_installed", lambda: None)
    monkeypatch.setattr(spark, "read_nodes", lambda work: graph)

    def call(arguments, work, settings, label):
        calls.append((arguments[0], arguments[arguments.index("--select") + 1] if "--select" in arguments else None))
        for name in calls[-1][1].split() if "spark" in arguments else ():
            (folder / spark.TABLES / name).mkdir(parents=True)
            (folder / spark.TABLES / name / "_SUCCESS").touch()
        return dbt.Result(0.1, "PASS=1")

    monkeypatch.setattr(dbt, "call", call)
    return SimpleNamespace(database=database, calls=calls, folder=folder, build=lambda *more: spark.build(
        "synthetic", database, tmp_path / "store", *more))


def test_engines_take_turns_and_a_part_keeps_what_is_made(staged):
    staged.build()
    assert staged.calls == [
        ("parse", None), ("build", "a"), ("run", "s t"), ("build", "b s t"), ("test", "test_type:data")]
    del staged.calls[:]
    staged.build("b")
    assert staged.calls == [("parse", None), ("build", "b"), ("test", "test_type:data")]
    del staged.calls[:]
    staged.build("s+")
    # What Spark makes again, DuckDB takes over again.
    assert [select for _, select in staged.calls] == [None, "s t", "b s t", "test_type:data"]


def test_tables_of_other_rows_are_not_taken_over(staged):
    staged.build()
    with duckdb.connect(str(staged.database)) as connection:
        connection.execute("insert into a values (3, 'z')")
    with pytest.raises(EhrbenchError, match=r"made from other rows, models or settings than x\.duckdb has: run "):
        staged.build("b")
    staged.build()
    staged.build("b")


def test_a_table_that_spark_left_out_is_missed(staged, monkeypatch):
    monkeypatch.setattr(dbt, "call", lambda *_: dbt.Result(0.1, "PASS=1"))
    with pytest.raises(EhrbenchError, match="Spark has left no s in"):
        staged.build()


@pytest.mark.parametrize(
    ("tags", "folder", "reads_spark"),
    [(["portable"], "it's", True), (["portable"], "", False), ([], "it's", False)],
)
def test_duckdb_reads_what_spark_made(tags, folder, reads_spark):
    with duckdb.connect() as connection:
        made = macros.Macros(
            ROOT, connection, [],
            env_var=lambda name, default="": folder if name == "EHRBENCH_SPARK_TABLES" else default,
            model={"name": "int_edges", "tags": tags},
        ).call("made_by_spark", "select 1")
    assert made == ("select * from read_parquet('it''s/int_edges/*.parquet', hive_partitioning = false)"
                    if reads_spark else "select 1")


# ------------------------------------------------------------------------------ what is refused


def test_what_spark_lacks_is_said_in_one_line(tmp_path, monkeypatch):
    found = {"pyspark", "dbt.adapters.spark"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name in found or None)
    java = tmp_path / "bin/java"
    java.parent.mkdir()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EhrbenchError, match=r"^no Java for Spark .*: install Java 17 .*JAVA_HOME$"):
        spark.check_installed()
    for version, problem in (("11.0.2", "is Java 11, too old"), ("1.8.0_392", "is Java 8, too old"), ("17.0.15", None)):
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        java.chmod(0o755)
        if problem:
            with pytest.raises(EhrbenchError, match=problem):
                spark.check_installed()
        else:
            spark.check_installed()
    for name in sorted(found):
        found.discard(name)
        with pytest.raises(EhrbenchError, match=re.escape(f"{name} is not installed: pip install -e '.[spark]'")):
            spark.check_installed()
        found.add(name)


def test_patients_leave_the_machine_only_with_a_flag(monkeypatch, tmp_path):
    file = tmp_path / "b.duckdb"
    monkeypatch.setattr(spark.paths, "data_class", lambda target: "demo")
    monkeypatch.delenv("EHRBENCH_SPARK_MASTER", raising=False)
    spark.check_data_use("demo", file, False)
    monkeypatch.setenv("EHRBENCH_SPARK_MASTER", "local[2]")
    spark.check_data_use("demo", file, False)
    monkeypatch.setenv("EHRBENCH_SPARK_MASTER", "spark://other:7077")
    with pytest.raises(EhrbenchError, match="not on this machine and the data of target demo are demo"):
        spark.check_data_use("demo", file, False)
    spark.check_data_use("demo", file, True)
    monkeypatch.setattr(spark.paths, "data_class", lambda target: "synthetic")
    spark.check_data_use("synthetic", file, False)
    # A database of other data: what it holds would be handed over.
    with duckdb.connect(str(file)) as connection:
        connection.execute("create table rpt_run_manifest as select 'credentialed' as data_class")
    with pytest.raises(EhrbenchError, match="the data of target synthetic are credentialed"):
        spark.check_data_use("synthetic", file, False)


# ------------------------------------------------------------------------------ for real


def different(one: Path, other: Path, tables: list[str]) -> dict[str, object]:
    """Tables whose rows or types differ between two databases."""
    found: dict[str, object] = {}
    with duckdb.connect() as connection:
        connection.execute(f"attach '{one}' as one (read_only); attach '{other}' as other (read_only)")
        for name in tables:
            columns = [connection.execute(f"describe {side}.{name}").fetchall() for side in ("one.main", "other.main")]
            if [row[:2] for row in columns[0]] != [row[:2] for row in columns[1]]:
                found[name] = columns
                continue
            counts = [
                connection.execute(f"select count(*) from (from {a}.main.{name} except all from {b}.main.{name})")
                .fetchone()[0] for a, b in (("one", "other"), ("other", "one"))
            ]
            if any(counts):
                found[name] = counts
    return found


def test_the_comparison_sees_a_row_and_a_type(tmp_path):
    made = {"x": "select 1 as a union all select 1", "y": "select 1 as a", "z": "select 1::bigint as a"}
    for name, sql in made.items():
        with duckdb.connect(str(tmp_path / name)) as connection:
            connection.execute(f"create table t as {sql}")
    assert different(tmp_path / "x", tmp_path / "x", ["t"]) == {}
    assert different(tmp_path / "x", tmp_path / "y", ["t"]) == {"t": [1, 0]}
    assert "t" in different(tmp_path / "y", tmp_path / "z", ["t"])


@pytest.mark.soak
def test_macros_that_differ_give_the_same_on_spark(tmp_path):
    """Shares on a half in the sixth digit, ratios beside them, and texts that are nearly a CUI."""
    from pyspark.sql import SparkSession

    values, texts = tmp_path / "values.parquet", tmp_path / "texts.parquet"
    expressions = {"rounded": ("x", values), "cui_id": ("c", texts), "wide_integer": ("n", values)}
    with duckdb.connect() as connection:
        connection.execute(f"""copy (
            select distinct cast(k as double) / n * scale as x, k as n
            from range(1, 400) as ks (k), range(64, 20001, 64) as ns (n), (values (1), (1000), (7e6)) as s (scale)
            where k < n) to '{values}'""")
        connection.execute(f"""copy (select * from (values ('C0000001'), ('C9999999'), ('C0000001' || chr(10)),
            ('c0000001'), ('C00000012'), ('C000001'), ('XC0000001'), ('C000000x'), ('C0000001|12'), (''), (null))
            as cuis (c)) to '{texts}'""")
        ours, theirs = macros.Macros(ROOT, connection, []), macros_of_spark(connection)
        spark_session = (
            SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
            .config("spark.sql.warehouse.dir", str(tmp_path))
            .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
        )
        try:
            for name, (column, file) in expressions.items():
                sql = f"select {column}, {theirs.call(name, column)} as made from parquet.`{file}`"
                out = tmp_path / name
                spark_session.sql(sql).write.parquet(str(out))
                n, wrong = connection.execute(
                    f"select count(*), count(*) filter (where {ours.call(name, column)} is distinct from made) "
                    f"from '{out}/*.parquet'").fetchone()
                assert n > 10 and wrong == 0, (name, n, wrong)
            [(naive,)] = spark_session.sql("select round(3D / 640, 6)").collect()
            assert naive != connection.execute("select round(3::double / 640, 6)").fetchone()[0]
        finally:
            spark_session.stop()


@pytest.mark.soak
def test_spark_makes_what_duckdb_makes(synthetic_build, tmp_path):
    """Every portable table, and all that DuckDB makes of them, row for row; then once more in part."""
    settings = {
        "EHRBENCH_DB": tmp_path / "spark.duckdb", "EHRBENCH_SPARK_DIR": tmp_path / "spark",
        "EHRBENCH_COMPLETIONS_DIR": synthetic_build.store, "EHRBENCH_SYNTH_DIR": synthetic_build.synth,
    }
    done = ehrbench("run", "--target", "synthetic", "--no-generate", "--spark", **settings)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    manifest = json.loads((synthetic_build.artefacts / "manifest.json").read_text(encoding="utf-8"))
    nodes = spark.nodes_of(manifest)
    by_spark = [one["name"] for one in nodes.values() if spark.is_portable(one)]
    assert len(by_spark) > 50
    assert different(synthetic_build.database, tmp_path / "spark.duckdb", sorted(by_spark)) == {}
    others = sorted({one["name"] for one in nodes.values()} - set(by_spark))
    assert different(synthetic_build.database, tmp_path / "spark.duckdb", others) == {}
    # Spark, and not DuckDB, has made them.
    tables = tmp_path / "spark" / spark.TABLES
    assert {one["name"] for one in nodes.values() if spark.is_portable(one) and spark.is_table(one)} == {
        path.name for path in tables.iterdir()}
    assert sorted(yaml.safe_load((tables.parent / spark.STAMPS).read_text())) == ["0", "1"]
