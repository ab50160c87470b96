"""From pending requests to the store: order, attempts, limits and guards."""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from canned_engine import CannedEngine

from ehrbench import completions, engines, generate, paths, runs
from ehrbench.completions import RUN, RUNS
from ehrbench.engines import vllm_offline
from ehrbench.errors import EhrbenchError, EngineUnavailable


@pytest.fixture
def canned(monkeypatch):
    """The canned engine of this test, registered as `canned`."""
    engine = CannedEngine()
    monkeypatch.setitem(engines._FACTORIES, "canned", lambda spec, options: engine)
    return engine


def run(plan, **fields):
    return generate.generate(
        **{
            "target": "synthetic",
            "stage": "answers",
            "model": "tiny",
            "engine": "canned",
            "database": plan.database,
            "store": plan.store,
            **fields,
        }
    )


def say(text):
    return [{"role": "user", "content": text}]


def test_requests_go_out_in_prefix_order_and_one_batch_is_one_shard(plan, canned):
    plan.add_model("tiny")
    for key, group in [("k3", "a"), ("k1", "b"), ("k5", "a"), ("k2", "b"), ("k4", "c")]:
        plan.add(key, prefix_group=group)
    outcome = run(plan, batch=2)
    assert [key for key, _ in canned.asked] == ["k3", "k5", "k1", "k2", "k4"]
    assert (outcome.asked, outcome.succeeded, outcome.failed) == (5, 5, 0)
    written = {
        tuple(completions.read_shard(shard)["request_key"].to_pylist())
        for shard in completions.completion_shards(plan.store)
    }
    assert written == {("k3", "k5"), ("k1", "k2"), ("k4",)}
    row = plan.stored()[0]
    assert row["request_key"] == "k1" and row["attempt"] == 1 and row["error"] is None
    assert (row["stage"], row["model"], row["revision"], row["engine"]) == (
        *("answers", "tiny", "r1", "canned"),
    )
    assert canned.closed


def test_what_the_store_has_is_not_asked_again_though_the_database_is_older(plan, canned):
    plan.add_model("tiny")
    for i in range(6):
        plan.add(f"k{i}")
    run(plan, limit=2)
    run(plan, limit=3)
    run(plan)
    assert run(plan).asked == 0
    assert canned.asked == [(f"k{i}", 1) for i in range(6)]


def test_a_limit_takes_the_first_of_the_plan_and_keeps_the_prefix_order(plan, canned):
    plan.add_model("tiny")
    for key, group, rank in [("k1", "a", 9), ("k2", "b", 1), ("k3", "a", 2), ("k4", "b", 8)]:
        plan.add(key, prefix_group=group, plan_rank=rank)
    run(plan, limit=2)
    assert [key for key, _ in canned.asked] == ["k3", "k2"]
    run(plan, limit=1)
    assert canned.asked[-1] == ("k4", 1)


@pytest.mark.parametrize("failure", [engines.too_long(9, 1, 8), engines.failed("server_died: 2")])
def test_a_failure_that_would_come_again_is_not_tried_again(plan, canned, monkeypatch, failure):
    plan.add_model("tiny")
    plan.add("k1", max_attempts=3)
    monkeypatch.setattr(canned, "answer", lambda *_: failure)
    assert run(plan).asked == 1
    assert run(plan).asked == 0


def test_a_database_without_ranks_will_do(plan, canned):
    plan.add_model("tiny")
    plan.add("k1")
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute("alter table int_requests_pending drop column plan_rank")
    assert run(plan, limit=1).asked == 1


def test_other_stages_and_models_stay_apart(plan, canned):
    plan.add_model("tiny")
    plan.add_model("other")
    plan.add("k1")
    plan.add("k2", stage="extraction", mode="json", json_schema={"type": "object"})
    plan.add("k3", model="other")
    run(plan)
    run(plan, stage="extraction")
    assert canned.asked == [("k1", 1), ("k2", 1)]
    assert completions.stage_models(plan.store) == [("answers", "tiny"), ("extraction", "tiny")]


def test_a_failure_is_a_row_and_is_tried_again_up_to_max_attempts(plan, canned):
    plan.add_model("tiny")
    plan.add("good")
    plan.add("once", messages=say("fails once"), max_attempts=3)
    plan.add("never", messages=say("always fails"), max_attempts=3)
    plan.add("tried", messages=say("always fails"), n_attempts=2, max_attempts=3)
    outcome = run(plan)
    tries = Counter(key for key, _ in canned.asked)
    assert tries == {"good": 1, "once": 2, "never": 3, "tried": 1}
    assert (outcome.succeeded, outcome.failed) == (2, 5)
    assert outcome.errors == {"canned": 5}
    assert outcome.missing() == "2 without an answer (2 x canned)"
    rows = {(row["request_key"], row["attempt"]): row for row in plan.stored()}
    assert rows["once", 1]["error"] == "canned: asked to fail"
    assert rows["once", 1]["finish_reason"] == "error" and rows["once", 1]["text"] is None
    assert rows["once", 2]["error"] is None
    assert ("tried", 3) in rows
    assert run(plan).asked == 0


def test_pending_requests_are_read_again_only_while_one_has_failed(plan, canned, monkeypatch):
    plan.add_model("tiny")
    for i in range(4):
        plan.add(f"k{i}")
    copied = []

    def counted(*asked, copy=generate.copy_pending):
        copied.append(asked)
        return copy(*asked)

    monkeypatch.setattr(generate, "copy_pending", counted)
    assert (run(plan, limit=1).succeeded, len(copied)) == (1, 1)
    assert (run(plan).succeeded, len(copied)) == (3, 2)
    plan.add("once", messages=say("fails once"), max_attempts=3)
    plan.add("good")
    assert (run(plan).succeeded, len(copied)) == (2, 4)


def test_an_engine_that_dies_costs_no_attempt_and_keeps_what_it_gave(plan, canned):
    plan.add_model("tiny")
    plan.add("k1")
    plan.add("k2")
    plan.add("k3", messages=say("Question k3: engine down"))
    plan.add("k4")
    with pytest.raises(EngineUnavailable, match="canned engine is down"):
        run(plan)
    assert [row["request_key"] for row in plan.stored()] == ["k1", "k2"]
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute(
            "update int_requests_pending set messages = ? where request_key = 'k3'",
            [json.dumps(say("well again"))],
        )
    run(plan)
    assert [(r["request_key"], r["attempt"]) for r in plan.stored()] == [
        (f"k{i}", 1) for i in range(1, 5)
    ]


def test_nothing_to_do_starts_no_engine(plan):
    plan.add_model("tiny")
    assert run(plan, engine="no such engine").asked == 0


def test_the_database_is_closed_while_the_engine_works(plan, monkeypatch):
    plan.add_model("tiny")
    plan.add("k1")
    plan.add("k2")

    class Writer(CannedEngine):
        def stream(self, requests):
            with duckdb.connect(str(plan.database)) as connection:  # as dbt would
                connection.execute("create or replace table t as select 1 as one")
            yield from super().stream(requests)

    monkeypatch.setitem(engines._FACTORIES, "writer", lambda spec, options: Writer())
    assert run(plan, engine="writer").succeeded == 2


def test_no_trace_of_the_work_list_is_left(plan, canned):
    plan.add_model("tiny")
    plan.add("k1", messages=say("engine down"))
    with pytest.raises(EngineUnavailable):
        run(plan)
    assert [path.name for path in plan.store.rglob("*") if path.is_file()] == [".lock"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"model": "tinny"}, "model 'tinny' is not in the seed models; known are tiny"),
        ({"stage": "answer"}, "unknown stage 'answer'"),
        ({"engine": "vlm"}, "unknown engine 'vlm'"),
        ({"database": Path("nowhere.duckdb")}, "run ehrbench run"),
    ],
)
def test_bad_arguments_are_one_line(plan, canned, fields, said):
    plan.add_model("tiny")
    plan.add("k1")
    with pytest.raises(EhrbenchError, match=said):
        run(plan, **fields)


def test_a_database_that_dbt_writes_is_named(plan, canned):
    plan.add_model("tiny")
    code = (
        "import duckdb, sys, time\n"
        "c = duckdb.connect(sys.argv[1])\n"
        "print('open', flush=True)\n"
        "time.sleep(60)\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code, str(plan.database)], stdout=subprocess.PIPE
    )
    try:
        writer.stdout.readline()
        with pytest.raises(EhrbenchError, match="process [0-9]+ writes it"):
            run(plan)
    finally:
        writer.kill()
        writer.wait()


def test_a_database_of_an_older_project_is_named(plan, canned):
    plan.add_model("tiny")
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute("alter table int_requests_pending drop column prefix_group")
    with pytest.raises(EhrbenchError, match="no column prefix_group: run dbt build again"):
        run(plan)
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute("drop table int_requests_pending")
    with pytest.raises(EhrbenchError, match="int_requests_pending is not in the database"):
        run(plan)


def test_pending_counts_leave_out_what_the_store_has(plan, canned):
    plan.add_model("tiny")
    plan.add("k1")
    plan.add("k2", stage="extraction", mode="json", json_schema={"type": "object"})
    plan.add("k3")
    run(plan, limit=1)
    assert generate.pending_counts(plan.database, plan.store) == [
        ("extraction", "tiny", "vllm", 1),
        ("answers", "tiny", "vllm", 1),
    ]


@pytest.mark.parametrize("text", ["[1]", "{", "1"])
def test_engine_args_must_be_an_object(text):
    with pytest.raises(EhrbenchError, match="--engine-args"):
        generate.parse_engine_args(text)


# ----------------------------------------------------------------------- the runs' manifest


def runs_of(plan):
    """Rows of the manifest in the store, by run and mode."""
    rows = [
        row
        for file in completions.shards(plan.store / RUNS)
        for row in completions.read_shard(file, RUN).to_pylist()
    ]
    return sorted(rows, key=lambda row: (row["n_asked"], row["mode"]))


def test_every_run_leaves_a_row_per_mode(plan, canned):
    plan.add_model("tiny")
    plan.add("k1")
    plan.add("k2", messages=say("always fails"), max_attempts=1)
    plan.add("k3", mode="free")
    canned.delay_s = 0.02
    started = runs.now()
    run(plan, batch=1)
    free, choice = runs_of(plan)
    assert free["run_id"] == choice["run_id"]
    assert (free["mode"], free["n_asked"], free["n_failed"]) == ("free", 1, 0)
    assert (choice["mode"], choice["n_asked"], choice["n_failed"]) == ("choice", 2, 1)
    assert (choice["prompt_tokens"], choice["completion_tokens"]) == (1, 1)
    assert (choice["stage"], choice["model"], choice["revision"]) == ("answers", "tiny", "r1")
    assert (choice["engine"], choice["engine_version"], choice["device"]) == ("canned", "0", "none")
    assert json.loads(choice["parameters"]) == {"rule": "A"}
    assert choice["python_version"].startswith("3.") and choice["torch_version"] is None
    # Three waits of 20 ms, split by latencies: 1 ms each, none of the one that failed.
    assert 60 <= free["wall_ms"] + choice["wall_ms"] < 3000
    assert abs(free["wall_ms"] - choice["wall_ms"]) <= 1
    assert started <= choice["started_at"] <= choice["ended_at"] <= runs.now()
    assert free["start_ms"] >= 0


def test_a_second_run_is_another_row_and_one_that_asks_nothing_is_none(plan, canned):
    plan.add_model("tiny")
    plan.add_model("other")
    for i in range(4):
        plan.add(f"k{i}")
    plan.add("k9", model="other")
    plan.add("x1", stage="extraction", mode="json", json_schema={"type": "object"})
    run(plan, limit=1)
    run(plan)
    run(plan)
    run(plan, model="other")
    run(plan, stage="extraction")
    files = completions.shards(plan.store / RUNS)
    assert [file.parent.name for file in files] == ["other", "tiny", "tiny", "tiny"]
    assert {row["run_id"] for row in runs_of(plan)} == {file.stem for file in files}
    assert sorted(row["n_asked"] for row in runs_of(plan)) == [1, 1, 1, 3]
    assert not [path for path in plan.store.rglob("*.tmp")]


def test_the_name_of_a_run_does_not_come_from_the_clock(plan, canned, tmp_path):
    other = type(plan)(tmp_path / "other")
    for one in (plan, other):
        one.add_model("tiny")
        one.add("k1")
        run(one)
        time.sleep(0.01)
    first, second = (runs_of(one)[0]["run_id"] for one in (plan, other))
    assert first == second


def test_a_run_whose_engine_dies_keeps_what_it_did(plan, canned):
    plan.add_model("tiny")
    plan.add("k1")
    plan.add("k2", messages=say("engine down"))
    with pytest.raises(EngineUnavailable):
        run(plan)
    assert [(row["n_asked"], row["n_failed"]) for row in runs_of(plan)] == [(1, 0)]


def test_compaction_leaves_the_manifest_alone(plan, canned):
    plan.add_model("tiny")
    for i in range(3):
        plan.add(f"k{i}")
    run(plan, batch=1)
    kept = runs_of(plan)
    assert completions.stage_models(plan.store) == [("answers", "tiny")]
    assert completions.compact(plan.store, "answers", "tiny") == (3, 3)
    assert runs_of(plan) == kept
    assert completions.check_store(plan.store) == 3 + len(kept)


# -------------------------------------------------------------------------- the data guard


def patients(folder, n=2):
    (folder / "hosp").mkdir(parents=True)
    lines = ["subject_id,gender", *(f"{i},F" for i in range(n))]
    (folder / "hosp" / "patients.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_data_class_is_read_from_the_data(tmp_path, monkeypatch):
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(tmp_path / "synth"))
    for name in ("MIMIC_IV", "MIMIC_III", "OMOP"):
        monkeypatch.delenv(f"EHRBENCH_{name}_DIR", raising=False)
    assert paths.data_class("synthetic") == "none"
    folder = patients(tmp_path / "synth" / "raw" / "mimic_iv")
    assert paths.data_class("synthetic") == "credentialed"  # the target's name proves nothing
    marker = tmp_path / "synth" / "MANIFEST.json"
    marker.write_text('{"data_class": "synthetic", "patients": 2}')
    assert paths.data_class("synthetic") == "synthetic"
    marker.write_text('{"data_class": "synthetic", "patients": 3}')
    assert paths.data_class("synthetic") == "credentialed"
    marker.write_text("not json")
    assert paths.data_class("synthetic") == "credentialed"
    monkeypatch.setenv("EHRBENCH_MIMIC_IV_DIR", str(folder))
    assert paths.data_class("full") == "credentialed"
    marker.write_text('{"data_class": "synthetic", "patients": 2}')
    assert paths.data_class("full") == "synthetic"
    unknown = tmp_path / "iii"
    unknown.mkdir()
    (unknown / "people.csv").write_text("id\n1\n")
    monkeypatch.setenv("EHRBENCH_MIMIC_III_DIR", str(unknown))
    assert paths.data_class("full") == "credentialed"


def test_the_open_demos_are_known_and_a_changed_one_is_not(shared_dir, tmp_path, monkeypatch):
    data = shared_dir / "data"
    for name in ("MIMIC_III", "OMOP"):
        monkeypatch.delenv(f"EHRBENCH_{name}_DIR", raising=False)
    monkeypatch.setenv("EHRBENCH_MIMIC_IV_DIR", str(data / "mimic-iv-demo"))
    assert paths.data_class("full") == "demo"
    monkeypatch.setenv("EHRBENCH_MIMIC_III_DIR", str(data / "mimic-iii-demo"))
    monkeypatch.setenv("EHRBENCH_OMOP_DIR", str(data / "omop-mimic-iv-demo"))
    assert paths.data_class("full") == "demo"
    monkeypatch.setenv("EHRBENCH_MIMIC_IV_DIR", str(data / "mimic-iv-demo" / "hosp"))
    assert paths.data_class("full") == "demo"
    mixed = tmp_path / "mixed" / "hosp"
    mixed.mkdir(parents=True)
    source = data / "mimic-iv-demo" / "hosp"
    (mixed / "patients.csv.gz").write_bytes((source / "patients.csv.gz").read_bytes())
    (mixed / "admissions.csv.gz").write_bytes(b"something else")
    monkeypatch.setenv("EHRBENCH_MIMIC_IV_DIR", str(tmp_path / "mixed"))
    assert paths.data_class("full") == "credentialed"


def test_patient_data_stay_on_this_machine_unless_a_flag_says_so(plan, tmp_path, monkeypatch):
    for name in ("MIMIC_IV", "MIMIC_III", "OMOP"):
        monkeypatch.delenv(f"EHRBENCH_{name}_DIR", raising=False)
    away, here = "https://api.example.com/v1", "http://127.0.0.1:8000/v1"
    folder = patients(tmp_path / "synth" / "raw" / "mimic_iv")
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(tmp_path / "synth"))
    monkeypatch.setenv("EHRBENCH_MIMIC_IV_DIR", str(folder))

    def allowed(target, endpoint, flag=False):
        try:
            generate.check_data_use(endpoint, target, plan.database, flag)
        except EhrbenchError as error:
            assert "--allow-remote" in str(error)
            return False
        return True

    # A database that does not say whose data it holds.
    (tmp_path / "synth" / "MANIFEST.json").write_text('{"data_class": "synthetic", "patients": 2}')
    assert not allowed("synthetic", away)
    (tmp_path / "synth" / "MANIFEST.json").unlink()
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute("create table rpt_run_manifest as select 'synthetic' as data_class")
    assert not allowed("full", away)
    assert not allowed("full", f"{here} {away}")
    assert allowed("full", f"{here} {here}")
    assert allowed("full", away, flag=True)
    assert allowed("full", here)
    assert not allowed("synthetic", away)  # no marker yet
    (tmp_path / "synth" / "MANIFEST.json").write_text('{"data_class": "synthetic", "patients": 2}')
    assert allowed("synthetic", away)
    # A database built from other data keeps their class, whatever the folders say now.
    for data_class in ("demo", "credentialed", "a word that is not known"):
        with duckdb.connect(str(plan.database)) as connection:
            connection.execute("update rpt_run_manifest set data_class = ?", [data_class])
        assert not allowed("synthetic", away), data_class


def test_the_guard_stands_before_the_engine(plan, monkeypatch, tmp_path):
    plan.add_model("tiny", engine="openai", endpoint="https://api.example.com/v1")
    plan.add("k1")
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(tmp_path / "none"))
    with pytest.raises(EhrbenchError, match="not on this machine"):
        run(plan, engine=None)
    assert plan.stored() == []


def planned(plan, n):
    plan.add_model("tiny")
    rows = ", ".join(
        f"('k{i:04}', 'answers', 'tiny', 'choice', 0, 'p', 'g', "
        f'\'[{{"role": "user", "content": "{"fails once" if i % 7 == 0 else "x"}"}}]\', '
        "4, '{}', 0, 3)"
        for i in range(n)
    )
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute(
            "insert into int_requests_pending (request_key, stage, model, mode, repetition, "
            "prompt_key, prefix_group, messages, n_options, sampling, n_attempts, max_attempts) "
            f"values {rows}"
        )


# ------------------------------------------------------------------------ the real engine


@pytest.mark.engine
def test_generate_with_vllm_fills_the_store(plan, tiny_engine, monkeypatch):
    monkeypatch.setitem(engines._FACTORIES, "vllm", lambda spec, options: Unclosed(tiny_engine))
    plan.add_model("tiny")
    for i in range(5):
        plan.add(f"k{i}")
    plan.add("k5", mode="logprobs")
    plan.add("k6", mode="free", messages=say("insulin " * 600), max_attempts=2)
    plan.add("k7", mode="free_choice")
    plan.add("k8", mode="cloze", options=["gout", "asthma", "heart failure", "anemia"])
    outcome = run(plan, engine=None)
    assert (outcome.succeeded, outcome.failed) == (8, 1)
    assert outcome.errors == {"too_long": 1}
    rows = plan.stored()
    assert {row["text"] for row in rows if row["error"] is None} <= set("ABCD")
    for row in [*rows[:6], *rows[7:]]:
        assert list(json.loads(row["option_logprobs"])) == list("ABCD")
    assert all(row["prompt_tokens"] > 5 for row in rows)
    by_mode = {row["mode"]: row for row in runs_of(plan)}
    assert {mode: row["n_asked"] for mode, row in by_mode.items()} == {
        **{"choice": 5, "cloze": 1, "free": 1, "free_choice": 1, "logprobs": 1},
    }
    assert by_mode["choice"]["vllm_version"] == tiny_engine.version
    assert by_mode["choice"]["torch_version"] and by_mode["choice"]["transformers_version"]
    assert all(row["wall_ms"] > 0 for mode, row in by_mode.items() if mode != "free")
    assert by_mode["free"]["wall_ms"] == 0  # its prompt did not fit
    assert by_mode["choice"]["device"].endswith("threads") or vllm_offline.has_gpu()
    assert json.loads(by_mode["choice"]["parameters"])["max_model_len"] == 512
    store = f"{plan.store}/answers/**/*.parquet"
    with duckdb.connect() as connection:
        read = connection.execute(
            "select count(*) from read_parquet('" + store + "') "
            "where cast(json_extract(option_logprobs, '$.A') as double) < 0"
        ).fetchall()
    assert read == [(8,)]


class Unclosed:
    """The session's engine, which outlives one call of generate."""

    def __init__(self, engine):
        self.engine = engine
        self.name, self.version, self.details = engine.name, engine.version, engine.details
        self.window, self.default_batch = engine.window, engine.default_batch
        self.stream = engine.stream

    def close(self):
        pass
