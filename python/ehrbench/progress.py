"""What a run shows while it works: a bar on a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console

from ehrbench.text import visible

PLAIN_EVERY_S = 15.0


def console(stderr: bool = False) -> Console:
    """A console that never wraps what is piped into a file and reads no mark-up in text."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 120
    return Console(
        file=stream,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not stream.isatty(),
    )


def say(text: str) -> None:
    """One plain line, at once; what would act on a terminal is written as its code."""
    print(visible(text), flush=True)


def duration(seconds: float) -> str:
    """Seconds as `7 s`, `3 min 05 s` or `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(n: float) -> str:
    """A number of bytes as `512 B`, `1.5 MB` or `2.0 GB` (powers of ten)."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        # What would be rounded up to 1,000 of a unit is 1 of the next.
        if n >= factor * 0.99995:
            return f"{n / factor:.1f} {unit}"
    return f"{n:.0f} B"


class Progress:
    """Counts `total` steps under one label; prints rate and time left.

    `unit` names the steps; `bytes` are written as MB. Use as a context manager and call
    `advance(n)`. On a terminal it is a bar; otherwise a line at the start, one at most every 15
    seconds, and one at the end.
    """

    def __init__(
        self,
        label: str,
        total: int,
        unit: str = "requests",
        clock: Callable[[], float] = time.monotonic,
    ):
        self.label, self.total, self.unit, self.clock = label, total, unit, clock
        self.done = self.failed = 0
        self.started = self.last_line = clock()
        self._bar = None

    def __enter__(self) -> Progress:
        if sys.stdout.isatty():
            from rich import progress as bars

            self._bar = bars.Progress(
                bars.TextColumn("{task.description}"),
                bars.BarColumn(),
                bars.TextColumn("{task.fields[done]}"),
                bars.TextColumn("{task.fields[rate]}"),
                bars.TimeRemainingColumn(),
                console=console(),
            )
            self._bar.start()
            self._task = self._bar.add_task(
                self.label, total=self.total, done=self._of_total(), rate=""
            )
        else:
            say(f"{self.label}: {self._count(self.total)}")
        return self

    def advance(self, done: int, failed: int = 0) -> None:
        """Count `done` more steps, of which `failed` ended in an error."""
        self.done += done
        self.failed += failed
        if self._bar is not None:
            self._bar.update(
                self._task,
                total=self.total,
                advance=done,
                done=self._of_total(),
                rate=self._rate_text(),
            )
        elif self.clock() - self.last_line >= PLAIN_EVERY_S and self.done < self.total:
            self.last_line = self.clock()
            left = (self.total - self.done) / self.rate() if self.rate() else 0.0
            say(
                f"{self.label}: {self._of_total()}"
                f" ({self._rate_text()}, about {duration(left)} left)"
            )

    def _count(self, n: int) -> str:
        return size(n) if self.unit == "bytes" else f"{n} {self.unit}"

    def _of_total(self) -> str:
        if self.unit == "bytes":
            return f"{size(self.done)} of {size(self.total)}"
        return f"{self.done}/{self.total}"

    def _rate_text(self) -> str:
        return f"{size(self.rate())}/s" if self.unit == "bytes" else f"{self.rate():.2f}/s"

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
        say(f"{self.label}: {self._of_total()} in {took} ({self._rate_text()}){failed}")
