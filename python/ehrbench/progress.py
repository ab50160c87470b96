"""What a run shows while it works: a bar on a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console

PLAIN_EVERY_S = 15.0


def console(stderr: bool = False) -> Console:
    """A console that never wraps what is piped into a file."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 120
    return Console(file=stream, width=width, highlight=False, soft_wrap=not stream.isatty())


def say(text: str) -> None:
    """One plain line, at once."""
    print(text, flush=True)


def duration(seconds: float) -> str:
    """Seconds as `7 s`, `3 min 05 s` or `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class Progress:
    """Counts `total` steps under one label; prints rate and time left.

    Use as a context manager and call `advance(n)`. On a terminal it is a bar; otherwise a line
    at the start, one at most every 15 seconds, and one at the end.
    """

    def __init__(self, label: str, total: int, clock: Callable[[], float] = time.monotonic):
        self.label, self.total, self.clock = label, total, clock
        self.done = self.failed = 0
        self.started = self.last_line = clock()
        self._bar = None

    def __enter__(self) -> Progress:
        if sys.stdout.isatty():
            from rich import progress as bars

            self._bar = bars.Progress(
                bars.TextColumn("{task.description}"),
                bars.BarColumn(),
                bars.MofNCompleteColumn(),
                bars.TextColumn("{task.fields[rate]}"),
                bars.TimeRemainingColumn(),
                console=console(),
            )
            self._bar.start()
            self._task = self._bar.add_task(self.label, total=self.total, rate="")
        else:
            say(f"{self.label}: {self.total} requests")
        return self

    def advance(self, done: int, failed: int = 0) -> None:
        """Count `done` more steps, of which `failed` ended in an error."""
        self.done += done
        self.failed += failed
        if self._bar is not None:
            self._bar.update(self._task, advance=done, rate=f"{self.rate():.2f}/s")
        elif self.clock() - self.last_line >= PLAIN_EVERY_S and self.done < self.total:
            self.last_line = self.clock()
            left = (self.total - self.done) / self.rate() if self.rate() else 0.0
            say(
                f"{self.label}: {self.done}/{self.total}"
                f" ({self.rate():.2f}/s, about {duration(left)} left)"
            )

    def rate(self) -> float:
        """Steps per second so far."""
        elapsed = self.clock() - self.started
        return self.done / elapsed if elapsed > 0 else 0.0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        failed = f", {self.failed} failed" if self.failed else ""
        took = duration(self.clock() - self.started)
        say(f"{self.label}: {self.done}/{self.total} in {took} ({self.rate():.2f}/s){failed}")
