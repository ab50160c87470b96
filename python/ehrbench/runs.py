"""The manifest of `ehrbench generate`: what each call ran on, how long it took, what it asked.

    <store>/runs/<model>/<run_id>.parquet     one row per mode that the call asked

The file is written anew with every shard, so a killed run leaves what it has done. It is the only
place of the store that knows the clock; no item, prompt or score reads it.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ehrbench import __version__, completions
from ehrbench.completions import RUN, RUNS
from ehrbench.engines import Completion, Engine, ModelSpec, Request


def now() -> datetime.datetime:
    """The time in UTC to the second, without a zone, as the store keeps it."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0, tzinfo=None)


@dataclass
class Counts:
    """What a run did in one mode; `busy_s` sums what its requests took, side by side or not."""

    n_asked: int = 0
    n_failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    busy_s: float = 0.0


class Run:
    """One call of `generate` on one stage and model.

    `work` is the folder whose lock the caller holds; `start_s` are the seconds that the engine
    took to start.
    """

    def __init__(
        self,
        store: Path,
        work: Path,
        stage: str,
        spec: ModelSpec,
        runner: Engine,
        started_at: datetime.datetime,
        start_s: float,
    ):
        self.folder = completions.model_dir(store, RUNS, spec.model)
        self.work, self.stage, self.spec, self.runner = work, stage, spec, runner
        self.started_at, self.start_s = started_at, start_s
        self.counts: dict[str, Counts] = {}
        self.wall_s = 0.0
        self.file: Path | None = None
        self._first = ""

    def follow(
        self, pairs: Iterator[tuple[Request, Completion]]
    ) -> Iterator[tuple[Request, Completion]]:
        """The pairs as they come, counted and timed."""
        since = time.monotonic()
        for request, completion in pairs:
            counts = self.counts.setdefault(request.mode, Counts())
            self.wall_s += time.monotonic() - since
            latency_s = (completion.latency_ms or 0) / 1000
            counts.busy_s += latency_s if completion.busy_s is None else completion.busy_s
            counts.n_asked += 1
            counts.n_failed += completion.error is not None
            counts.prompt_tokens += completion.prompt_tokens or 0
            counts.completion_tokens += completion.completion_tokens or 0
            self._first = self._first or f"{request.request_key}|{request.attempt}"
            yield request, completion
            # What the caller does with it is no time of the engine.
            since = time.monotonic()

    def wall_ms(self, mode: str) -> int:
        """A mode's share of the time waited for completions.

        Modes run side by side, so the time is split by what their requests took; the shares add
        up to the whole.
        """
        busy = sum(counts.busy_s for counts in self.counts.values())
        asked = sum(counts.n_asked for counts in self.counts.values())
        counts = self.counts[mode]
        share = counts.busy_s / busy if busy else counts.n_asked / asked
        return round(1000 * self.wall_s * share)

    def write(self) -> None:
        """Put what is done so far into the store."""
        if not self.counts:
            return
        if self.file is None:
            self.file = self._new_file()
        details = self.runner.details
        common = {
            **details,
            "run_id": self.file.stem,
            "stage": self.stage,
            "model": self.spec.model,
            "revision": self.spec.revision,
            "engine": self.runner.name,
            "python_version": platform.python_version(),
            "ehrbench_version": __version__,
            "parameters": json.dumps(details.get("parameters") or {}, sort_keys=True, default=str),
            "started_at": self.started_at,
            "ended_at": now(),
            "start_ms": round(1000 * self.start_s),
        }
        rows = [
            {
                **common,
                "mode": mode,
                "n_asked": counts.n_asked,
                "n_failed": counts.n_failed,
                "prompt_tokens": counts.prompt_tokens,
                "completion_tokens": counts.completion_tokens,
                "wall_ms": self.wall_ms(mode),
            }
            for mode, counts in sorted(self.counts.items())
        ]
        # Below the lock's folder a leftover is cleared; two stages of a model write side by side.
        temporary = self.work / ".run.tmp"
        completions.write_table(self.file, completions.to_table(rows, RUN), temporary)

    def _new_file(self) -> Path:
        """The run's file: a name of what was asked and the number of runs there are."""
        number = len(completions.shards(self.folder))
        while True:
            number += 1
            parts = (
                *(self.stage, self.spec.model, self.spec.revision, self.runner.name),
                *(self._first, str(number)),
            )
            file = self.folder / f"{hashlib.md5('|'.join(parts).encode()).hexdigest()}.parquet"
            if not file.exists():
                return file
