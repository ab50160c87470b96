"""The open demos come whole, checked and resumable; the server is one of this machine's."""

import functools
import io
import re
import shutil
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import duckdb
import jinja2
import pytest
import requests
import urllib3
from conftest import ROOT

from ehrbench import cli, doctor, fetch, paths
from ehrbench.cli import OPEN_DEMOS
from ehrbench.errors import EhrbenchError

PRESCRIPTIONS = "mimic-iv-demo/2.2/hosp/prescriptions.csv.gz"
LIST = "mimic-iv-demo/2.2/SHA256SUMS.txt"


class Site:
    """What a server does with each path, and what it was asked."""

    def __init__(self, files):
        self.files = files
        self.asked = []
        self.cut = {}  # path -> bytes of the file where the connection breaks, one for each time
        self.codes = {}  # path -> codes to answer with, one for each time
        self.content = {}  # path -> other bytes than the file's
        self.kinds = {}  # path -> Content-Type
        self.moved = {}  # path -> another address
        self.has_ranges = self.has_head = self.has_sizes = True

    def got(self, method="GET"):
        return [(path, part) for asked, path, part in self.asked if asked == method]


class Handler(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.answer("HEAD")

    def do_GET(self):
        self.answer("GET")

    def log_message(self, *_):
        pass

    def answer(self, method):
        site, path = self.server.site, self.path.lstrip("/")
        part = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        site.asked.append((method, path, int(part[1]) if part else None))
        if method == "HEAD" and not site.has_head:
            return self.send_error(501)
        if method == "GET" and site.codes.get(path):
            return self.send_error(site.codes[path].pop(0))
        if path in site.moved:
            self.send_response(302)
            self.send_header("Location", site.moved[path])
            return self.end_headers()
        if path not in site.files:
            return self.send_error(404)
        content = site.content.get(path) or site.files[path].read_bytes()
        start = int(part[1]) if part and site.has_ranges else 0
        if start and start >= len(content):
            return self.send_error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if site.has_sizes:
            self.send_header("Content-Length", str(len(content) - start))
        if path in site.kinds:
            self.send_header("Content-Type", site.kinds[path])
        self.end_headers()
        if method == "GET":
            cuts = site.cut.get(path)
            self.wfile.write(content[start : cuts.pop(0) if cuts else None])


@contextmanager
def serving(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.site = site
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def site(shared_dir):
    """The demos, addressed as PhysioNet addresses them."""
    files = {}
    for demo in fetch.demos().values():
        folder = shared_dir / "data" / demo.folder
        for file in folder.rglob("*"):
            name = file.relative_to(folder).as_posix()
            if demo.files_in and name != fetch.SUMS:
                name = f"{demo.files_in}/{name}"
            if file.is_file():
                files[f"{demo.path}/{name}"] = file
    return Site(files)


@pytest.fixture
def bring(site, tmp_path):
    """Fetch a demo from the server into a folder; the waits are kept, not waited for."""
    waits = []

    def make(dataset="mimic-iv-demo", sleep=waits.append):
        with serving(site) as url:
            return fetch.fetch(dataset, tmp_path / "out", url, sleep)

    make.waits = waits
    return make


def wrong(folder, demo, shared_dir):
    """Files below a folder that are not the shared ones."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != ".lock"]
    source = shared_dir / "data" / demo.folder
    assert len(files) > 6
    return [
        file.name
        for file in files
        if file.read_bytes() != (source / file.relative_to(folder)).read_bytes()
    ]


@pytest.mark.parametrize("dataset", OPEN_DEMOS)
def test_what_dbt_reads_comes_whole_and_only_once(site, bring, dataset, shared_dir, capsys):
    demo = fetch.demos()[dataset]
    folder = bring(dataset)
    assert wrong(folder, demo, shared_dir) == []
    tables = doctor.declared_sources(ROOT)[demo.source]
    found = doctor.check_folder(demo.source, tables, "full", folder)
    assert found.state == doctor.OK and not found.more
    # The tables that the source declares, and the list.
    needed = [table for table in tables if paths.matching_files(folder, table.files)]
    assert len(site.got()) == len(needed) + 1 > 5
    assert paths.site_class(demo.source, folder) == "demo"
    said = capsys.readouterr().out
    assert re.search(rf"{dataset} .*: \d+\.\d MB of \d+\.\d MB in .* \(\d+.*B/s\)", said)
    assert f"now set {paths.variable(demo.source)}={folder}" in said
    site.asked.clear()
    assert bring(dataset) == folder and site.asked == []
    assert "were there already" in capsys.readouterr().out


def test_the_command_line_fetches_and_says_when_it_is_offline(site, tmp_path, capsys):
    out = ["--out", str(tmp_path)]
    with serving(site) as url:
        cli.main(["fetch", "mimic-iii-demo", *out, "--base-url", url])
    assert (tmp_path / "mimic-iii-demo/PATIENTS.csv").is_file()
    cli.main(["fetch", "mimic-iii-demo", *out])
    said = capsys.readouterr()
    assert "were there already" in said.out and said.err == ""
    with pytest.raises(SystemExit) as stop:
        cli.main(["fetch", "mimic-iv-demo", *out, "--base-url", url])
    err = capsys.readouterr().err
    assert stop.value.code == 1 and len(err.splitlines()) == 1
    assert err.startswith("error: no connection to 127.0.0.1:")
    assert "the connection is refused; connect this machine" in err
    waits = []
    with pytest.raises(EhrbenchError, match="no connection"):
        fetch.fetch("mimic-iv-demo", tmp_path, url, waits.append)
    assert waits == [1.0]


def test_a_break_in_the_middle_of_a_file_is_gone_on_from(site, bring, shared_dir):
    site.cut[PRESCRIPTIONS] = [20_000, 30_000]
    folder = bring()
    parts = [part for path, part in site.got() if path == PRESCRIPTIONS]
    assert parts == [None, 20_000, 30_000]
    assert wrong(folder, fetch.demos()["mimic-iv-demo"], shared_dir) == []
    # Bytes came in between, so each break was a first one.
    assert bring.waits == [1.0, 1.0]


def test_another_run_goes_on_where_one_was_stopped(site, bring, shared_dir):
    def stop(_):
        raise KeyboardInterrupt

    site.cut[PRESCRIPTIONS] = [20_000]
    with pytest.raises(KeyboardInterrupt):
        bring(sleep=stop)
    site.asked.clear()
    folder = bring()
    assert (PRESCRIPTIONS, 20_000) in site.got() and (LIST, None) not in site.got()
    assert "mimic-iv-demo/2.2/hosp/patients.csv.gz" not in dict(site.got())
    assert wrong(folder, fetch.demos()["mimic-iv-demo"], shared_dir) == []


def test_a_server_that_stays_away_ends_with_one_line(site, bring):
    site.cut[PRESCRIPTIONS] = [20_000, *[0] * 9]
    with pytest.raises(EhrbenchError, match="stopped sending: .*it goes on from there"):
        bring()
    assert bring.waits == [1.0, 2.0, 4.0, 8.0]
    site.cut.clear()
    site.asked.clear()
    folder = bring()
    assert (PRESCRIPTIONS, 20_000) in site.got() and (folder / "hosp/emar.csv.gz").is_file()


def test_a_server_without_ranges_sends_from_the_beginning(site, bring, shared_dir):
    site.has_ranges = False
    site.cut[PRESCRIPTIONS] = [20_000]
    folder = bring()
    assert wrong(folder, fetch.demos()["mimic-iv-demo"], shared_dir) == []
    # One that always breaks at the same place is not asked for ever.
    shutil.rmtree(folder)
    bring.waits.clear()
    site.cut[PRESCRIPTIONS] = [20_000] * 50
    with pytest.raises(EhrbenchError, match="stopped sending"):
        bring()
    assert len(bring.waits) == 4


@pytest.mark.parametrize("has_sizes", [True, False])
def test_a_server_that_answers_no_head(site, bring, shared_dir, capsys, has_sizes, tmp_path):
    """Nor, then, says any size: a break cannot be seen but by the checksum."""
    site.has_head, site.has_sizes = False, has_sizes
    # The first question is for the size alone.
    site.cut[PRESCRIPTIONS] = [None, 20_000]
    if not has_sizes:
        with pytest.raises(EhrbenchError, match="wrong checksum"):
            bring()
        put_part(tmp_path)
        capsys.readouterr()
    folder = bring()
    assert wrong(folder, fetch.demos()["mimic-iv-demo"], shared_dir) == []
    [closing] = re.findall(r"2\.2: (\S+ .B) of (\S+ .B) in", capsys.readouterr().out)
    assert closing[0] == closing[1]
    assert ((PRESCRIPTIONS, 20_000) in site.got()) == has_sizes


def test_a_wrong_checksum_names_the_file_and_keeps_nothing(site, bring, tmp_path):
    content = site.files[PRESCRIPTIONS].read_bytes()
    site.content[PRESCRIPTIONS] = content[:-1] + bytes([content[-1] ^ 1])
    with pytest.raises(EhrbenchError, match=r"hosp/prescriptions\.csv\.gz came with a wrong che"):
        bring()
    assert not list(tmp_path.rglob("prescriptions*"))
    site.content.clear()
    assert (bring() / "hosp/prescriptions.csv.gz").is_file()


def put_part(tmp_path, n_bytes=10):
    """A part of no published file."""
    part = tmp_path / "out/mimic-iv-demo/hosp/prescriptions.csv.gz.part"
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(b"x" * n_bytes)
    return part


@pytest.mark.parametrize("n_bytes", [10, 2**22])
def test_a_part_of_another_file_is_begun_anew(bring, tmp_path, shared_dir, n_bytes, capsys):
    part = put_part(tmp_path, n_bytes)
    assert wrong(bring(), fetch.demos()["mimic-iv-demo"], shared_dir) == []
    assert not part.exists()
    # Gone on from in good faith, and then once more; or seen to be too long at once.
    all_of_it = "4.9 MB of 4.9 MB" if n_bytes == 10 else "4.3 MB of 4.3 MB"
    assert f"2.2: {all_of_it} in" in capsys.readouterr().out


def test_a_part_that_is_whole_is_not_fetched(site, bring, tmp_path, shared_dir):
    put_part(tmp_path).write_bytes(site.files[PRESCRIPTIONS].read_bytes())
    assert wrong(bring(), fetch.demos()["mimic-iv-demo"], shared_dir) == []
    assert PRESCRIPTIONS not in dict(site.got()) and len(site.got()) == 8


def test_what_else_a_server_says(site, bring):
    site.codes[PRESCRIPTIONS] = [503, 429]
    bring()
    assert bring.waits == [1.0, 2.0]
    for code, said in ((403, "is refused"), (404, "is not there")):
        site.codes["mimiciii-demo/1.4/PATIENTS.csv"] = [code]
        with pytest.raises(EhrbenchError, match=f"PATIENTS.csv {said} .*{code}.*check --base-url"):
            bring("mimic-iii-demo")
    del site.files["mimiciii-demo/1.4/PROCEDURES_ICD.csv"]
    site.asked.clear()
    with pytest.raises(EhrbenchError, match="PROCEDURES_ICD.csv is not there"):
        bring("mimic-iii-demo")
    # It was missed before anything was fetched.
    assert site.got() == []


PAGE = b"\n<!DOCTYPE html><title>Please log in</title>"


@pytest.mark.parametrize("path", [LIST, PRESCRIPTIONS])
@pytest.mark.parametrize("kind", [None, "text/html; charset=utf-8"])
def test_a_web_page_is_not_taken_for_a_file(site, bring, tmp_path, path, kind):
    """By its beginning or by what the server calls it; a part that is there stays."""
    site.content[path] = PAGE if kind is None else b"Please log in"
    site.kinds = {path: kind} if kind else {}
    part = put_part(tmp_path)
    half = site.files[PRESCRIPTIONS].read_bytes()[:20_000]
    part.write_bytes(half)
    site.has_ranges = False
    with pytest.raises(EhrbenchError, match=f"{path} is answered with a web page.*--base-url$"):
        bring()
    assert part.read_bytes() == half and not list(tmp_path.rglob("prescriptions.csv.gz"))
    assert bring.waits == [] and (tmp_path / "out/mimic-iv-demo" / fetch.SUMS).exists() == (
        path != LIST
    )


@pytest.mark.parametrize("has_sizes", [True, False])
def test_a_file_that_does_not_end_is_cut_off(site, bring, tmp_path, has_sizes):
    whole = site.files[PRESCRIPTIONS].read_bytes()
    site.has_head = site.has_sizes = has_sizes
    site.content[PRESCRIPTIONS] = whole + b"x" * 2**24
    with pytest.raises(EhrbenchError, match=r"prescriptions\.csv\.gz sends more than the 1\.8 MB"):
        bring()
    assert bring.waits == [] and not list(tmp_path.rglob("prescriptions*"))
    # The rest of an answer that was cut off is not kept either.
    put_part(tmp_path).write_bytes(whole)
    if not has_sizes:
        with pytest.raises(EhrbenchError, match="cut off and thrown away"):
            bring()
        assert not list(tmp_path.rglob("prescriptions*"))


def test_an_answer_longer_than_the_one_to_head(site, tmp_path):
    """A size that a server has told holds it to its word."""
    item = fetch.Item("x.csv", "", "", largest=2**30, size=100)
    answer = requests.Response()
    answer.url = "https://host/x.csv?signature=1"
    answer.raw = urllib3.HTTPResponse(io.BytesIO(b"1" * 300), preload_content=False)
    with pytest.raises(fetch.TooLong, match="^https://host/x.csv sends more than the 100 B"):
        list(fetch._blocks(answer, item.at_most))
    assert fetch.Item("x.csv", "", "", largest=50, size=100).at_most == 50


def test_a_list_of_checksums_has_a_limit_and_lines_of_one_form(site, bring, tmp_path):
    site.content[LIST] = b"0" * (fetch.LIST_AT_MOST + 1)
    with pytest.raises(EhrbenchError, match=r"SHA256SUMS.txt sends more than the 4\.2 MB"):
        bring()
    site.content[LIST] = f"{'0' * 64}  other.csv\n".encode()
    with pytest.raises(EhrbenchError, match="is not the list of checksums .* check --base-url"):
        bring()
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == [".lock"]
    odd = f"{'AB' * 32} *a b.csv\r\n\r\n{'cd' * 32}  hosp/c.csv \n\n"
    assert fetch._listed(odd, LIST) == {"a b.csv": "ab" * 32, "hosp/c.csv": "cd" * 32}
    for line in ("c.csv", "0" * 63 + "  c.csv", "0" * 64):
        with pytest.raises(EhrbenchError, match="SHA256SUMS.txt, line 2 is no checksum and name"):
            fetch._listed(f"\n{line}\n", LIST)


def test_a_server_that_sends_on_to_another(site, bring, tmp_path, shared_dir):
    elsewhere = Site(site.files)
    with serving(elsewhere) as url:
        host = url.removeprefix("http://")
        site.moved[PRESCRIPTIONS] = f"{url}/{PRESCRIPTIONS}"
        elsewhere.codes[PRESCRIPTIONS] = [403]
        with pytest.raises(EhrbenchError, match=f"refused .*sends on to {host}: .* answers 403"):
            bring()
        elsewhere.content[PRESCRIPTIONS] = PAGE
        with pytest.raises(EhrbenchError, match=f"^{url}/.* is answered with a web page"):
            bring()
        elsewhere.content.clear()
        elsewhere.cut[PRESCRIPTIONS] = [20_000]
        assert wrong(bring(), fetch.demos()["mimic-iv-demo"], shared_dir) == []
        assert (PRESCRIPTIONS, 20_000) in elsewhere.got()
    (tmp_path / "out/mimic-iv-demo/hosp/prescriptions.csv.gz").unlink()
    with pytest.raises(EhrbenchError, match=f"sends on to {host}: the connection is refused"):
        bring()


def test_files_of_others_are_left_alone(site, bring):
    folder = bring()
    for name, said in (("hosp/emar.csv.gz", "checksum differs"), (fetch.SUMS, "move the folder")):
        (folder / name).write_bytes(b"mine")
        with pytest.raises(EhrbenchError, match=said):
            bring()
        assert (folder / name).read_bytes() == b"mine"


def test_a_full_disk_is_said_before_it_is_full(site, bring, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, 1))
    with pytest.raises(EhrbenchError, match=r"no space left in .*: 7\d\.\d MB are needed and 1 B"):
        bring()
    assert [path for path, _ in site.got()] == [LIST]


def test_a_range_that_no_file_has_is_not_asked_for_again(site, bring):
    site.codes[PRESCRIPTIONS] = [416]
    with pytest.raises(EhrbenchError, match=r"is refused \(the server answers 416\)"):
        bring()
    assert bring.waits == []


def test_two_at_once_do_not_mix(site, bring, tmp_path):
    with fetch._lock(tmp_path / "out/mimic-iv-demo"):
        with pytest.raises(EhrbenchError, match="another ehrbench fetch writes"):
            bring()


# --------------------------------------------------------------------- where target demo looks


class Answer(Exception):
    """What a macro returns."""


@functools.cache
def macro_source_dir_template():
    text = (ROOT / "macros/source_dir.sql").read_text(encoding="utf-8")
    return jinja2.Environment().from_string(text)


def macro_source_dir(source, target, variables, root, connection):
    """What the macro says, dbt's context made by hand; its queries run in folder `root`."""

    def answer(value):
        raise Answer(value)

    def run_query(sql):
        rows = connection.execute(sql.replace("glob('", f"glob('{root}/")).fetchall()
        return type("Table", (), {"rows": rows})

    module = macro_source_dir_template().make_module({
        "env_var": lambda name, default: variables.get(name, default),
        "target": type("Target", (), {"name": target}),
        "return": answer,
        "run_query": run_query,
    })
    try:
        module.source_dir(source)
    except Answer as said:
        return str(said)
    raise AssertionError("the macro returned nothing")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project beside which there may be shared data."""
    root = tmp_path / "project"
    root.mkdir()
    shutil.copy(ROOT / "dbt_project.yml", root)
    for name in ("SHARED", *(source.upper() for source in (*paths.SHARED_LAYOUT, "pubmed"))):
        monkeypatch.delenv(f"EHRBENCH_{name}_DIR", raising=False)
    monkeypatch.setenv("EHRBENCH_PROJECT_DIR", str(root))
    return root


@pytest.mark.parametrize(
    ("variables", "has_shared", "wanted"),
    [
        ({}, True, "../shared/data/mimic-iv-demo"),
        ({}, False, "build/data/mimic-iv-demo"),
        ({"EHRBENCH_SHARED_DIR": ""}, False, "build/data/mimic-iv-demo"),
        ({"EHRBENCH_SHARED_DIR": "elsewhere"}, True, "elsewhere/data/mimic-iv-demo"),
        ({"EHRBENCH_MIMIC_IV_DIR": "mine", "EHRBENCH_SHARED_DIR": "x"}, True, "mine"),
    ],
)
def test_dbt_and_python_look_in_the_same_folders(root, monkeypatch, variables, has_shared, wanted):
    (root / "../shared/data/empty").mkdir(parents=True)
    if has_shared:
        (root / "../shared/data/empty/file.csv").write_text("x")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with duckdb.connect() as connection:
        assert macro_source_dir("mimic_iv", "demo", variables, root, connection) == wanted
        for target in paths.TARGETS:
            for source in (*paths.SHARED_LAYOUT, "pubmed", "truth"):
                said = macro_source_dir(source, target, variables, root, connection)
                looked = paths.source_dir(source, target)
                assert looked == (root / said if said else None), (source, target)


def test_target_demo_finds_what_was_fetched(root, site):
    for name in ("models/staging", "macros"):
        shutil.copytree(ROOT / name, root / name)
    with serving(site) as url:
        folders = {name: fetch.fetch(name, base_url=url) for name in OPEN_DEMOS[::2]}
    assert folders["mimic-iv-demo"] == paths.source_dir("mimic_iv", "demo")
    tables = doctor.declared_sources(root)
    [found] = doctor.check_source("mimic_iv", tables["mimic_iv"], "demo")
    assert found.state == doctor.OK and found.text.endswith("in build/data/mimic-iv-demo")
    assert folders["mimic-iv-omop-demo"] in paths.sites("omop", paths.source_dir("omop", "demo"))
    assert paths.data_class("demo") == "demo"
    for dataset, folder in folders.items():
        assert fetch.next_step(fetch.demos()[dataset], folder).startswith("target demo reads it")


def test_the_pinned_list_is_the_shared_one(shared_dir):
    assert tuple(fetch.demos()) == OPEN_DEMOS
    for demo in fetch.demos().values():
        assert paths.sha256(shared_dir / "data" / demo.folder / fetch.SUMS) == demo.sums_sha256
        assert Path(demo.folder).name == demo.folder
        folder = shared_dir / "data" / demo.folder
        sums = fetch._listed((folder / fetch.SUMS).read_text(encoding="utf-8"), fetch.SUMS)
        files = fetch._wanted(demo, sums, fetch.BASE_URL)
        sizes = [(folder / file.name).stat().st_size for file in files]
        assert max(sizes) == int(demo.largest_bytes)
