"""Time, rows, peak memory and spilled bytes of every model of a build under a memory limit.

The build runs one model at a time, and its process is watched while it does: what is seen between
a model's begin and end is that model's. Reads the folders that the options or the variables name.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import common

EVERY_S = 0.1
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Watch:
    """Resident memory of a process tree and bytes in a folder, sampled beside it."""

    pid: int
    folder: Path
    seen: list[tuple[float, int, int]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        while not self.over.wait(EVERY_S):
            self.seen.append((time.time(), resident(self.pid), size_of(self.folder)))

    def most(self, begun: float, ended: float) -> tuple[int, int]:
        """Most resident bytes and most spilled bytes between two times."""
        # A model shorter than the pause between two looks gets the one that follows it.
        within = [one for one in self.seen if begun <= one[0] <= ended + EVERY_S]
        return (
            max((one[1] for one in within), default=0),
            max((one[2] for one in within), default=0),
        )


def resident(pid: int) -> int:
    """Resident bytes of a process and its children."""
    found = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        found = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        found += sum(resident(int(child)) for child in children)
    return found


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder; files that go meanwhile count nothing."""
    found = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):
                found += entry.stat().st_size
    return found


def seconds(text: str) -> float:
    """A time of run_results.json (UTC) as seconds since 1970."""
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return moment.timestamp()


def watched(project: common.Project, *arguments: str) -> tuple[int, str, Watch]:
    """One dbt command with its process watched: (exit status, its words, what was seen)."""
    process = subprocess.Popen(
        project.command(*arguments),
        cwd=common.ROOT,
        env=project.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watch = Watch(process.pid, Path(f"{project.database}.tmp"))
    thread = threading.Thread(target=watch.look, daemon=True)
    thread.start()
    try:
        said, _ = process.communicate()
    except BaseException:
        process.kill()
        raise
    finally:
        watch.over.set()
        thread.join()
    return process.returncode, said, watch


def main(arguments: list[str] | None = None) -> None:
    parser = common.parser(__doc__, share=0.01, repeats=1)
    parser.add_argument("--select", nargs="*", default=[], help="models (all; names, folders)")
    parser.add_argument("--database", type=Path, help="build into this file and keep it")
    parser.add_argument("--target", help="target with its own sources: no raw files are made")
    parser.add_argument("--top", type=int, default=25, help="models that are printed (%(default)s)")
    asked = parser.parse_args(arguments)
    report = common.Report("profile_build", asked)
    with common.work_folder(asked) as folder:
        database = asked.database.resolve() if asked.database else folder / "b.duckdb"
        raw = None if asked.target else common.raw_files(asked, folder).resolve()
        project = common.Project.of(asked, database, raw)
        project.target = asked.target or project.target
        chosen = ("--select", *asked.select) if asked.select else ()
        kinds = ("--resource-type", "model", "--resource-type", "seed")
        database.parent.mkdir(parents=True, exist_ok=True)
        results = project.artefacts / "run_results.json"
        results.unlink(missing_ok=True)
        status, said, watch = watched(project, "build", *kinds, *chosen, "--threads", "1")
        if not results.exists():
            sys.exit(f"error: dbt build failed:\n{said[-3000:]}")
        nodes = project.nodes()
        with project.connect() as connection:
            models = [model(node, watch, connection) for node in nodes if node.begun]
    models.sort(key=lambda row: -row["seconds"])
    width = max((len(row["model"]) for row in models), default=5)
    common.say(f"{'model':<{width}} {'s':>8} {'rows':>12} {'RSS MB':>8} {'spilled MB':>11}")
    for row in models[: asked.top]:
        common.say(
            f"{row['model']:<{width}} {row['seconds']:>8.2f} {row['rows'] or 0:>12} "
            f"{row['rss'] / 2**20:>8.0f} {row['spilled'] / 2**20:>11.1f}"
        )
    report.notes["models"] = models
    report.add("models", len(models), "")
    report.add("sum over the models", sum(row["seconds"] for row in models), "s")
    report.add("peak RSS", max((one[1] for one in watch.seen), default=0) / 2**20, "MB")
    report.add("most spilled at once", max((one[2] for one in watch.seen), default=0) / 2**20, "MB")
    report.close()
    if status:
        sys.exit(f"error: dbt build failed:\n{said[-3000:]}")


def model(node: common.Node, watch: Watch, connection) -> dict:
    """What a model took; rows are null for a view and for what failed."""
    rss, spilled = watch.most(seconds(node.begun), seconds(node.ended))
    found = None
    if node.materialized != "view":
        with contextlib.suppress(Exception):
            found = common.rows(connection, node.relation)
    return {
        "model": node.name,
        "folder": node.folder,
        "seconds": node.seconds,
        "rows": found,
        "rss": rss,
        "spilled": spilled,
    }


if __name__ == "__main__":
    main()
