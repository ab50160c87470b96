"""Runs pieces of Python in processes of their own and kills them at chosen moments.

    python kill_server.py        reads one JSON object per line, answers with one

A job is {code, settings, watch, at, delay_s, log, said}: `code` runs in a fork of this process, in
a process group of its own, with `settings` added to its environment and its output in the file
`said`. Each thing that it is about to do to a file below one of the folders `watch` (to open,
rename or remove it, to make a folder) is an event, a line of `log`. `delay_s` seconds after event
number `at` (from 1; 0 never) the whole group gets SIGKILL; a delay of 0 is the moment before that
event's own effect. The answer is {code: exit status, -9 when it was killed}.

Forks, because a kill costs a fiftieth of a second then and not the start of Python.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

from canned_engine import CannedEngine

from ehrbench import engines

# Loaded once, so that a process begins to work at once.
LOADED = ("cli", "convert.semmeddb", "generate", "engines.openai_server")
EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}


def kill_group() -> None:
    """As `kill -9` does: no handler runs, nothing is flushed."""
    os.killpg(os.getpgrp(), signal.SIGKILL)


def watch(folders: list[str], at: int, delay_s: float, log: str) -> None:
    """Count the events of this process from now on and kill it at one of them."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    seen = 0
    main = threading.get_ident()

    def later() -> None:
        time.sleep(delay_s)
        kill_group()

    killer = threading.Thread(target=later, daemon=True)

    def hook(name: str, arguments: tuple) -> None:
        nonlocal seen
        if name not in EVENTS or threading.get_ident() != main:
            return
        paths = [os.fsdecode(a) for a in arguments if isinstance(a, str | bytes | os.PathLike)]
        if not any(path.startswith(folder) for path in paths for folder in folders):
            return
        seen += 1
        # The second name of `open` is its mode, of a renaming the new name.
        file = Path(paths[0 if name == "open" else -1]).name
        os.write(descriptor, f"{time.monotonic()}\t{name}\t{file}\n".encode())
        if seen == at:
            if delay_s:
                killer.start()
            else:
                kill_group()

    # A thread has its turn at the wanted moment, also while Python code runs.
    sys.setswitchinterval(1e-4)
    sys.addaudithook(hook)


def run(job: dict) -> None:
    """A job, in the fork; does not come back."""
    os.setsid()
    said = os.open(job["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ.update(job["settings"])
    code = 1
    try:
        watch(job["watch"], job["at"], job["delay_s"], job["log"])
        exec(job["code"], {})
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def serve() -> None:
    """One job after the other."""
    for module in LOADED:
        importlib.import_module(f"ehrbench.{module}")
    engines.register(
        "canned", lambda spec, options: CannedEngine(Path(os.environ["CANNED_LOG"]), 0.002)
    )
    for line in sys.stdin:
        job = json.loads(line)
        process = os.fork()
        if process == 0:
            run(job)
        status = os.waitpid(process, 0)[1]
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    serve()
