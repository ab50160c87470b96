"""Folders that users name, whatever they are called, are folders: never SQL, never a pattern.

Folders of raw files are in test_bad_input.py (test_a_folder_may_have_any_name).
"""

import gzip
import json
import shutil
from fnmatch import fnmatch

import bad_input
import duckdb
import pyarrow.parquet as pq
import pytest
from canned_engine import CannedEngine
from conftest import Plan, dbt
from raw_renderer import Renderer
from test_bad_input import NAMES
from test_convert_pubmed import BASELINE, HEAD

from ehrbench import cli, completions, embed, engines, generate, paths, recorded, sql
from ehrbench.convert import pubmed, semmeddb
from ehrbench.errors import EhrbenchError
from ehrbench.synth import scale

# All at once, and a neighbour that the name matches as a pattern.
NASTY = "x'); drop table t; -- \"q\" {{ 1 / 0 }} {% raw %} $HOME %20 é–名前 [a-z]*"
NEIGHBOUR = NASTY.replace("[a-z]*", "abc")
# What a database's own name may hold of it.
NAMED = "x) drop table t -- {{ 1 }} $HOME %20 é–名前 [a-z]*.duckdb"


@pytest.mark.parametrize("name", [*NAMES, NASTY])
def test_a_store_and_a_database_may_lie_in_any_folder(name, tmp_path, monkeypatch):
    """Shards of a neighbour that the name matches as a pattern are another store's."""
    monkeypatch.setitem(engines._FACTORIES, "canned", lambda spec, options: CannedEngine())
    folder = tmp_path / name
    plan = Plan(folder)
    plan.add_model("it's \"x\"; --", engine="canned")
    for key in ("k1", "k2", "k3"):
        plan.add(key, model="it's \"x\"; --")
    ask = {"stage": "answers", "model": "it's \"x\"; --", "engine": "canned", "target": "synthetic"}
    ask |= {"database": plan.database, "store": plan.store}
    assert generate.generate(**ask, limit=1).succeeded == 1
    for neighbour in ("a1b", "b", NEIGHBOUR):
        if fnmatch(neighbour, name):
            shutil.copytree(folder, tmp_path / neighbour)
            there = {"database": tmp_path / neighbour / "plan.duckdb"}
            there["store"] = tmp_path / neighbour / "completions"
            [shard] = completions.completion_shards(there["store"])
            assert generate.generate(**{**ask, **there}).succeeded == 2
            # A shard of the same name that holds all answers.
            [whole] = completions.stage_models(there["store"])
            completions.compact(there["store"], *whole)
            [merged] = completions.completion_shards(there["store"])
            merged.replace(shard)
    assert generate.pending_counts(plan.database, plan.store) == [
        ("answers", "it's \"x\"; --", "canned", 2)
    ]
    assert generate.generate(**ask, batch=1).succeeded == 2
    assert [row["request_key"] for row in plan.stored()] == ["k1", "k2", "k3"]
    [(stage, model)] = completions.stage_models(plan.store)
    assert completions.compact(plan.store, stage, model) == (3, 3)
    assert recorded.used(plan.database, plan.store) == [] and embed.planned(plan.database, plan.store) == []


def test_a_file_is_a_literal_that_matches_itself_alone(tmp_path):
    for name in (*NAMES, NASTY):
        (tmp_path / name).mkdir(parents=True)
        with duckdb.connect() as connection:
            connection.execute("create table t as select 1 as x")
            place = tmp_path / name / "x.parquet"
            connection.execute(f"copy (select 7 as a) to '{sql.text(place)}' (format parquet)")
            assert connection.execute(f"from read_parquet({sql.files([place])})").fetchall() == [(7,)]
            assert connection.execute("from t").fetchall() == [(1,)]


# Variables beside those of single sources, by what the target makes of them.
@pytest.mark.parametrize(
    ("target", "variable", "below", "model"),
    [
        ("synthetic", "EHRBENCH_SYNTH_DIR", "raw/mimic_iv/hosp/patients.csv.gz", "stg_mimic_iv__patients"),
        ("demo", "EHRBENCH_SHARED_DIR", "data/mimic-iv-demo/hosp/patients.csv.gz", "stg_mimic_iv__patients"),
        ("full", "EHRBENCH_MODELS_DIR", "a model/config.json", "stg_completions__weights"),
    ],
)
def test_folders_of_several_sources(target, variable, below, model, tmp_path):
    text = bad_input.CSV["mimic_iv"]["patients"][1] if below.endswith(".gz") else "{}"
    for name in (NASTY, NEIGHBOUR):
        bad_input.write(tmp_path / name / below, text)
    with duckdb.connect() as connection:
        renderer = Renderer(connection, target)
        renderer.variables = {variable: str(tmp_path / NASTY)}
        renderer.build(model)
        [(n,)] = connection.execute(f"select count(*) from {model}").fetchall()
    assert n == (1 if model.endswith("weights") else 3)


@pytest.mark.parametrize(
    "name", ['a"b.duckdb', "a'b.duckdb", "a;b.duckdb", "what?/a.duckdb", "#1/a.duckdb", "a\\b.duckdb"]
)
def test_a_database_that_dbt_or_duckdb_cannot_name_is_said(name, tmp_path, monkeypatch):
    monkeypatch.setenv("EHRBENCH_DB", str(tmp_path / name))
    with pytest.raises(EhrbenchError, match=r"rename it \(EHRBENCH_DB\)"):
        paths.database("synthetic")


def test_conversions_read_and_write_folders_of_any_name(tmp_path):
    folder, out = tmp_path / NASTY / "in", tmp_path / NASTY / "out"
    for place in (folder, tmp_path / NEIGHBOUR / "in"):
        place.mkdir(parents=True)
        dump = place / "semmedVER43_2024_R_GENERIC_CONCEPT.csv.gz"
        dump.write_bytes(gzip.compress(b'1,"C0030705","Patients"\n', mtime=0))
    assert semmeddb.convert_semmeddb(folder, out / "semmeddb", ["GENERIC_CONCEPT"]) == {
        "GENERIC_CONCEPT": 1
    }
    files = [folder / "a'1.xml.gz", folder / "[b]*.xml"]
    files[0].write_bytes(gzip.compress(f"{HEAD}{BASELINE}</PubmedArticleSet>\n".encode()))
    files[1].write_text(f"{HEAD}</PubmedArticleSet>\n")
    pubmed.convert_pubmed(files, out / "pubmed")
    [file] = (out / "pubmed").glob("*.parquet")
    assert pq.read_metadata(file).num_rows >= 6


def test_a_profile_is_written_to_a_folder_of_any_name(tmp_path, monkeypatch):
    known = scale.profiles()
    small = {"cohort": known["mimic-iv-3.1"] | {"patients": 50, "admissions": 80}}
    monkeypatch.setattr(scale, "profiles", lambda: known | small)
    scale.write(tmp_path / NASTY, "cohort")
    patients = tmp_path / NASTY / "raw" / "mimic_iv" / "hosp" / "patients.csv.gz"
    assert len(gzip.open(patients, "rt").readlines()) == 51
    assert json.loads((tmp_path / NASTY / paths.MARKER).read_text())["data_class"] == "synthetic"


def test_an_export_and_sheets_are_written_to_folders_of_any_name(
    synthetic_build, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("EHRBENCH_DB", str(synthetic_build.database))
    monkeypatch.setenv("EHRBENCH_COMPLETIONS_DIR", str(tmp_path / NASTY / "store"))
    export = ["export", "--format", "jsonl", "--format", "parquet"]
    cli.cli.main([*export, "--out", str(tmp_path / NASTY / "export")], standalone_mode=False)
    assert list((tmp_path / NASTY / "export").rglob("*.parquet"))
    sheets = tmp_path / NASTY / "audit"
    cli.cli.main(["audit", "sample", "--raters", "1", "--out", str(sheets)], standalone_mode=False)
    [sheet] = sheets.glob("*.xlsx")
    # Nobody has filled it: that is said, and nothing is written.
    with pytest.raises(EhrbenchError):
        cli.cli.main(["audit", "import", str(sheet)], standalone_mode=False)
    capsys.readouterr()


@pytest.mark.soak
def test_dbt_builds_in_folders_of_any_name(tmp_path):
    """Database, spill folder, store, weights, raw files, artefacts and logs below one such folder."""
    home = tmp_path / NASTY
    patients, text = bad_input.CSV["mimic_iv"]["patients"]
    bad_input.write(home / "synth" / "raw" / "mimic_iv" / patients, text)
    bad_input.write(home / "models" / "m" / "config.json", "{}")
    completions.ensure_store(home / "completions")
    done = dbt(
        *("run", "--target", "synthetic", "--select", "stg_mimic_iv__patients"),
        *("stg_completions__weights", "stg_completions__completions"),
        target_path=home / "target",
        EHRBENCH_DB=home / NAMED,
        EHRBENCH_TEMP_DIR=home / "temp",
        EHRBENCH_SYNTH_DIR=home / "synth",
        EHRBENCH_COMPLETIONS_DIR=home / "completions",
        EHRBENCH_MODELS_DIR=home / "models",
    )
    assert done.returncode == 0, done.stdout[-3000:]
    with duckdb.connect(str(home / NAMED), read_only=True) as made:
        assert made.execute("select count(*) from stg_mimic_iv__patients").fetchall() == [(3,)]
        assert made.execute("from stg_completions__weights").fetchall() == [("m",)]
