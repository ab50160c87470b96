"""Run dbt as a program of its own: it must have the DuckDB file to itself."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from ehrbench import built, paths
from ehrbench.errors import ON_VALUES, EhrbenchError, one_line, shortened, without_values
from ehrbench.progress import PLAIN_EVERY_S, console, duration, say

# What dbt makes lives to its end: to look through it for garbage as often as Python does is a tenth of
# its time.
GC_RARELY = (50_000, 20, 100)
PROGRAM = ("-c", f"import gc; gc.set_threshold{GC_RARELY}; from dbt.cli.main import cli; cli()")
STEP = re.compile(r"\b(\d+) of (\d+) (START|OK|PASS|ERROR|FAIL|WARN|SKIP|NO-OP)\b\s*(.*)")
CLOSING = re.compile(r"Done\. (PASS=.*)")
STAMP = re.compile(r"^\d\d:\d\d:\d\d\s*")
# DuckDB quotes the row of a file that it cannot read, and the row may span lines: what follows is
# blanked to the end of a JSON text (run_results.json) or of a log entry, which begins with a time.
QUOTED = "Original Line:"
BLANKED = f"{QUOTED} (not kept)"
OF_DATA = re.compile(f"{QUOTED}|{ON_VALUES}")
JSON_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
LOG_ENTRY = re.compile(r"\n(?=(?:\x1b\[0m)?\d\d:\d\d:\d\d\.\d+ \[\w+ *\] )")
BAD_BYTES = re.compile(r"invalid unicode|is not \S+ encoded", re.I)
CUT_FILE = re.compile(r"gzip stream|no magic bytes|too small to be|corrupt", re.I)
SPILLED = re.compile(r"duckdb_temp_(\d+)_")
READ_FILE = re.compile(r"read_\w+\(\s*\[?'((?:[^']|'')+)'")
STAGING = re.compile(r"stg_([a-z_]+?)__(\w+)")
# What DuckDB says about a line after the line itself.
LINE_SAYS = re.compile(
    r"^\s*(Expected Number of Columns: \d+ Found: \d+|Value with unterminated quote found"
    r"|Maximum line size of \d+ bytes exceeded)",
    re.M,
)
OTHER_LINES = re.compile(r"when sniffing file|reached an invalid state")


@dataclass(frozen=True)
class Result:
    """How a dbt call ended; `summary` is dbt's closing line of counts."""

    seconds: float
    summary: str


def work_dir(database: Path) -> Path:
    """Folder beside a DuckDB file for dbt's artefacts (`dbt/`) and logs (`logs/`)."""
    return database.with_suffix("")


def build(
    target: str,
    database: Path,
    store: Path,
    select: str | None = None,
) -> Result:
    """`dbt build` for a target, condensed on the screen.

    Raises EhrbenchError with the first node that failed and the first line of its message, or
    where another process writes the database.
    """
    arguments = [
        *("build", "--target", target),
        # A build of a part follows a whole one: nothing was edited in between, so unit tests, which
        # read no data, would say the same again.
        *(("--select", select, "--partial-parse") if select else ()),
        *(("--exclude-resource-type", "unit_test") if select else ()),
    ]
    label = f"dbt build ({select})" if select else "dbt build"
    return call_on(database, store, arguments, label)


def call_on(
    database: Path,
    store: Path,
    arguments: list[str],
    label: str,
    settings: dict[str, str] | None = None,
) -> Result:
    """Run dbt on a DuckDB file, with further variables in `settings`; raises as `build`."""
    database.parent.mkdir(parents=True, exist_ok=True)
    if database.is_file():
        # The dbt of a call that was killed may still be at work.
        built.connect(database).close()
    clear_spill(database)
    variables = {"EHRBENCH_DB": str(database), "EHRBENCH_COMPLETIONS_DIR": str(store)}
    return call(arguments, work_dir(database), {**variables, **(settings or {})}, label)


def call(arguments: list[str], work: Path, settings: dict[str, str], label: str) -> Result:
    """Run dbt with its artefacts (`dbt/`) and logs (`logs/`) in a folder; raises as `build`."""
    root = paths.project_root()
    target_path = work / "dbt"
    command = [
        *(sys.executable, *PROGRAM, "--no-use-colors", *arguments),
        *("--project-dir", str(root), "--profiles-dir", str(root)),
        *("--target-path", str(target_path), "--log-path", str(work / "logs")),
        *("--log-format-file", "debug"),
    ]
    environment = {
        **os.environ,
        **settings,
        "PYTHONUNBUFFERED": "1",
    }
    started = time.monotonic()
    results_file = target_path / "run_results.json"
    # What a killed call could not put away.
    blank_rows(results_file, work / "logs")
    results_file.unlink(missing_ok=True)
    process = subprocess.Popen(
        command,
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
    )
    try:
        tail, summary = _follow(process, label)
        if process.wait() != 0:
            log = work / "logs" / "dbt.log"
            raise EhrbenchError(f"{first_failure(results_file, tail)} (whole log: {log})")
    except BaseException:
        process.terminate()
        process.wait()
        blank_rows(results_file, work / "logs")
        raise
    return Result(time.monotonic() - started, summary)


def _follow(process: subprocess.Popen, label: str) -> tuple[list[str], str]:
    """Show progress until dbt ends; returns (last lines, closing counts)."""
    tail: list[str] = []
    summary = ""
    started = last_line = time.monotonic()
    say(f"{label}: starting")
    status = console().status(label) if sys.stdout.isatty() else None
    if status:
        status.start()
    try:
        for raw in process.stdout:
            line = STAMP.sub("", raw.rstrip())
            tail = [*tail[-199:], line]
            closing = CLOSING.search(line)
            if closing:
                summary = closing.group(1)
            step = STEP.search(line)
            if not step:
                continue
            number, total, state, rest = step.groups()
            if status:
                left = _pace(int(number), int(total), time.monotonic() - started)
                status.update(f"{label}: {number} of {total} {left} {_node(rest)}")
            elif state in ("ERROR", "FAIL"):
                say(f"  {number} of {total} {state} {_node(rest)}")
            elif time.monotonic() - last_line >= PLAIN_EVERY_S:
                last_line = time.monotonic()
                say(f"  {number} of {total} {_pace(int(number), int(total), last_line - started)}")
    finally:
        if status:
            status.stop()
    return tail, summary


def _pace(number: int, total: int, seconds: float) -> str:
    """Rate and time left; nodes differ, so the time is a rough one, and none at first."""
    if number * 20 < total or seconds <= 0:
        return ""
    rate = number / seconds
    return f"({rate:.1f}/s, roughly {duration((total - number) / rate)} left)"


def _node(text: str) -> str:
    return text.split(" [", 1)[0].rstrip(" .")


def blank_rows(results_file: Path, logs: Path) -> None:
    """Take the rows and values that DuckDB quotes, maybe patients', out of dbt's artefacts."""
    if results_file.is_file():
        text = results_file.read_text(encoding="utf-8", errors="replace")
        if OF_DATA.search(text):
            text = JSON_TEXT.sub(lambda found: _blank_json(found[0]), text)
            results_file.write_text(text, encoding="utf-8")
    for log in logs.glob("dbt.log*"):
        text = log.read_text(encoding="utf-8", errors="replace")
        if OF_DATA.search(text):
            entries = [blank(entry) for entry in LOG_ENTRY.split(text)]
            log.write_text("\n".join(entries), encoding="utf-8")


def blank(text: str) -> str:
    """An error's text without the row and the values that it quotes."""
    head, quoted, _ = text.partition(QUOTED)
    return without_values(head) + (BLANKED if quoted else "")


def _blank_json(text: str) -> str:
    return json.dumps(blank(json.loads(text, strict=False))) if OF_DATA.search(text) else text


def clear_spill(database: Path) -> None:
    """Remove what processes that are no more have spilled to the folder of profiles.yml.

    DuckDB does so itself, but not before it spills again.
    """
    given = os.environ.get("EHRBENCH_TEMP_DIR")
    folder = Path(given or f"{database}.tmp")
    for file in folder.glob("duckdb_temp_*"):
        owner = SPILLED.match(file.name)
        if owner and not _is_running(int(owner[1])):
            file.unlink(missing_ok=True)
    if not given:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def first_failure(results_file: Path, tail: list[str]) -> str:
    """One line for a failed build: the first failing node and what it says; never a file's row."""
    try:
        results = json.loads(results_file.read_text(encoding="utf-8"))["results"]
    except (OSError, ValueError, KeyError):
        results = []
    bad = [result for result in results if result.get("status") in ("error", "fail")]
    if not bad:
        shown = "\n".join(tail).split(QUOTED)[0].splitlines()
        texts = [line.strip() for line in shown if line.strip()]
        starts = [index for index, line in enumerate(texts) if re.search(r"\bError\b", line)]
        index = starts[0] if starts else max(len(texts) - 1, 0)
        # one_line leaves values out.
        return one_line("dbt stopped: " + " ".join(texts[index : index + 4]), 500)
    node = bad[0]["unique_id"].split(".")
    name = ".".join(node[2:3] if len(node) > 2 else node)
    text = bad[0].get("message") or ""
    message = [line.strip() for line in text.split(QUOTED)[0].splitlines() if line.strip()]
    # dbt's own first line names the node and the kind of error, the database's comes second.
    said = message[1] if len(message) > 1 and " Error in " in message[0] else "".join(message[:1])
    said = without_values(said).rstrip(".")
    said += file_and_mend(said, text, bad[0].get("compiled_code") or "", name)
    more = f"; {len(bad) - 1} more failed" if len(bad) > 1 else ""
    # Values are out by now, and a file's name, which may look like one, is in.
    return shortened(f"dbt: {node[0]} {name}: {said or bad[0]['status']}{more}", 500)


def file_and_mend(said: str, text: str, compiled: str = "", name: str = "") -> str:
    """What to add to DuckDB's line about a file that it cannot read: which file, and the mend."""
    said_more = ""
    if BAD_BYTES.search(text):
        mend = "re-encode it as UTF-8"
        if name.startswith("stg_semmeddb__"):
            mend = "run ehrbench convert semmeddb"
    elif "CSV Error on Line" in said:
        mend = "mend that line, or fetch the file again"
        # The last one: a quoted row cannot pass for it.
        why = LINE_SAYS.findall(text)[-1:]
        said_more = f" ({why[0]})" if why else ""
    elif OTHER_LINES.search(said):
        mend = "its lines differ in their fields, quotes or ends: fetch the file again"
    elif CUT_FILE.search(said):
        mend = "fetch the file again"
    elif "Could not convert" in text or "Conversion Error" in said:
        mend = "a column holds another type than declared: convert the file again"
    else:
        return ""
    # The last one: a quoted row cannot pass for it.
    files = re.findall(r"^\s*file = (.*)", text, re.M)[-1:]
    files = files or [plain_path(file) for file in READ_FILE.findall(compiled)[:1]]
    named = re.findall(r'sniffing file "(.*?)"', said) or files
    if named and (other := other_kind(Path(named[0]))):
        mend = other
    where = f" in {files[0]}" if files and files[0] not in said else ""
    # Found before there was SQL: the table says which file.
    table = STAGING.fullmatch(name)
    if not where and table and "/" not in said:
        where = f" in the file of {table[1]}.{table[2]}"
    return f"{where}{said_more}: {mend}"


def other_kind(file: Path) -> str | None:
    """The mend for a file that is no plain text, going by its first bytes."""
    try:
        with file.open("rb") as handle:
            head = handle.read(4)
        if file.suffix.lower() == ".gz":
            with gzip.open(file) as handle:
                head = handle.read(4)
    except (OSError, EOFError, zlib.error):
        return None
    if head[:2] == b"\x1f\x8b":
        return "it is packed: name it .gz, or unpack it"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "it is UTF-16: re-encode it as UTF-8"
    return "it is a zip archive: unpack it" if head == b"PK\x03\x04" else None


def plain_path(literal: str) -> str:
    """A path out of SQL, where it is a pattern and its quotes are doubled."""
    return re.sub(r"\[([\[*?])\]", r"\1", literal.replace("''", "'"))
