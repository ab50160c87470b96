"""Text of patients stays on this machine, and nothing is asked of another one.

Endpoints, proxies, redirects; the class of the data; what libraries report home; imports and whole
builds without a network.
"""

import ast
import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import duckdb
import pytest
import yaml
from conftest import ROOT, Plan, environment, watched
from test_generate import patients

from ehrbench import generate, offline, paths
from ehrbench.engines import ModelSpec, Request, complete
from ehrbench.engines.openai_server import OpenAIEngine
from ehrbench.errors import EhrbenchError, EngineUnavailable

PACKAGE = ROOT / "python" / "ehrbench"
NETWORK_MODULES = {
    *("aiohttp", "asyncio", "ftplib", "http", "httpx", "requests", "smtplib", "socket"),
    *("socketserver", "ssl", "urllib", "urllib3", "webbrowser", "websockets", "xmlrpc"),
}


@contextmanager
def listener(answer=None):
    """A server on this machine that writes down the first line and the body of all that it is sent."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def take(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.append(f"{self.requestline} {body.decode()}")
            code, headers, reply = (answer or silent)(self.path, body)
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        do_GET = do_POST = do_CONNECT = take

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


def silent(path, body):
    return 502, {}, b""


def answering(path, body):
    """What a server of the model m says."""
    if path.endswith("/models"):
        return 200, {}, json.dumps({"data": [{"id": "m"}]}).encode()
    said = {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}
    return 200, {}, json.dumps(said).encode()


def sent_on(to, path, body):
    """A server that lists its model and sends every prompt on to another machine."""
    return answering(path, body) if path.endswith("/models") else (307, {"Location": to}, b"")


ASKED = Request("k", "answers", "free", [{"role": "user", "content": "a prompt"}])


def engine(endpoint):
    return OpenAIEngine(ModelSpec("m"), endpoint, backoff_s=0, sleep=lambda seconds: None)


# ----------------------------------------------------------------------------------- endpoints


def imported(file):
    """First parts of the modules that a file imports, but for parts that parse text alone."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module)
    return {name.split(".")[0] for name in found - {"urllib.parse", "http.client", "html.parser"}}


def test_two_modules_speak_http():
    """`fetch` sends addresses of open files, the engine prompts: it is behind the guard."""
    speaking = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if imported(file) & NETWORK_MODULES
    }
    assert speaking == {"engines/openai_server.py", "fetch.py"}


def test_no_sql_reads_from_an_address():
    """DuckDB would fetch its extension httpfs, and with it whatever a path names."""
    named = [
        str(file)
        for folder in ("models", "macros", "python/ehrbench", "tests", "analyses")
        for file in (ROOT / folder).rglob("*.sql")
        if "://" in file.read_text(encoding="utf-8") or "httpfs" in file.read_text(encoding="utf-8")
    ]
    assert named == []


def test_dbt_fetches_no_extension():
    """A folder that is an address needs one; what profiles.yml sets leaves it where it is."""
    outputs = yaml.safe_load((ROOT / "profiles.yml").read_text("utf-8"))["ehrbench"]["outputs"]
    ours = {name: output for name, output in outputs.items() if output["type"] == "duckdb"}
    assert set(ours) == set(paths.TARGETS)
    for output in ours.values():
        with duckdb.connect() as connection:
            connection.execute("set extension_directory = '/dev/null/none'")
            for setting, value in output["settings"].items():
                connection.execute(f"set {setting} = '{value}'")
            with pytest.raises(duckdb.Error, match='Install it first using "INSTALL httpfs"'):
                connection.execute("from read_csv('https://x.invalid/a.csv')")


# The names that programs read, alone and with words on what a proxy is not for.
PROXIES = [
    {"http_proxy": "{}"},
    {"HTTP_PROXY": "{}"},
    {"all_proxy": "{}"},
    {"ALL_PROXY": "{}"},
    {"http_proxy": "{}", "no_proxy": ""},
    {"http_proxy": "{}", "NO_PROXY": "example.com"},
    {"HTTP_PROXY": "{}", "http_proxy": "{}", "all_proxy": "{}", "ALL_PROXY": "{}", "no_proxy": "x"},
]


@pytest.fixture
def proxied(monkeypatch):
    """Sets the variables that name a proxy, all others unset."""

    def put(settings, address):
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.upper(), raising=False)
        for name, value in settings.items():
            monkeypatch.setenv(name, value.format(address))

    return put


@pytest.mark.parametrize("settings", PROXIES, ids=" ".join)
def test_a_proxy_of_the_environment_sees_no_call_to_this_machine(settings, proxied):
    with listener() as (proxy, seen), listener(answering) as (server, asked):
        proxied(settings, proxy)
        for endpoint in (server, server.replace("127.0.0.1", "localhost")):
            running = engine(endpoint)
            assert [one.text for one in complete(running, [ASKED])] == ["A"]
            running.close()
        assert seen == [] and sum("a prompt" in line for line in asked) == 2
        # What goes elsewhere does take it: the test can see.
        with pytest.raises(EngineUnavailable):
            engine("http://model.invalid/v1")
        assert any("model.invalid" in line for line in seen)


def test_a_redirect_carries_no_prompt_away():
    with listener() as (elsewhere, seen), listener(partial(sent_on, f"{elsewhere}/v1/x")) as (server, _):
        running = engine(server)
        with pytest.raises(EngineUnavailable, match="HTTP 307"):
            complete(running, [ASKED])
        assert seen == []


# ------------------------------------------------------------------------- the class of the data


def manifest_of(database, *classes, sources=()):
    """Give a database a manifest, and the classes of its sources."""
    with duckdb.connect(str(database)) as connection:
        for table, names in (("rpt_run_manifest", classes), ("int_source_data_classes", sources)):
            if names:
                connection.execute(f"create or replace table {table} (data_class varchar)")
                connection.executemany(f"insert into {table} values (?)", [[one] for one in names])


# Classes that the manifest gives, those of the sources, what is said; empty where it may be sent.
RECORDED = [
    (("synthetic",), (), ""),
    (("synthetic",), ("synthetic",), ""),
    (("demo",), ("demo",), "are demo"),
    (("credentialed",), ("credentialed",), "are credentialed"),
    (("none",), (), "are unknown"),
    ((None,), (), "are credentialed"),
    (("synthetic", "demo"), (), "are demo"),
    # A build that broke off before the manifest, on a file that held another build before.
    (("synthetic",), ("synthetic", "credentialed"), "are credentialed"),
    (("credentialed",), ("synthetic",), "are credentialed"),
    ((), ("synthetic",), "are unknown"),
    ((), (), "are unknown"),
]


@pytest.mark.parametrize(("classes", "sources", "said"), RECORDED)
def test_a_database_keeps_the_class_of_what_it_was_made_of(
    classes, sources, said, tmp_path, monkeypatch
):
    """Target synthetic, whose folder holds marked synthetic patients, or none."""
    plan = Plan(tmp_path)
    manifest_of(plan.database, *classes, sources=sources)
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(tmp_path / "synth"))
    ask = partial(generate.check_data_use, "https://api.example.com/v1", "synthetic", plan.database)
    for _ in range(2):
        if said:
            with pytest.raises(EhrbenchError, match=f"not on this machine and the data .* {said}"):
                ask(False)
            ask(True)
        else:
            ask(False)
        if not (tmp_path / "synth").exists():
            patients(tmp_path / "synth" / "raw" / "mimic_iv")
            (tmp_path / "synth" / paths.MARKER).write_text(
                '{"data_class": "synthetic", "patients": 2}'
            )


def test_demo_patients_under_the_name_of_synthetic_ones_stay(shared_dir, tmp_path, monkeypatch):
    """The folder that target synthetic reads holds the open demo, marker and all."""
    plan, raw = Plan(tmp_path), tmp_path / "synth" / "raw"
    manifest_of(plan.database, "synthetic")
    raw.mkdir(parents=True)
    (raw / "mimic_iv").symlink_to(shared_dir / "data" / "mimic-iv-demo")
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(tmp_path / "synth"))
    (tmp_path / "synth" / paths.MARKER).write_text('{"data_class": "synthetic", "patients": 7}')
    with pytest.raises(EhrbenchError, match="data of target synthetic are demo"):
        generate.check_data_use("https://x.example", "synthetic", plan.database, False)


def test_the_command_refuses_before_it_connects(tmp_path):
    """A whole command, with a proxy that would tell of any word that left."""
    plan = Plan(tmp_path)
    plan.add_model("tiny", engine="openai")
    plan.add("k1")
    manifest_of(plan.database, "demo")
    with listener() as (proxy, seen):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "ehrbench", "generate", "--target", "synthetic"),
                *("--stage", "answers", "--model", "tiny"),
                *("--endpoint", "http://127.0.0.1.nip.io:8000"),
            ],
            cwd=ROOT,
            env=watched(
                tmp_path / "attempts",
                EHRBENCH_DB=plan.database,
                EHRBENCH_COMPLETIONS_DIR=plan.store,
                EHRBENCH_SYNTH_DIR=tmp_path / "none",
                http_proxy=proxy,
            ),
            capture_output=True,
            text=True,
            check=False,
        )
        assert seen == []
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "the data of target synthetic are demo" in done.stderr and "--allow-remote" in done.stderr
    assert not (tmp_path / "attempts").exists() and plan.stored() == []


# ------------------------------------------------------------------------------- reports home

# What the libraries themselves make of the environment.
LIBRARIES = """
import importlib.util
import json
import sys

import ehrbench

found = {}
from huggingface_hub import constants
found["telemetry of huggingface_hub"] = not constants.HF_HUB_DISABLE_TELEMETRY
found["hub"] = not constants.HF_HUB_OFFLINE
from datasets import config
found["datasets"] = not config.HF_HUB_OFFLINE
# These take seconds.
engines = {name for name in sys.argv[1:] if importlib.util.find_spec(name)}
if "transformers" in engines:
    from transformers.utils.hub import is_offline_mode
    found["transformers"] = not is_offline_mode()
if "ray" in engines:
    from ray._common.usage import usage_lib
    found["ray"] = usage_lib.usage_stats_enabled()
if "vllm" in engines:
    from vllm.usage.usage_lib import is_usage_stats_enabled
    found["vllm"] = is_usage_stats_enabled()
print(json.dumps(found))
"""


def plain(**settings):
    """The environment without what the package sets."""
    made = environment(**settings)
    return {n: v for n, v in made.items() if n not in offline.SETTINGS or n in settings}


def on(*engines, **settings):
    """What libraries would report or fetch, by name, in a process that imports the package."""
    done = subprocess.run(
        [sys.executable, "-c", LIBRARIES, *engines], env=plain(**settings), capture_output=True, text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    return {name for name, is_on in found.items() if is_on}


def test_libraries_report_and_fetch_nothing_unless_the_user_says_so():
    assert on("transformers", "ray", "vllm") == set()
    said = on(HF_HUB_OFFLINE="0", HF_HUB_DISABLE_TELEMETRY="0", DO_NOT_TRACK="0")
    assert {"telemetry of huggingface_hub", "hub", "datasets"} <= said


def test_one_place_sets_what_libraries_report():
    """Makefile, CI and modules do not say it again."""
    files = [ROOT / "Makefile", ROOT / ".ci" / "run", *(ROOT / "benchmarks").glob("*.py")]
    files += [file for file in PACKAGE.rglob("*.py") if file.name != "offline.py"]
    said = {
        (str(file.relative_to(ROOT)), name)
        for file in files
        for name in offline.SETTINGS
        if f'"{name}"' in file.read_text("utf-8") or f"{name}=" in file.read_text("utf-8")
    }
    assert said == set()


def test_what_the_package_starts_inherits_it(monkeypatch):
    for name in offline.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    offline.set_defaults()
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    told = json.loads(subprocess.check_output([sys.executable, "-c", code], text=True))
    assert {n: told[n] for n in offline.SETTINGS} == {
        **offline.SETTINGS, "RAY_USAGE_STATS_ENABLED": "1",
    }


def by_hand(words, folder, attempts, **settings):
    """dbt as a user starts it on the project: nothing of the package is imported, no variable set."""
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "profiles.yml", folder)
    made = watched(attempts, EHRBENCH_DB=folder / "x.duckdb", **settings)
    return subprocess.run(
        [
            *(*words, sys.executable, "-m", "dbt.cli.main", "--no-use-colors", "debug"),
            *("--project-dir", str(ROOT), "--profiles-dir", str(folder)),
            *("--log-path", str(folder / "logs")),
        ],
        cwd=folder,
        env={n: v for n, v in made.items() if n not in offline.SETTINGS or n in settings},
        capture_output=True,
        text=True,
        check=False,
    )


def test_dbt_started_by_hand_reports_nothing(without_network, tmp_path):
    done = by_hand(without_network, tmp_path / "a", tmp_path / "none")
    assert "Connection test" in done.stdout, done.stdout[-1000:] + done.stderr[-1000:]
    assert not (tmp_path / "none").exists() and not (tmp_path / "a" / ".user.yml").exists()
    # With the user's own word it reports, and the test sees that.
    settings = {"DBT_SEND_ANONYMOUS_USAGE_STATS": "true"}
    by_hand(without_network, tmp_path / "b", tmp_path / "some", **settings)
    assert "socket.getaddrinfo" in (tmp_path / "some").read_text()


# ------------------------------------------------------------------------- without a network


def test_the_build_ran_without_a_network(synthetic_build, without_network):
    """The build of this session, whole: no device, no route, and nobody tried."""
    namespace, *routes = synthetic_build.network.read_text().splitlines()
    assert namespace.startswith("net:[") and namespace != os.readlink("/proc/self/ns/net")
    assert [line for line in routes if not line.startswith("Iface")] == []
    assert not synthetic_build.attempts.exists(), synthetic_build.attempts.read_text()[:500]
    metadata = json.loads((synthetic_build.artefacts / "manifest.json").read_text())["metadata"]
    assert metadata["send_anonymous_usage_stats"] is False and metadata["user_id"] is None


IMPORTS = """
import importlib
import pkgutil

import ehrbench

names = [one.name for one in pkgutil.walk_packages(ehrbench.__path__, "ehrbench.")]
for name in names:
    if not name.endswith(".__main__"):
        importlib.import_module(name)
print(len(names))
"""


def test_every_module_is_imported_without_a_network(without_network, tmp_path):
    done = subprocess.run(
        [*without_network, sys.executable, "-c", IMPORTS],
        env=watched(tmp_path / "attempts"), capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) >= len(list(PACKAGE.rglob("*.py"))) - 10
    assert not (tmp_path / "attempts").exists()


def test_an_attempt_is_written_down(without_network, tmp_path):
    code = (
        "import contextlib, socket, urllib.request\n"
        "for one in ('http://x.invalid', 'http://192.0.2.1'):\n"
        "    with contextlib.suppress(OSError):\n"
        "        urllib.request.urlopen(one, timeout=1)\n"
        "socket.socket(socket.AF_UNIX).close()\n"
    )
    subprocess.run(
        [*without_network, sys.executable, "-c", code],
        env=plain(**{"NO_PROXY": "*", **{k: v for k, v in watched(tmp_path / "attempts").items()
                                          if k in ("NETWORK_LOG", "PYTHONPATH")}}),
        check=True,
    )
    text = (tmp_path / "attempts").read_text()
    assert "x.invalid" in text and "192.0.2.1" in text
