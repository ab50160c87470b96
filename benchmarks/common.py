"""What the benchmarks share: raw files, builds by dbt, models run by themselves, the result table.

A benchmark makes its files in a folder of its own, which goes when it ends, and leaves a table on
the screen and build/benchmarks/<name>.json. Figures are ratios of two measurements of one run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

RESULTS = ROOT / "build/benchmarks"
PROFILES = ("mimic-iv-3.1", "semmeddb-2024")
SOURCES = ("mimic_iv", "umls", "icd", "semmeddb")
OTHER_SOURCES = ("mimic_iii", "omop", "drugbank", "atc", "pubmed", "truth")


def parser(text: str, share: float | None = None, repeats: int = 3) -> argparse.ArgumentParser:
    """The options that every benchmark has; `share` None leaves out those of made raw files."""
    made = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "--repeats", type=int, default=repeats, help="runs whose median counts (%(default)s)"
    )
    made.add_argument("--memory-limit", default="8GB", help="DuckDB's memory (%(default)s)")
    made.add_argument("--threads", type=int, default=2, help="DuckDB's threads (%(default)s)")
    made.add_argument("--work", type=Path, help="folder for its files (build/benchmarks)")
    made.add_argument("--results", type=Path, default=RESULTS, help="folder of the JSON file")
    if share is not None:
        made.add_argument(
            "--share",
            type=float,
            default=share,
            help="share of MIMIC-IV 3.1 and SemMedDB 2024 that is made (%(default)s)",
        )
        made.add_argument(
            "--raw", type=Path, help="raw files of ehrbench synth --profile: none are made"
        )
    return made


@contextlib.contextmanager
def work_folder(asked: argparse.Namespace) -> Iterator[Path]:
    """A folder for the files of one run, deleted when it ends, also by a signal."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parent = asked.work or RESULTS
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_raw(folder: Path, share: float, profiles: Iterable[str] = PROFILES) -> Path:
    """Raw files of a share of each profile; returns the folder of the sources."""
    from ehrbench.synth import scale

    for profile in profiles:
        say(f"making {share:g} of {profile}")
        try:
            scale.write(folder, profile, share=share)
        except ValueError as error:
            sys.exit(f"error: {error}")
    return folder / "raw"


def raw_files(asked: argparse.Namespace, folder: Path) -> Path:
    """The raw files that the options name, or made ones."""
    if asked.raw is None:
        return write_raw(folder / "made", asked.share)
    return asked.raw / "raw" if (asked.raw / "raw").is_dir() else asked.raw


def say(text: str) -> None:
    """One line of progress."""
    print(text, flush=True)


# ------------------------------------------------------------------------------------ dbt


@dataclass(frozen=True)
class Node:
    """A model or seed that dbt has built; `seconds` are dbt's, `sql` is compiled."""

    name: str
    folder: str
    materialized: str
    relation: str
    sql: str
    seconds: float
    begun: str
    ended: str


@dataclass
class Project:
    """dbt on one DuckDB file, with artefacts beside it."""

    database: Path
    target: str = "full"
    threads: int = 2
    memory_limit: str = "8GB"
    settings: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: argparse.Namespace, database: Path, raw: Path | None = None) -> Project:
        """A project whose sources are the folders of `raw`, and no other."""
        settings = {}
        if raw is not None:
            settings = {variable(source): str(raw / source) for source in SOURCES}
            settings |= {variable(source): "" for source in OTHER_SOURCES}
            settings["EHRBENCH_COMPLETIONS_DIR"] = str(database.parent / "none")
        return cls(database, "full", asked.threads, asked.memory_limit, settings)

    @property
    def artefacts(self) -> Path:
        return self.database.with_suffix("")

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "EHRBENCH_DB": str(self.database),
            "EHRBENCH_MEMORY_LIMIT": self.memory_limit,
            "EHRBENCH_THREADS": str(self.threads),
            **self.settings,
        }

    def command(self, *arguments: str) -> list[str]:
        return [
            *(sys.executable, "-m", "dbt.cli.main", "--quiet", "--no-use-colors", *arguments),
            *("--target", self.target, "--project-dir", str(ROOT), "--profiles-dir", str(ROOT)),
            *("--target-path", str(self.artefacts), "--log-path", str(self.artefacts / "logs")),
            *("--partial-parse", "--log-level-file", "none"),
        ]

    def run(self, *arguments: str) -> None:
        """One dbt command; ends the benchmark with dbt's last lines when it fails."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=ROOT,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"error: dbt {arguments[0]} failed:\n{done.stdout[-3000:]}")

    def build(self, *select: str, tests: bool = False) -> list[Node]:
        """Build seeds and models one at a time, in the order that dbt took."""
        kinds = () if tests else ("--resource-type", "model", "--resource-type", "seed")
        chosen = ("--select", *select) if select else ()
        self.run("build", *kinds, *chosen, "--threads", "1")
        return self.nodes()

    def compiled(self, *select: str) -> list[Node]:
        """Models with their compiled SQL, parents first, nothing built."""
        self.run("compile", "--select", *select, "--threads", "1")
        return self.nodes()

    def nodes(self) -> list[Node]:
        """What the last command built or compiled."""
        known = self.manifest()["nodes"]
        done = json.loads((self.artefacts / "run_results.json").read_text(encoding="utf-8"))
        found = []
        for result in done["results"]:
            node = known[result["unique_id"]]
            if node["resource_type"] not in ("model", "seed"):
                continue
            timing = {part["name"]: part for part in result["timing"]}
            span = timing.get("execute", {})
            found.append(
                Node(
                    node["name"],
                    "/".join(Path(node["original_file_path"]).parts[1:-1]),
                    node["config"]["materialized"],
                    node["relation_name"],
                    result.get("compiled_code") or "",
                    result["execution_time"],
                    span.get("started_at") or "",
                    span.get("completed_at") or "",
                )
            )
        return found

    def manifest(self) -> dict:
        return json.loads((self.artefacts / "manifest.json").read_text(encoding="utf-8"))

    def connect(self) -> duckdb.DuckDBPyConnection:
        """The file, under the settings of profiles.yml."""
        connection = duckdb.connect(
            str(self.database),
            config={
                "memory_limit": self.memory_limit,
                "temp_directory": f"{self.database}.tmp",
                "threads": self.threads,
            },
        )
        connection.execute("set preserve_insertion_order = false")
        connection.execute("set TimeZone = 'UTC'")
        return connection


def variable(source: str) -> str:
    """Name of the variable that names a source's folder."""
    return f"EHRBENCH_{source.upper()}_DIR"


def between(
    manifest: dict, starts: Iterable[str], ends: Iterable[str], tag: str | None = None
) -> set[str]:
    """Names of the models on a way from `starts` (models, or source.table) to `ends`.

    With a tag, only ways through models that have it.
    """
    parents = {
        key: node["depends_on"]["nodes"]
        for key, node in manifest["nodes"].items()
        if node["resource_type"] == "model" and (tag is None or tag in node["tags"])
    }
    names = {key: key.split(".", 2)[2] for key in [*parents, *manifest["sources"]]}

    def reach(first: set[str], step: Callable[[str], Iterable[str]]) -> set[str]:
        seen, todo = set(first), list(first)
        while todo:
            new = [key for key in step(todo.pop()) if key in names and key not in seen]
            seen.update(new)
            todo += new
        return seen

    children: dict[str, list[str]] = {}
    for key, above in parents.items():
        for one in above:
            children.setdefault(one, []).append(key)
    starts, ends = set(starts), set(ends)
    below = reach({k for k, n in names.items() if n in starts}, lambda k: children.get(k, ()))
    above = reach({k for k, n in names.items() if n in ends}, lambda k: parents.get(k, ()))
    return {names[key] for key in below & above if key in parents}


# ------------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Spent:
    """Seconds: of the clock, and of the process's cores (user and system)."""

    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def spent(work: Callable[[], object]) -> Spent:
    """What a call takes in this process."""
    wall, cpu = time.monotonic(), _cpu()
    work()
    return Spent(time.monotonic() - wall, _cpu() - cpu)


def make(connection: duckdb.DuckDBPyConnection, nodes: Iterable[Node]) -> dict[str, Spent]:
    """Make the models anew by their compiled SQL; what each takes."""
    taken = {}
    for node in nodes:
        kind = "view" if node.materialized == "view" else "table"
        sql = f"create or replace {kind} {node.relation} as\n{node.sql}"
        taken[node.name] = spent(lambda sql=sql: connection.execute(sql))
    return taken


def total(taken: dict[str, Spent], names: Iterable[str] | None = None) -> Spent:
    """Sum over models."""
    chosen = taken if names is None else names
    return sum((taken[name] for name in chosen), Spent(0.0, 0.0))


def rows(connection: duckdb.DuckDBPyConnection, relation: str) -> int:
    """Rows of a relation."""
    return connection.execute(f"select count(*) from {relation}").fetchone()[0]


# --------------------------------------------------------------------------------- results


@dataclass
class Report:
    """The result table of a benchmark: figures over the repeats, with their goals."""

    name: str
    asked: argparse.Namespace
    lines: list[dict] = field(default_factory=list)
    notes: dict[str, object] = field(default_factory=dict)

    def add(
        self,
        figure: str,
        values: float | Iterable[float],
        unit: str = "x",
        goal: float | None = None,
        at_least: bool = False,
    ) -> None:
        """One figure: its median, least and most over the repeats, and its goal if it has one."""
        found = [values] if isinstance(values, int | float) else list(values)
        median = statistics.median(found)
        met = None if goal is None else (median >= goal if at_least else median <= goal)
        self.lines.append(
            {
                "figure": figure,
                "median": median,
                "least": min(found),
                "most": max(found),
                "n": len(found),
                "unit": unit,
                "goal": goal,
                "goal_is": None if goal is None else "at least" if at_least else "at most",
                "met": met,
            }
        )

    def close(self) -> None:
        """Print the table and write the JSON file."""
        width = max((len(line["figure"]) for line in self.lines), default=6)
        say("")
        say(f"{'figure':<{width}}  {'median':>10}  {'least':>10}  {'most':>10}  {'unit':<5}  goal")
        for line in self.lines:
            goal = ""
            if line["goal"] is not None:
                sign = ">=" if line["goal_is"] == "at least" else "<="
                goal = f"{sign} {line['goal']:g}: {'met' if line['met'] else 'MISSED'}"
            numbers = "  ".join(f"{line[key]:>10.3f}" for key in ("median", "least", "most"))
            say(f"{line['figure']:<{width}}  {numbers}  {line['unit']:<5}  {goal}".rstrip())
        options = {
            key: str(value) if isinstance(value, Path) else value
            for key, value in vars(self.asked).items()
        }
        self.asked.results.mkdir(parents=True, exist_ok=True)
        file = self.asked.results / f"{self.name}.json"
        written = {"benchmark": self.name, "options": options, "figures": self.lines}
        text = json.dumps(written | self.notes, indent=2, sort_keys=True, default=str)
        file.write_text(text + "\n", encoding="utf-8")
        say(f"written to {file}")
