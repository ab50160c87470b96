"""Engine `ray`: workers read the copied list and write the shards, the driver counts."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from canned_engine import CannedEngine
from conftest import ROOT, environment
from test_engines import LABELS, SCHEMA

from ehrbench import completions, engines, generate
from ehrbench.engines import ModelSpec
from ehrbench.engines.ray_data import Job, RayEngine, Worker, rows_between
from ehrbench.errors import EhrbenchError, EngineUnavailable

HERE = Path(__file__).parent
SPEC = ModelSpec("tiny", "r1", max_model_len=512)


@pytest.fixture
def ray_ready():
    """Skip (or fail, in CI) without ray."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("no ray here: install the extra ray (make soak does)")


# --------------------------------------------------------------- a worker, without ray itself


class Broken(CannedEngine):
    """Goes down at a prompt, or breaks with its text."""

    def stream(self, requests):
        for request, completion in super().stream(requests):
            if "broken" in request.messages[0]["content"]:
                raise RuntimeError(request.messages[0]["content"])
            yield request, completion


def worker_on(plan, n, size=4, holder="7", prompts=MappingProxyType({})):
    """A worker on a list of `n` requests, and its engine."""
    plan.add_model("tiny")
    for i in range(n):
        text = f"{i:02} {prompts.get(i, '')}"
        plan.add(f"k{i:02}", messages=[{"role": "user", "content": text}])
    folder = completions.model_dir(plan.store, "answers", "tiny")
    folder.mkdir(parents=True)
    (folder / ".lock").write_text("7")
    todo = folder / ".pending.tmp"
    generate.copy_pending(plan.database, plan.store, "answers", "tiny", todo, None)
    worker, engine = Worker(Job(SPEC, None, {}, todo, folder, size, holder)), Broken()
    worker.start = lambda: engine
    return worker, engine


def tell(worker, begin, end):
    """What a worker tells of a range: its requests, and its problems."""
    told = worker(pa.table({"begin": [begin], "end": [end]})).to_pylist()
    keys = [row["request_key"] for row in told if row["request_key"]]
    return keys, [row["problem"] for row in told if row["problem"]]


def test_rows_of_a_range_are_found_across_row_groups(tmp_path):
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"n": list(range(25))}), file, row_group_size=10)
    for begin, end in ((0, 25), (0, 10), (9, 11), (10, 20), (24, 25), (3, 3), (20, 99)):
        assert [row["n"] for row in rows_between(file, begin, end)] == list(range(25))[begin:end]


def test_a_worker_stores_its_range_and_a_range_that_comes_again_is_not_asked_again(plan):
    worker, engine = worker_on(plan, 12)
    assert tell(worker, 0, 10) == ([f"k{i:02}" for i in range(10)], [])
    assert len(completions.completion_shards(plan.store)) == 3
    # As when Ray starts a killed worker anew: a shard of the range was not written yet.
    (worker.job.folder / completions.shard_name([("k08", 1), ("k09", 1)])).unlink()
    engine.asked.clear()
    keys, problems = tell(worker, 0, 10)
    assert sorted(keys) == [f"k{i:02}" for i in range(10)] and problems == []
    assert engine.asked == [("k08", 1), ("k09", 1)]
    rows = plan.stored()
    assert len(rows) == 10
    assert {(row["engine"], row["model"], row["revision"], row["text"]) for row in rows} == {
        ("ray", "tiny", "r1", "A")
    }


def test_what_an_engine_gave_before_it_went_down_is_kept(plan):
    worker, _ = worker_on(plan, 10, prompts={6: "engine down"})
    keys, problems = tell(worker, 0, 10)
    assert keys == [f"k{i:02}" for i in range(6)] == [row["request_key"] for row in plan.stored()]
    assert problems == ["the canned engine is down"]


def test_a_mistake_is_told_without_its_text(plan):
    worker, _ = worker_on(plan, 4, prompts={2: "broken: patient of 93 years"})
    keys, problems = tell(worker, 0, 4)
    assert problems == ["RuntimeError in a worker of ray"] and keys == ["k00", "k01"]


def test_a_worker_of_a_run_that_was_killed_writes_no_more(plan):
    """The lock's file has the name of the next one by then."""
    worker, _ = worker_on(plan, 4, holder="6")
    assert tell(worker, 0, 4) == ([], ["process 6 writes here no more"])
    assert plan.stored() == [] and not list(worker.job.folder.glob(".part*"))


# --------------------------------------------------------------------------------- settings


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineUnavailable, match=r"install the extra ray"):
        engines.create("ray", SPEC, {})


@pytest.mark.parametrize("given", [{"concurrency": 0}, {"concurrency": "2"}, {"gpus": -1}])
def test_a_bad_number_is_named(given, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    with pytest.raises(EhrbenchError, match=f"{next(iter(given))} is a whole number"):
        RayEngine(SPEC, engine_args=given)


def test_a_cluster_with_another_machine_gets_no_patient_data(plan, monkeypatch, tmp_path):
    class Elsewhere:
        name, version, window, default_batch, details = "ray", "", 8, 4, {}
        nodes = "http://127.0.0.1 http://192.0.2.7"
        closed = False

        def work_off(self, *_):
            raise AssertionError("asked")

        def close(self):
            type(self).closed = True

    monkeypatch.setitem(engines._FACTORIES, "ray", lambda spec, options: Elsewhere())
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(tmp_path / "none"))
    plan.add_model("tiny")
    plan.add("k1")
    run = {"target": "synthetic", "stage": "answers", "model": "tiny", "engine": "ray"}
    run |= {"database": plan.database, "store": plan.store}
    with pytest.raises(EhrbenchError, match="'http://192.0.2.7' is not on this machine"):
        generate.generate(**run)
    assert Elsewhere.closed
    with pytest.raises(AssertionError, match="asked"):
        generate.generate(**run, allow_remote=True)


# ------------------------------------------------------------------------------ ray for real


def generated(plan, engine, **settings):
    """`ehrbench generate` in a process of its own; what it said."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ehrbench", "generate", "--target", "synthetic"),
            *("--stage", "answers", "--model", "tiny", "--engine", engine, "--batch", "4"),
            *("--engine-args", json.dumps(settings.pop("engine_args", {}))),
        ],
        cwd=ROOT,
        env=environment(
            EHRBENCH_DB=plan.database, EHRBENCH_COMPLETIONS_DIR=plan.store, **settings
        ),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done


@pytest.mark.soak
@pytest.mark.engine
def test_ray_answers_as_vllm_does_in_every_mode(ray_ready, plan, tiny_model, tmp_path):
    """Every column of every row but the engine's name and the time."""
    modes = ("choice", "logprobs", "free", "json", "cloze", "free_choice")
    plan.add_model("tiny", weights=tiny_model.name)
    for i in range(60):
        mode, text = modes[i % 6], f"Question {i // 12}: A, B, C or D? {i}"
        fields = {
            "json": {"json_schema": SCHEMA, "sampling": {"temperature": 0, "max_tokens": 120}},
            "cloze": {"options": list(LABELS)},
        }.get(mode, {})
        plan.add(f"k{i:02}", mode=mode, messages=[{"role": "user", "content": text}], **fields)
    long = [{"role": "user", "content": "insulin " * 600}]
    plan.add("k60", mode="free", messages=long)
    settings = {"EHRBENCH_MODELS_DIR": tiny_model.parent}
    rows = {}
    for engine, engine_args in (("vllm", {}), ("ray", {"concurrency": 2})):
        plan.store = tmp_path / engine
        done = generated(plan, engine, engine_args=engine_args, **settings)
        assert "60 completed, 1 failed; 1 without an answer (1 x too_long)" in done.stdout
        if engine == "ray":
            # Ray says so itself.
            lines = [li for li in done.stderr.splitlines() if "RAY_BACKEND_LOG_LEVEL" not in li]
            assert lines == []
        rows[engine] = [
            {**row, "engine": None, "latency_ms": None} for row in plan.stored()
        ]
    assert len(rows["ray"]) == 61 and rows["ray"] == rows["vllm"]
    runs = [
        row
        for file in completions.shards(plan.store / completions.RUNS)
        for row in completions.read_shard(file, completions.RUN).to_pylist()
    ]
    assert {row["mode"]: row["n_asked"] for row in runs} == {
        **dict.fromkeys(modes, 10), "free": 11
    }
    assert all(row["vllm_version"] and row["device"].startswith("2 x ") for row in runs)


def canned(plan, log, n, concurrency=2, delay_ms=20):
    """The command of a run with canned workers, and what Popen wants."""
    plan.add_model("tiny")
    for i in range(n):
        plan.add(f"k{i:03}")
    command = [
        *(sys.executable, str(HERE / "canned_engine.py"), str(log), str(delay_ms), "generate"),
        *("--target", "synthetic", "--stage", "answers", "--model", "tiny", "--engine", "ray"),
        *("--batch", "4", "--engine-args", json.dumps({"concurrency": concurrency})),
    ]
    options = {
        "cwd": ROOT,
        "env": environment(EHRBENCH_DB=plan.database, EHRBENCH_COMPLETIONS_DIR=plan.store),
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
    }
    return command, options


def workers_of(process):
    """Process ids of the workers below a driver, by what Ray calls them."""
    found, parents = [], {process.pid}
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    while new := {int(pid) for pid, parent, _ in rows if int(parent) in parents} - parents:
        parents |= new
    for pid, _, arguments in rows:
        if int(pid) in parents and "MapWorker" in arguments:
            found.append(int(pid))
    return found


@pytest.mark.soak
def test_a_worker_that_is_killed_costs_nothing(ray_ready, plan, tmp_path):
    """Ray starts it anew, and what it had stored is not asked again."""
    log = tmp_path / "log"
    command, options = canned(plan, log, 200)
    killed = []

    def kill(process):
        while len(completions.completion_shards(plan.store)) < 10:
            time.sleep(0.01)
        killed.extend(workers_of(process)[:1])
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    process = subprocess.Popen(command, **options)
    killer = threading.Thread(target=kill, args=(process,))
    killer.start()
    said = process.communicate(timeout=300)[0]
    killer.join()
    assert process.returncode == 0 and "200 completed, 0 failed" in said, said
    assert len(killed) == 1
    rows = plan.stored()
    assert [row["request_key"] for row in rows] == [f"k{i:03}" for i in range(200)]
    asked = Counter(log.read_text().split("\n"))
    twice = [line for line, n in asked.items() if n > 1 and line]
    # Of a shard that was not whole.
    assert len(twice) <= 4


@pytest.mark.soak
def test_workers_that_die_again_and_again_end_the_run(ray_ready, plan, tmp_path):
    """A prompt that kills its worker, as memory that is not there would."""
    log = tmp_path / "log"
    command, options = canned(plan, log, 8)
    plan.add("k999", messages=[{"role": "user", "content": "kill the process"}])
    done = subprocess.run(command, check=False, timeout=300, **options)
    assert done.returncode == 1, done.stdout
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("error: ray lost its workers") and "asks only those" in last
