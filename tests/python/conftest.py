"""What the Python tests share: the project, the test data, one synthetic build, a tiny model."""

from __future__ import annotations

import gc
import importlib
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
sys.path.insert(0, str(ROOT / "python"))

from ehrbench.dbt import GC_RARELY, PROGRAM  # noqa: E402 (behind the path)

IN_CI = os.environ.get("CI") == "true"
COLUMNS = {
    "request_key": "varchar",
    "stage": "varchar",
    "model": "varchar",
    "mode": "varchar",
    "repetition": "integer",
    "prompt_key": "varchar",
    "prefix_group": "varchar",
    "messages": "varchar",
    "json_schema": "varchar",
    "n_options": "integer",
    "options": "varchar",
    "sampling": "varchar",
    "n_attempts": "integer",
    "max_attempts": "integer",
    "plan_rank": "integer",
}


def pytest_configure(config):
    # As for dbt: manifests and parsed SQL live to the end.
    gc.set_threshold(*GC_RARELY)
    config.addinivalue_line("markers", "engine: needs vllm")
    config.addinivalue_line("markers", "soak: long; runs with make soak only")
    config.addinivalue_line("markers", "gates: a cohort of its own; runs with make gates only")


def pytest_collection_modifyitems(config, items):
    # The synthetic build is made beside the tests that do without it, so these come first.
    items.sort(key=lambda item: "synthetic_build" in item.fixturenames)
    if config.option.markexpr:
        return
    apart = [item for item in items if {"soak", "gates"} & set(item.keywords)]
    config.hook.pytest_deselected(items=apart)
    items[:] = [item for item in items if item not in apart]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Nothing is skipped under CI=true: a missing engine or data set is a failure there."""
    report = yield
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped under CI=true: {reason}"
    return report


@pytest.fixture(scope="session")
def project_root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The shared test data (open demos and the open knowledge base)."""
    folder = Path(os.environ.get("EHRBENCH_SHARED_DIR") or ROOT / "../shared").resolve()
    if not (folder / "data").is_dir():
        pytest.skip(f"no test data in {folder}: point EHRBENCH_SHARED_DIR at them")
    return folder


def environment(**settings: object) -> dict[str, str]:
    """This environment without the project's variables, plus `settings`; the package findable."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("EHRBENCH_") or name == "EHRBENCH_SHARED_DIR"
    }
    paths = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        **{name: str(value) for name, value in settings.items()},
    }


def ehrbench(*arguments: object, **settings: object) -> subprocess.CompletedProcess:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "ehrbench", *map(str, arguments)],
        cwd=ROOT,
        env=environment(**settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )


# ------------------------------------------------------------------------------ the network


@cache
def no_network() -> tuple[str, ...]:
    """What to put before a command so that it runs in a network namespace of its own, in which no
    device is up and there is no route; empty where this machine makes none."""
    words = ("unshare", "--map-root-user", "--net")
    try:
        made = subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        made = False
    return words if made else ()


@pytest.fixture(scope="session")
def without_network() -> tuple[str, ...]:
    """See no_network; skips (fails, in CI) where there is no such namespace."""
    if not no_network():
        pytest.skip("unshare makes no network namespace here: allow user namespaces")
    return no_network()


def watched(file: Path, **settings: object) -> dict[str, str]:
    """An environment in which Python writes each attempt to reach a machine into a file."""
    made = environment(NETWORK_LOG=file, **settings)
    folder = Path(__file__).parent / "network_log"
    return {**made, "PYTHONPATH": os.pathsep.join([str(folder), made["PYTHONPATH"]])}


# ---------------------------------------------------------------------------- dbt artefacts


def dbt(*arguments: object, target_path: Path, **settings: object) -> subprocess.CompletedProcess:
    """Run dbt with artefacts of its own and no log file, which would cost a tenth of its time."""
    return subprocess.run(
        [
            *(sys.executable, *PROGRAM, "--no-use-colors", *map(str, arguments)),
            *("--project-dir", str(ROOT), "--profiles-dir", str(ROOT)),
            *("--target-path", str(target_path), "--log-path", str(target_path / "logs")),
            *("--partial-parse", "--log-level-file", "none"),
        ],
        cwd=ROOT,
        env=environment(**settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )


@dataclass(frozen=True)
class Project:
    """dbt on one target with the same artefacts and database path each time.

    dbt parses the whole project anew when its target, its vars or a variable of profiles.yml
    changes; the folders of the sources may differ from call to call.
    """

    folder: Path
    target: str
    variables: str = "{}"

    def run(self, *arguments: object, keep: Path | None = None, **settings: object):
        """Run dbt on an empty database, which then moves to the folder `keep` under its name."""
        database, nothing = self.folder / "empty.duckdb", self.folder / "none"
        database.unlink(missing_ok=True)
        done = dbt(
            *(*arguments, "--target", self.target, "--vars", self.variables),
            target_path=self.folder / "target",
            **{
                "EHRBENCH_DB": database,
                "EHRBENCH_SYNTH_DIR": nothing,
                "EHRBENCH_COMPLETIONS_DIR": nothing,
                **settings,
            },
        )
        if keep:
            database.replace(keep / database.name)
        return done

    def build(self, keep: Path, *arguments: object, **settings: object):
        """A query function over what dbt makes of the folders in `settings`."""
        done = self.run(*arguments, keep=keep, **settings)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]

        def rows(sql: str) -> list[tuple]:
            with duckdb.connect(str(keep / "empty.duckdb"), read_only=True) as connection:
                return connection.execute(sql).fetchall()

        return rows

    def artefact(self, name: str) -> dict:
        """An artefact of the last call."""
        return json.loads((self.folder / "target" / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def full_project(tmp_path_factory) -> Project:
    return Project(tmp_path_factory.mktemp("full_project"), "full")


@pytest.fixture(scope="session")
def synthetic_project(tmp_path_factory) -> Project:
    """With the generator of tests, so that its SQL is looked at like any other."""
    return Project(tmp_path_factory.mktemp("synthetic_project"), "synthetic", "{all_pairs: true}")


@pytest.fixture(scope="session")
def plain_project(tmp_path_factory) -> Project:
    """Synthetic data as a user builds them; for builds whose artefacts nobody reads."""
    return Project(tmp_path_factory.mktemp("plain_project"), "synthetic")


@pytest.fixture(scope="session")
def manifest(synthetic_project) -> dict:
    """dbt's manifest without building anything; no SQL of unit tests or of models' generic ones."""
    done = synthetic_project.run(
        "compile", "--exclude", "test_type:unit", "test_type:generic,path:models"
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return synthetic_project.artefact("manifest.json")


@pytest.fixture(scope="session")
def compiled(manifest) -> dict[str, str]:
    """Name -> compiled SQL of every model but those in Python."""
    return {
        node["name"]: node["compiled_code"]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node["language"] == "sql"
    }


@pytest.fixture(scope="session")
def unqualified(manifest) -> dict[str, str]:
    """Name -> SQL of what `manifest` compiles, its tables named without a schema."""
    return {
        node["name"]: re.sub(r'"[^"]+"\."main"\.', "", node["compiled_code"])
        for node in manifest["nodes"].values()
        if node.get("language") == "sql" and node.get("compiled_code")
    }


def rows_on(tables: dict[str, tuple[str, list]], sql: str, change: str | None = None) -> int:
    """Rows that a query finds on tables (name -> columns and rows), after a change to them."""
    with duckdb.connect() as connection:
        for table, (columns, rows) in tables.items():
            connection.execute(f"create table {table} ({columns})")
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"insert into {table} values ({marks})", rows)
        if change:
            connection.execute(change)
        return len(connection.execute(sql).fetchall())


@dataclass(frozen=True)
class Build:
    """A finished build: its database, store, raw files and dbt artefacts.

    `said` holds what it printed, `network` its network namespace and the routes there, `attempts`
    the attempts to reach another machine (no file: none).
    """

    database: Path
    store: Path
    synth: Path
    artefacts: Path
    said: Path
    network: Path
    attempts: Path

    def rows(self, sql: str) -> list[tuple]:
        """Rows of a query on the built database."""
        with duckdb.connect(str(self.database), read_only=True) as connection:
            return connection.execute(sql).fetchall()


@pytest.fixture(scope="session", autouse=True)
def synthetic_begun(request, tmp_path_factory):
    """The synthetic build and the process that makes it, begun before the first test; or None."""
    if not any("synthetic_build" in item.fixturenames for item in request.session.items):
        yield None
        return
    folder = tmp_path_factory.mktemp("synthetic")
    made = Build(
        database=folder / "synthetic.duckdb",
        store=folder / "completions",
        synth=folder / "synth",
        artefacts=folder / "synthetic" / "dbt",
        said=folder / "said.log",
        network=folder / "network.txt",
        attempts=folder / "attempts.txt",
    )
    tell = 'readlink /proc/self/ns/net > "$0"; cat /proc/net/route >> "$0"; exec "$@"'
    with made.said.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            [
                *(*no_network(), "sh", "-c", tell, str(made.network)),
                *(sys.executable, "-m", "ehrbench", "run", "--target", "synthetic", "--no-generate"),
            ],
            cwd=ROOT,
            env=watched(
                made.attempts,
                EHRBENCH_DB=made.database,
                EHRBENCH_COMPLETIONS_DIR=made.store,
                EHRBENCH_SYNTH_DIR=made.synth,
            ),
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        yield made, process
        # An interrupt, so that it ends dbt as well.
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


@pytest.fixture(scope="session")
def synthetic_build(synthetic_begun) -> Build:
    """One fresh synthetic cohort, built once with the recorded completions."""
    made, process = synthetic_begun
    code = process.wait(timeout=1200)
    assert code == 0, made.said.read_text(encoding="utf-8")[-3000:]
    return made


@pytest.fixture(scope="module")
def load():
    """A benchmark as a module, as its own script finds it."""
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCHMARKS)):
            del sys.modules[name]


# ------------------------------------------------------------------------- planned requests


class Plan:
    """A DuckDB file with hand-made pending requests, and an empty store."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.database = folder / "plan.duckdb"
        self.store = folder / "completions"
        with duckdb.connect(str(self.database)) as connection:
            columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
            connection.execute(f"create table int_requests_pending ({columns})")
            connection.execute(
                "create table models (model varchar, revision varchar, engine varchar, "
                "endpoint varchar, weights varchar, chat_template varchar, thinking boolean, "
                "sampling varchar, max_model_len integer, dtype varchar)"
            )

    def add_model(self, model: str, engine: str = "vllm", **fields: object) -> None:
        """Register a model."""
        row = {"model": model, "revision": "r1", "engine": engine, "max_model_len": 512, **fields}
        self._insert("models", row)

    def add(self, key: str, **fields: object) -> None:
        """Plan one request; texts that are lists or objects become JSON."""
        row = {
            "request_key": key,
            "stage": "answers",
            "model": "tiny",
            "mode": "choice",
            "repetition": 1,
            "prompt_key": f"p{key}",
            "prefix_group": "g",
            "messages": [{"role": "user", "content": f"Question {key}: A, B, C or D?"}],
            "n_options": 4,
            "sampling": {"temperature": 0, "max_tokens": 24},
            "n_attempts": 0,
            "max_attempts": 2,
            **fields,
        }
        for name in ("messages", "sampling", "json_schema", "options"):
            if isinstance(row.get(name), list | dict):
                row[name] = json.dumps(row[name])
        self._insert("int_requests_pending", row)

    def _insert(self, table: str, row: dict) -> None:
        with duckdb.connect(str(self.database)) as connection:
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            connection.execute(
                f"insert into {table} ({names}) values ({marks})", list(row.values())
            )

    def stored(self) -> list[dict]:
        """All rows of the store, in key order."""
        from ehrbench import completions

        rows = [
            row
            for shard in completions.completion_shards(self.store)
            for row in completions.read_shard(shard).to_pylist()
        ]
        return sorted(rows, key=lambda row: (row["request_key"], row["attempt"]))


@pytest.fixture
def plan(tmp_path) -> Plan:
    return Plan(tmp_path)


# ------------------------------------------------------------------------------- the engine


@pytest.fixture(scope="session")
def vllm_ready() -> None:
    """Skip (or fail, in CI) without a usable vllm."""
    from ehrbench.engines import vllm_offline

    state, line = vllm_offline.problem()
    if state != "ok":
        pytest.skip(line)


@pytest.fixture(scope="session")
def tiny_model(vllm_ready, tmp_path_factory) -> Path:
    """Weights folder of a random Llama, made on the spot."""
    from tiny_model import make_tiny_model

    return make_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def tiny_spec():
    from ehrbench.engines import ModelSpec

    return ModelSpec(model="tiny", revision="r1", max_model_len=512)


@pytest.fixture(scope="session")
def tiny_engine(tiny_model, tiny_spec):
    """The one offline engine of a test session."""
    from ehrbench.engines.vllm_offline import VllmEngine

    engine = VllmEngine(tiny_spec, weights=tiny_model)
    yield engine
    engine.close()
