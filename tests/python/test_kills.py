"""SIGKILL at any moment: what was whole stays whole, and the next call ends as if nothing had been.

Moments are drawn around what a command does to files: right before it opens, renames or removes
one, or anywhere between two of these (see kill_server.py). A few kills run with every test run,
many in `make soak`, where the processes of dbt and of the engine are killed as well.
"""

import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
import test_audit_sheets
import test_builds
import test_convert_drugbank
import test_convert_pubmed
import test_fetch
import test_generate
import test_ray
from conftest import ROOT, Plan, environment
from test_fetch import site  # noqa: F401 (a fixture)
from test_ray import ray_ready  # noqa: F401 (a fixture)

from ehrbench import completions, dbt, folders, recorded, synth
from ehrbench.audit import ratings, sample
from ehrbench.convert import drugbank
from ehrbench.errors import EhrbenchError

HERE = Path(__file__).parent
SEED = 20260530
# Kills of a soak run, by what is killed.
KILLS = {
    **{"generate": 100, "semmeddb": 20, "drugbank": 20, "pubmed": 20, "synth": 10, "scale": 20},
    **{"compact": 40, "install": 20, "record": 10, "export": 10, "report": 10, "fetch": 10},
    **{"audit": 10, "dbt": 6, "vllm": 5, "ray": 5},
}
N_SOAK = 1200


# ------------------------------------------------------------------------------- the harness


@dataclass
class Killer:
    """Runs code in processes of their own and kills them; `fell` counts where."""

    folder: Path
    server: subprocess.Popen
    draw: random.Random = field(default_factory=lambda: random.Random(SEED))
    fell: Counter = field(default_factory=Counter)

    def run(
        self, code: str, watch: Path, at: int = 0, delay_s: float = 0.0, **settings: object
    ) -> tuple[int, list[tuple[float, str]], str]:
        """(exit status, events with their times, output) of a process; -9 when it was killed."""
        log, said = self.folder / "events", self.folder / "said"
        log.unlink(missing_ok=True)
        job = {"code": code, "watch": [str(watch)], "at": at, "delay_s": delay_s}
        job |= {"log": str(log), "said": str(said)}
        job["settings"] = {name: str(value) for name, value in settings.items()}
        self.server.stdin.write(json.dumps(job) + "\n")
        self.server.stdin.flush()
        answer = json.loads(self.server.stdout.readline())
        events = []
        for line in log.read_text(encoding="utf-8").splitlines():
            when, name, file = line.split("\t")
            events.append((float(when), f"{name.removeprefix('os.')} {general(file)}"))
        return answer["code"], events, said.read_text(encoding="utf-8")

    def kill_once(self, code: str, watch: Path, events: list, **settings: object) -> bool:
        """Kill a process like the one that had `events`, at a drawn moment; whether it was hit.

        First a kind of event is drawn, so that a swap of folders counts as much as a thousand files
        written before it. Half of the moments are events, half lie between one and the next.
        """
        kind = self.draw.choice(sorted({what for _, what in events}))
        at = self.draw.choice([n for n, (_, what) in enumerate(events) if what == kind])
        beyond = events[at + 1][0] if at + 1 < len(events) else events[at][0]
        delay_s = self.draw.choice([0, self.draw.random() * (beyond - events[at][0])])
        status, found, said = self.run(code, watch, at + 1, delay_s, **settings)
        assert status in (0, -signal.SIGKILL), said
        if status:
            self.fell[("after " if delay_s else "at ") + found[-1][1]] += 1
        return status != 0


def general(file: str) -> str:
    """A file's name with what differs from case to case taken out."""
    return re.sub(r"[0-9a-f]{8,}|\d+", "N", file)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The process that forks."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / "kill_server.py")],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process
    process.stdin.close()
    process.wait(timeout=30)


@pytest.fixture
def killer(server, tmp_path, request):
    made = Killer(tmp_path, server)
    yield made
    print(f"\n{request.node.name}: {made.fell.total()} kills")
    for place, n in made.fell.most_common():
        print(f"  {n} {place}")


def contents(folder: Path) -> dict[str, bytes]:
    """Path below a folder -> bytes, of every file whatever its name.

    A lock says who was cut off until the next writer takes it: that it is there counts.
    """
    return {
        file.relative_to(folder).as_posix(): b"" if file.name == completions.LOCK else file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def leftovers(folder: Path) -> list[str]:
    """Names below a folder that no finished call leaves."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob(".*")
        if path.name != completions.LOCK
    )


def kill_and_finish(
    killer: Killer, kills: int, code: str, prepare, check, compared=contents, **settings: object
) -> None:
    """Kill a command on fresh folders again and again; each time it then ends as undisturbed.

    `prepare(folder)` puts into an empty folder what is there before; `check(folder, whole)` looks
    at a folder after a kill, `whole` being what `compared` gives after an undisturbed call.
    """
    folder = killer.folder / "work"

    def fresh() -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        prepare(folder)
        return folder

    status, events, said = killer.run(code, fresh(), **settings)
    assert status == 0, said
    whole = compared(folder)
    assert not leftovers(folder)
    hits = 0
    while hits < kills:
        fresh()
        # A call that mends is killed as well, now and then.
        for _ in range(killer.draw.choice([1, 1, 2, 3])):
            hits += killer.kill_once(code, folder, events, **settings)
            check(folder, whole)
        status, _, said = killer.run(code, folder, **settings)
        assert status == 0, said
        found = compared(folder)
        assert found.keys() == whole.keys(), (killer.fell, sorted(found.keys() ^ whole.keys()))
        assert [name for name in whole if found[name] != whole[name]] == [], killer.fell
        assert not leftovers(folder)


def parquet_opens(folder: Path) -> None:
    """Whatever has the name of a Parquet file is one."""
    for file in folder.rglob("*.parquet"):
        if not file.name.startswith("."):
            pq.read_metadata(file)


# ---------------------------------------------------------------------------------- generate

GENERATE = """
from ehrbench import cli
cli.main(["generate", "--target", "synthetic", "--stage", "answers", "--model", "tiny",
          "--engine", "canned", "--batch", "3"])
"""


def key_of(row: dict) -> tuple[str, int]:
    return row["request_key"], row["attempt"]


def check_store(plan: Plan, before: list[dict]) -> list[dict]:
    """Rows of a store in which a writer was killed: all earlier ones, each once, no half shard."""
    rows = plan.stored()
    keys = [key_of(row) for row in rows]
    assert len(set(keys)) == len(keys)
    now = {key_of(row): row for row in rows}
    assert [row for row in before if now.get(key_of(row)) != row] == []
    for file in completions.shards(plan.store / completions.RUNS):
        assert completions.read_shard(file, completions.RUN).num_rows > 0
    # What dbt reads: everything of that name, wherever it lies.
    if rows:
        sql = f"select count(*) from read_parquet('{plan.store}/answers/**/*.parquet')"
        assert duckdb.sql(sql).fetchall() == [(len(rows),)]
    return rows


def kill_generate(killer: Killer, plan: Plan, n: int, kills: int) -> int:
    """Kill generate until it has answered `n` requests; returns the number of kills."""
    test_generate.planned(plan, n)
    log = killer.folder / "log"
    settings = {
        "EHRBENCH_DB": plan.database,
        "EHRBENCH_COMPLETIONS_DIR": plan.store,
        "CANNED_LOG": log,
    }
    # Events of a shard; a kill falls within the next few shards.
    spread = min(60, 8 * n // (3 * kills))
    rows: list[dict] = []
    hits = 0
    while hits < kills:
        at = killer.draw.randint(1, spread)
        delay_s = killer.draw.choice([0, killer.draw.random() * 0.008])
        held = plan.store / "answers" / "tiny" / ".lock"
        stale = held.read_text() if held.exists() else ""
        status, events, said = killer.run(GENERATE, plan.store, at, delay_s, **settings)
        if status == 0:
            break
        assert status == -signal.SIGKILL, said
        assert ("was cut off at answers of tiny" in said) == bool(stale) or at < 6, (stale, said)
        hits += 1
        killer.fell[("after " if delay_s else "at ") + events[-1][1]] += 1
        rows = check_store(plan, rows)
    status, _, said = killer.run(GENERATE, plan.store, **settings)
    assert status == 0, said
    rows = check_store(plan, rows)
    good = Counter(row["request_key"] for row in rows if row["error"] is None)
    assert good == {f"k{i:04}": 1 for i in range(n)}
    failed = Counter(row["request_key"] for row in rows if row["error"] is not None)
    assert failed == {f"k{i:04}": 1 for i in range(0, n, 7)}
    assert not leftovers(plan.store)
    # A kill costs at most the batch it fell into, and no manifest has what it cost.
    asked = len(log.read_text().splitlines())
    assert asked <= len(rows) + 3 * hits
    counted = sum(row["n_asked"] for row in test_generate.runs_of(plan))
    assert 0 <= len(rows) - counted <= 3 * hits
    return hits


def test_generate_is_killed(plan, killer):
    assert kill_generate(killer, plan, 40, 4) >= 3


@pytest.mark.soak
def test_generate_is_killed_a_hundred_times(plan, killer):
    assert kill_generate(killer, plan, N_SOAK, KILLS["generate"]) == KILLS["generate"]


def test_a_killed_writer_is_told_of_and_one_that_ended_is_not(tmp_path, capsys):
    with completions.lock(tmp_path, "answers", "m") as folder:
        held = (folder / ".lock").read_text()
    with completions.lock(tmp_path, "answers", "m"):
        pass
    assert capsys.readouterr().out == ""
    (folder / ".lock").write_text(held)  # as a killed one leaves it
    with completions.lock(tmp_path, "answers", "m"):
        pass
    said = f"process {os.getpid()} was cut off at answers of m: what it stored is kept\n"
    assert capsys.readouterr().out == said


# ----------------------------------------------------------------------------------- convert

CONVERT_SEMMEDDB = """
from pathlib import Path
from ehrbench.convert.semmeddb import convert_semmeddb
convert_semmeddb(Path({dumps!r}), Path({out!r}), ["SENTENCE", "CITATIONS", "GENERIC_CONCEPT"],
                 part_rows=150, group_rows=50)
"""


def dumps(folder: Path, n_lines: int) -> Path:
    """Three tables: one with a torn character half way, one sound, one without a line."""
    folder.mkdir()
    lines = [
        b'%d,"11","ab",1,0,"Sentence %d, \xc3\xa9.",9,"",""\n' % (n, n) for n in range(n_lines)
    ]
    lines[n_lines // 2] = b'1,"11","ab",1,0,"Torn \xce and whole \xce\xb1.",9,"",""\n'
    for table, content in (
        ("SENTENCE", b"".join(lines)),
        ("CITATIONS", b'"11","0000-0000","1998 Jan","null",1998\n' * 400),
        ("GENERIC_CONCEPT", b""),
    ):
        file = folder / f"semmedVER43_2024_R_{table}.csv.gz"
        file.write_bytes(gzip.compress(content, mtime=0))
    return folder


def check_semmeddb(folder: Path, whole: dict[str, bytes]) -> None:
    """A table's folder is there when it is whole; parts of another are each whole."""
    parquet_opens(folder)
    found = contents(folder)
    for table in ("SENTENCE", "CITATIONS", "GENERIC_CONCEPT"):
        if (folder / table).exists():
            assert {k: v for k, v in found.items() if k.startswith(f"{table}/")} == {
                k: v for k, v in whole.items() if k.startswith(f"{table}/")
            }


def kill_semmeddb(killer: Killer, kills: int, n_lines: int) -> None:
    code = CONVERT_SEMMEDDB.format(
        dumps=str(dumps(killer.folder / "dumps", n_lines)), out=str(killer.folder / "work")
    )
    kill_and_finish(killer, kills, code, lambda folder: None, check_semmeddb)


def test_convert_semmeddb_is_killed(killer):
    kill_semmeddb(killer, 1, 500)


@pytest.mark.soak
def test_convert_semmeddb_is_killed_many_times(killer):
    kill_semmeddb(killer, KILLS["semmeddb"], 2000)


CONVERT_DRUGBANK = """
from pathlib import Path
from ehrbench.convert.drugbank import convert_drugbank
convert_drugbank(Path({file!r}), Path({out!r}))
"""


def kill_drugbank(killer: Killer, kills: int) -> None:
    """A second release is converted over the first: tables of both are never one conversion."""
    text = test_convert_drugbank.DATABASE
    files = [killer.folder / "old.xml", killer.folder / "new.xml"]
    files[0].write_text(text, encoding="utf-8")
    for old, new in (("Beta", "Delta"), ("Alph", "Omeg"), ("X01AB02", "X01AB03"), (">123<", ">9<")):
        text = text.replace(old, new)
    files[1].write_text(text, encoding="utf-8")
    earlier = killer.folder / "earlier"
    drugbank.convert_drugbank(files[0], earlier)
    before = contents(earlier)

    def check(folder, whole):
        parquet_opens(folder)
        found = {k: v for k, v in contents(folder).items() if not k.startswith(".")}
        assert all(before[name] != whole[name] for name in whole)
        if "drugs.parquet" in found:
            assert found in (before, whole)

    code = CONVERT_DRUGBANK.format(file=str(files[1]), out=str(killer.folder / "work"))
    kill_and_finish(
        *(killer, kills, code),
        lambda folder: shutil.copytree(earlier, folder, dirs_exist_ok=True),
        check,
    )


@pytest.mark.soak
def test_convert_drugbank_is_killed_many_times(killer):
    kill_drugbank(killer, KILLS["drugbank"])


CONVERT_PUBMED = """
from pathlib import Path
from ehrbench.convert.pubmed import convert_pubmed
convert_pubmed([Path(file) for file in {files!r}], Path({out!r}))
"""


def kill_pubmed(killer: Killer, kills: int) -> None:
    files = []
    for number, body in enumerate(("BASELINE", "UPDATE", "LATER")):
        file = killer.folder / f"pubmed24n{number:04}.xml.gz"
        text = f"{test_convert_pubmed.HEAD}{getattr(test_convert_pubmed, body)}</PubmedArticleSet>"
        file.write_bytes(gzip.compress(text.encode(), mtime=0))
        files.append(str(file))

    def check(folder, whole):
        parquet_opens(folder)
        if (folder / "articles.parquet").exists():
            assert (folder / "articles.parquet").read_bytes() == whole["articles.parquet"]

    code = CONVERT_PUBMED.format(files=files, out=str(killer.folder / "work"))
    kill_and_finish(killer, kills, code, lambda folder: None, check)


@pytest.mark.soak
def test_convert_pubmed_is_killed_many_times(killer):
    kill_pubmed(killer, KILLS["pubmed"])


# --------------------------------------------------------------------------------- the store

COMPACT = """
from pathlib import Path
from ehrbench.completions import compact
compact(Path({store!r}), "answers", "tiny")
"""


def rows_of(store: Path) -> list[dict]:
    """Distinct rows of the completions of a store."""
    found = {
        key_of(row): row
        for shard in completions.completion_shards(store)
        for row in completions.read_shard(shard).to_pylist()
    }
    return [found[key] for key in sorted(found)]


def completion(key: str) -> dict:
    return {
        **{"request_key": key, "attempt": 1, "stage": "answers", "model": "tiny"},
        **{"text": "A", "finish_reason": "stop"},
    }


def kill_compact(killer: Killer, kills: int) -> None:
    """The merged shard and those it replaces hold the same rows, whichever of them are there."""

    def prepare(store):
        folder = completions.model_dir(store, "answers", "tiny")
        for n in range(8):
            completions.write_shard(folder, [completion(f"k{n}{m}") for m in range(3)])

    def check(store, whole):
        found = rows_of(store)
        assert len(found) == 24 and {row["text"] for row in found} == {"A"}

    def compared(store):
        # The shard itself says what it replaced, which is less after a kill.
        return {
            str(shard.relative_to(store)): completions.read_shard(shard).to_pylist()
            for shard in completions.shards(store)
        }

    code = COMPACT.format(store=str(killer.folder / "work"))
    kill_and_finish(killer, kills, code, prepare, check, compared)


@pytest.mark.soak
def test_compact_is_killed_many_times(killer):
    kill_compact(killer, KILLS["compact"])


def test_a_shard_made_anew_outlives_a_compaction_that_replaced_its_name(tmp_path):
    """The same pairs are scored again, with BERTScore: their shard has the name of the first."""
    kind = completions.TEXT_SCORE

    def score(key, bertscore):
        row = {"pair_key": key, "model": "m", "revision": "r1", "rouge_1": 0.5, "rouge_l": 0.5}
        return {**row, "bertscore": bertscore}

    folder = completions.model_dir(tmp_path, "text_scores", "m")
    first = completions.write_shard(folder, [score("p1", None), score("p2", None)], kind)
    completions.write_shard(folder, [score("p3", None)], kind)
    completions.compact(tmp_path, "text_scores", "m")
    assert not first.exists()
    again = completions.write_shard(folder, [score("p1", 0.8), score("p2", 0.9)], kind)
    assert again == first
    with completions.lock(tmp_path, "text_scores", "m"):
        pass
    assert again.exists()
    # And of a pair that was scored twice the row with a BERTScore stays.
    assert completions.compact(tmp_path, "text_scores", "m") == (2, 3)
    (merged,) = completions.shards(folder)
    rows = completions.read_shard(merged, kind).to_pylist()
    assert {row["pair_key"]: row["bertscore"] for row in rows} == {"p1": 0.8, "p2": 0.9, "p3": None}


INSTALL = """
from pathlib import Path
from ehrbench import completions, recorded
completions.check_store(Path({store!r}))
completions.ensure_store(Path({store!r}))
recorded.install(Path({store!r}))
"""


def kill_install(killer: Killer, kills: int) -> None:
    """The recorded completions go in all together or not at all, as ehrbench run copies them."""
    code = INSTALL.format(store=str(killer.folder / "work"))
    kill_and_finish(
        *(killer, kills, code),
        lambda folder: None,
        lambda store, whole: [
            completions.check_shard(shard, completions.kind_of(shard.relative_to(store).parts[0]))
            for shard in completions.shards(store)
        ],
    )


@pytest.mark.soak
def test_copying_the_recorded_completions_is_killed_many_times(killer):
    kill_install(killer, KILLS["install"])


def test_a_copy_of_recorded_completions_that_was_cut_off_is_finished(tmp_path, monkeypatch):
    whole, store = tmp_path / "whole", tmp_path / "store"
    n = recorded.install(whole)
    monkeypatch.setattr(recorded, "_install_runs", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        recorded.install(store)
    gone = completions.completion_shards(store)[-1]
    n_gone = completions.check_shard(gone)
    gone.unlink()
    monkeypatch.undo()
    assert recorded.install(store) == n_gone < n
    assert contents(store) == contents(whole)
    assert recorded.install(store) == 0
    # What somebody has removed from a store that is in use stays away.
    gone.unlink()
    assert recorded.install(store) == 0 and not gone.exists()


# ------------------------------------------------------------------ folders that are replaced


def test_a_swap_that_was_cut_off_gives_the_old_folder_back(tmp_path):
    folder, old = tmp_path / "out", tmp_path / ".ehrbench-old-out"
    with folders.replace_folder(folder, "mark") as part:
        (part / "mark").write_text("old")
    folder.rename(old)  # killed between the two steps
    with pytest.raises(ZeroDivisionError), folders.replace_folder(folder, "mark"):
        1 / 0
    assert (folder / "mark").read_text() == "old" and not leftovers(tmp_path)


def test_two_writers_of_a_folder_are_kept_apart(tmp_path):
    folder = tmp_path / "out"
    with folders.replace_folder(folder, "mark") as part:
        (part / "mark").write_text("first")
        with pytest.raises(EhrbenchError, match="another ehrbench writes .*out: wait for it"):
            folders.replace_folder(folder, "mark").__enter__()
    assert (folder / "mark").read_text() == "first" and not leftovers(tmp_path)


COMMAND = """
from ehrbench import cli
cli.main([{command!r}, "--target", "synthetic", "--out", {out!r}])
"""


def kill_folder(killer: Killer, kills: int, command: str, database: Path) -> None:
    """A folder is the old one, the new one, or for a moment not there."""

    def prepare(folder):
        code = COMMAND.format(command=command, out=str(folder / "out"))
        if not earlier.exists():
            status, _, said = killer.run(code, folder, EHRBENCH_DB=database)
            assert status == 0, said
            (folder / "out" / "of-before.txt").write_text("old")
            shutil.copytree(folder, earlier)
            shutil.rmtree(folder)
        shutil.copytree(earlier, folder, dirs_exist_ok=True)

    def check(folder, whole):
        if (folder / "out").exists():
            found = {f"out/{name}": content for name, content in contents(folder / "out").items()}
            assert found in (whole, {**whole, "out/of-before.txt": b"old"})

    earlier = killer.folder / "earlier"
    code = COMMAND.format(command=command, out=str(killer.folder / "work" / "out"))
    kill_and_finish(killer, kills, code, prepare, check, EHRBENCH_DB=database)


@pytest.mark.soak
@pytest.mark.parametrize("command", ["export", "report"])
def test_export_and_report_are_killed_many_times(killer, synthetic_build, command):
    kill_folder(killer, KILLS[command], command, synthetic_build.database)


RECORD = """
from pathlib import Path
from ehrbench import recorded
recorded.export(Path({database!r}), Path({store!r}), Path({out!r}), "0")
"""


@pytest.mark.soak
def test_writing_the_recorded_completions_is_killed_many_times(killer, synthetic_build):
    def check(folder, whole):
        if (folder / "out").exists():
            found = {f"out/{name}": content for name, content in contents(folder / "out").items()}
            assert found in (whole, {"out/MANIFEST.json": b"{}"})

    def prepare(folder):
        (folder / "out").mkdir()
        (folder / "out" / "MANIFEST.json").write_text("{}")

    out = str(killer.folder / "work" / "out")
    code = RECORD.format(
        database=str(synthetic_build.database), store=str(synthetic_build.store), out=out
    )
    kill_and_finish(killer, KILLS["record"], code, prepare, check)


# ------------------------------------------------------------------------------------- synth

SYNTH = """
from ehrbench import synth
synth.write({out!r}, patients=2, seed=2)
"""


def kill_synth(killer: Killer, kills: int) -> None:
    """A data set is made over an older one: the manifest is there only while all is of one."""
    earlier = killer.folder / "earlier"
    synth.write(earlier, patients=3, seed=1)
    before = contents(earlier)

    def check(folder, whole):
        if (folder / synth.MANIFEST).exists():
            assert contents(folder) in (before, whole)

    kill_and_finish(
        *(killer, kills, SYNTH.format(out=str(killer.folder / "work"))),
        lambda folder: shutil.copytree(earlier, folder, dirs_exist_ok=True),
        check,
    )


@pytest.mark.soak
def test_synth_is_killed_many_times(killer):
    kill_synth(killer, KILLS["synth"])


SCALE = """
from pathlib import Path
from ehrbench.synth import scale
scale.CHUNKS = {{"patients": 70, "admissions": 49}}
scale.write(Path({out!r}), "mimic-iv-3.1", {seed}, share=0.00055)
"""


@pytest.mark.soak
def test_synth_of_a_profile_is_killed_many_times(killer):
    """As above, beside a profile of the other kind, which the manifest goes on to name."""
    earlier = killer.folder / "earlier"
    status, _, said = killer.run(SCALE.format(out=str(earlier), seed=1), earlier)
    assert status == 0, said
    file = earlier / synth.MANIFEST
    manifest = json.loads(file.read_text())
    manifest["profiles"]["semmeddb-2024"] = 1
    manifest["rows"]["raw/semmeddb/x.csv.gz"] = 7
    file.write_text(json.dumps(manifest))
    before = contents(earlier)

    def check(folder, whole):
        assert json.loads(whole[synth.MANIFEST])["rows"]["raw/semmeddb/x.csv.gz"] == 7
        if (folder / synth.MANIFEST).exists():
            found = contents(folder)
            assert {name: found[name] for name in whole} in (before, whole)

    code = SCALE.format(out=str(killer.folder / "work"), seed=2)
    kill_and_finish(
        *(killer, KILLS["scale"], code),
        lambda folder: shutil.copytree(earlier, folder, dirs_exist_ok=True),
        check,
    )


# --------------------------------------------------------------------------- fetch and audit

FETCH = """
from pathlib import Path
from ehrbench import fetch
fetch.fetch("mimic-iv-demo", Path({out!r}), {url!r})
"""


@pytest.mark.soak
def test_fetch_is_killed_many_times(killer, site):
    """A file has its name when it is whole; the next call goes on from what has come."""

    def check(folder, whole):
        found = {name: content for name, content in contents(folder).items() if name in whole}
        assert all(whole[name] == content for name, content in found.items())

    with test_fetch.serving(site) as url:
        code = FETCH.format(out=str(killer.folder / "work"), url=url)
        kill_and_finish(killer, KILLS["fetch"], code, lambda folder: None, check)


AUDIT = """
from pathlib import Path
from ehrbench.audit import ratings
assert not ratings.take_in("synthetic", [Path({file!r})]).bad
"""


@pytest.mark.soak
def test_audit_import_is_killed_many_times(killer, tmp_path, monkeypatch):
    """Each file of ratings is the old or the new one."""
    database = test_audit_sheets.database(tmp_path)
    with duckdb.connect(str(database)) as connection:
        connection.execute("update fct_audit_sample set object_label = concat('Drug ', triple_id)")
    earlier = tmp_path / "earlier"
    monkeypatch.setenv("EHRBENCH_DB", str(database))
    monkeypatch.setenv("EHRBENCH_COMPLETIONS_DIR", str(earlier))
    (sheet,) = sample.sample("synthetic", tmp_path / "sheets", 1, True)
    good = test_audit_sheets.GOOD_ITEM
    old, new = (
        test_audit_sheets.fill(
            *(sheet, tmp_path / f"{name}.xlsx", "Anna"),
            {"t1": (answer,)},
            {"i1": ("A", *good)} if answer == "yes" else {"i1": ("B", *good)},
        )
        for name, answer in (("old", "yes"), ("new", "no"))
    )
    assert not ratings.take_in("synthetic", [old]).bad
    before = contents(earlier)

    def check(folder, whole):
        assert len(whole) == 2 and all(before[name] != whole[name] for name in whole)
        found = contents(folder)
        assert all(found[name] in (before[name], whole[name]) for name in whole)

    kill_and_finish(
        *(killer, KILLS["audit"], AUDIT.format(file=str(new))),
        lambda folder: shutil.copytree(earlier, folder, dirs_exist_ok=True),
        check,
        EHRBENCH_DB=database,
        EHRBENCH_COMPLETIONS_DIR=killer.folder / "work",
    )


# --------------------------------------------------------------- processes, killed from outside


def killed_from_outside(process: subprocess.Popen, seconds: float) -> None:
    """SIGKILL for a whole process group, after some seconds more."""
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)


def test_a_build_puts_away_what_a_killed_one_left(tmp_path, monkeypatch):
    """Spilled files of processes that are no more, and rows of files in the logs."""
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=-1)
    spilled, database = tmp_path / "x.duckdb.tmp", tmp_path / "x.duckdb"
    spilled.mkdir()
    mine, other = (
        [f"duckdb_temp_{process}_0_owner", f"duckdb_temp_{process}_0_storage_DEFAULT-0.tmp"]
        for process in (os.getpid(), int(ended.stdout))
    )
    for name in (*mine, *other, "notes.txt"):
        (spilled / name).write_bytes(b"x")
    log = tmp_path / "x" / "logs" / "dbt.log"
    log.parent.mkdir(parents=True)
    log.write_text("10:00:00.1 [error] [Thread-1]: bad\nOriginal Line: 17,Jane Doe\n")

    def begun(*_, **__):
        raise InterruptedError

    monkeypatch.setattr(dbt.subprocess, "Popen", begun)
    monkeypatch.delenv("EHRBENCH_TEMP_DIR", raising=False)
    with pytest.raises(InterruptedError):
        dbt.build("synthetic", database, tmp_path / "store")
    assert sorted(file.name for file in spilled.iterdir()) == sorted([*mine, "notes.txt"])
    assert "Jane Doe" not in log.read_text() and "bad" in log.read_text()
    for name in (*mine, "notes.txt"):
        (spilled / name).unlink()
    with pytest.raises(InterruptedError):
        dbt.build("synthetic", database, tmp_path / "store")
    assert not spilled.exists()


def test_a_build_does_not_begin_while_another_process_writes(tmp_path):
    database = tmp_path / "x.duckdb"
    code = "import duckdb, sys\nc = duckdb.connect(sys.argv[1])\nprint(1, flush=True)\ninput()"
    writer = subprocess.Popen(
        [sys.executable, "-c", code, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        writer.stdout.readline()
        with pytest.raises(EhrbenchError, match=f"process {writer.pid} writes it; wait until"):
            dbt.build("synthetic", database, tmp_path / "store")
    finally:
        writer.communicate(b"\n")


DBT_STEP = re.compile(r"(\d+) of (\d+) (?:START|OK) (.*?) ?\.{3}")


def kill_dbt(killer: Killer, kills: int, builds: int, root: Path, folder: Path, **settings) -> None:
    """Kill dbt builds of one database; `builds` times it is then built to the end and compared.

    Each kill falls behind a drawn share of the nodes. The result lies in killed.duckdb.
    """
    database = folder / "killed.duckdb"
    command = [
        *(sys.executable, "-m", "dbt.cli.main", "--no-use-colors", "build", "--threads", "2"),
        *("--target", "synthetic", "--project-dir", str(root), "--profiles-dir", str(root)),
        *("--target-path", str(folder / "target"), "--log-path", str(folder / "logs")),
        *("--exclude-resource-type", "test", "unit_test"),
    ]
    options = {
        "cwd": root,
        "env": environment(EHRBENCH_DB=database, PYTHONUNBUFFERED=1, **settings),
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
        "start_new_session": True,
    }
    for n in range(kills):
        share = killer.draw.random()
        process = subprocess.Popen(command, **options)
        for line in process.stdout:
            step = DBT_STEP.search(line)
            if step and int(step[1]) >= share * int(step[2]):
                killed_from_outside(process, killer.draw.random())
                killer.fell[f"{step[1]} of {step[2]} {step[3]}"] += 1
                break
        assert process.poll() == -signal.SIGKILL, process.wait()
        with duckdb.connect(str(database), read_only=True) as connection:
            # Every table that is there can be read to its end.
            for (table,) in connection.execute("select table_name from duckdb_tables()").fetchall():
                connection.execute(f'select count(*) from (select * from "{table}")').fetchall()
        if (n + 1) % max(kills // builds, 1) == 0:
            done = subprocess.run(command, check=False, **{**options, "start_new_session": False})
            assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.soak
def test_dbt_builds_are_killed(killer, synthetic_build, tmp_path):
    """A database in which builds were killed holds what one has that was built in one go."""
    kill_dbt(
        *(killer, KILLS["dbt"], 2, ROOT, tmp_path),
        EHRBENCH_SYNTH_DIR=synthetic_build.synth,
        EHRBENCH_COMPLETIONS_DIR=synthetic_build.store,
    )
    assert_equal_builds(synthetic_build.database, tmp_path / "killed.duckdb")


def assert_equal_builds(one: Path, other: Path) -> None:
    """The same relations, and every mart with the same rows."""
    assert relations(one) == relations(other)
    first, second = test_builds.digests_of(one), test_builds.digests_of(other)
    assert len(first) > 30 and first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def relations(database: Path) -> set[tuple[str, str]]:
    """Tables and views of a build, those that tests leave aside."""
    with duckdb.connect(str(database), read_only=True) as connection:
        return set(
            connection.execute(
                "select table_type, table_name from information_schema.tables "
                "where table_schema = 'main'"
            ).fetchall()
        )


@pytest.mark.soak
@pytest.mark.engine
def test_generate_with_vllm_is_killed(killer, plan, tiny_model):
    """At its start, or while it writes: after a drawn number of new shards."""
    n, log = 60, killer.folder / "said"
    plan.add_model("tiny", weights=tiny_model.name)
    for i in range(n):
        plan.add(f"k{i:02}", mode="free", sampling={"temperature": 0, "max_tokens": 8})
    command = [sys.executable, "-m", "ehrbench", "generate", "--target", "synthetic"]
    command += ["--stage", "answers", "--model", "tiny", "--engine", "vllm", "--batch", "2"]
    options = {
        "cwd": ROOT,
        "env": environment(
            EHRBENCH_DB=plan.database,
            EHRBENCH_COMPLETIONS_DIR=plan.store,
            EHRBENCH_MODELS_DIR=tiny_model.parent,
        ),
        "stderr": subprocess.STDOUT,
    }
    rows: list[dict] = []
    while killer.fell.total() < KILLS["vllm"]:
        before = len(completions.shards(plan.store / "answers"))
        more = killer.draw.choice([0, 1, 2, 4])
        with log.open("w") as said:
            process = subprocess.Popen(command, stdout=said, start_new_session=True, **options)
        while process.poll() is None and (
            len(completions.shards(plan.store / "answers")) < before + more
        ):
            time.sleep(0.002)
        assert process.poll() is None, log.read_text()
        killed_from_outside(process, killer.draw.random() * (0.02 if more else 8))
        killer.fell[f"{len(completions.shards(plan.store / 'answers')) - before} shards"] += 1
        rows = check_store(plan, rows)
    with log.open("w") as said:
        done = subprocess.run(command, stdout=said, check=False, **options)
    assert done.returncode == 0, log.read_text()
    assert "was cut off at answers of tiny" in log.read_text()
    rows = check_store(plan, rows)
    good = Counter(row["request_key"] for row in rows if row["error"] is None)
    assert good == {f"k{i:02}": 1 for i in range(n)}
    assert not leftovers(plan.store)


@pytest.mark.soak
def test_generate_with_ray_is_killed(killer, plan, ray_ready):
    """The driver is; its workers live on for a moment, also beside those of the next one."""
    n, log = 60, killer.folder / "log"
    command, options = test_ray.canned(plan, log, n)
    rows: list[dict] = []
    while killer.fell.total() < KILLS["ray"]:
        before = len(completions.shards(plan.store / "answers"))
        more = killer.draw.choice([0, 1, 2, 4])
        process = subprocess.Popen(command, start_new_session=True, **options)
        while process.poll() is None and (
            len(completions.shards(plan.store / "answers")) < before + more
        ):
            time.sleep(0.002)
        assert process.poll() is None, process.communicate()[0]
        time.sleep(killer.draw.random() * (0.02 if more else 15))
        # The driver alone, not its group: the workers have to find out by themselves.
        process.kill()
        process.wait()
        killer.fell[f"{len(completions.shards(plan.store / 'answers')) - before} shards"] += 1
        if killer.draw.choice([True, False]):
            time.sleep(5)
            rows = check_store(plan, rows)
    done = subprocess.run(command, check=False, **options)
    assert done.returncode == 0, done.stdout
    assert "was cut off at answers of tiny" in done.stdout
    rows = check_store(plan, rows)
    good = Counter(row["request_key"] for row in rows if row["error"] is None)
    assert good == {f"k{i:03}": 1 for i in range(n)}
    assert not leftovers(plan.store)
