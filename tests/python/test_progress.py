"""Long work says how fast it goes and how long it will still take."""

import io
import json
from types import SimpleNamespace

import pytest

from ehrbench import dbt, pipeline, progress, synth
from ehrbench.convert import common


class Clock:
    """Seconds that pass only when told."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def monotonic(self):
        return self.now


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_999, "1.0 MB"),
     (12_345_678, "12.3 MB"), (2 * 10**9, "2.0 GB")],
)
def test_sizes_read_well(n, text):
    assert progress.size(n) == text


@pytest.mark.parametrize(
    ("unit", "total", "lines"),
    [
        ("texts", 40, ["job: 40 texts", "job: 10/40 (0.50/s, about 1 min 00 s left)",
                       "job: 40/40 in 40 s (1.00/s)"]),
        ("bytes", 4 * 10**7, ["job: 40.0 MB", "job: 10.0 MB of 40.0 MB (500.0 kB/s, "
                              "about 1 min 00 s left)", "job: 40.0 MB of 40.0 MB in 40 s (1.0 MB/s)"]),
    ],
)
def test_rate_and_time_left_in_the_unit_of_the_work(unit, total, lines, capsys):
    clock = Clock()
    with progress.Progress("job", total, unit, clock=clock) as bar:
        clock.now = 10.0
        bar.advance(total // 8)
        clock.now = 20.0
        bar.advance(total // 8)
        clock.now = 40.0
        bar.advance(total - 2 * (total // 8))
    assert capsys.readouterr().out.splitlines() == lines


def test_a_terminal_gets_a_bar(monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress.Progress("job", 2 * 10**6, "bytes") as bar:
        bar.advance(10**6)
        bar._bar.refresh()
        # What has to come again is told later.
        bar.total += 10**6
        bar.advance(0)
        assert bar._bar.tasks[0].total == bar.total
    assert "1.0 MB of 2.0 MB" in screen.getvalue() and "B/s" in screen.getvalue()


def test_a_conversion_says_how_long_it_will_still_take(monkeypatch, capsys):
    clock = Clock()
    monkeypatch.setattr(common, "time", clock)
    line = common.Line("pubmed", "articles")
    # Half was done by an earlier run, so it says nothing about this one's pace.
    line.show(0, 0.5)
    clock.now = 20.0
    line.show(100, 0.6)
    clock.now = 40.0
    line.show(200)
    assert capsys.readouterr().out.splitlines() == [
        "pubmed: 60 %, 100 articles (5/s, about 1 min 20 s left)",
        "pubmed: 200 articles (5/s)",
    ]


def test_the_share_of_a_file_that_was_read(tmp_path):
    file = tmp_path / "dump"
    file.write_bytes(b"x" * 1000)
    assert common.share_read(file) is None
    with file.open("rb", buffering=0) as handle:
        assert common.share_read(file) is None
        handle.read(250)
        assert common.share_read(file) == 0.25
    assert common.share_read(tmp_path / "none") is None


def test_synth_counts_every_patient_it_makes(tmp_path, capsys):
    assert synth.n_made(7) == 7 + 2 + 2
    pipeline.synthesise(7, out=tmp_path / "b")
    assert "synthetic data: 11/11 in " in capsys.readouterr().out
    manifest = json.loads((tmp_path / "b/MANIFEST.json").read_text(encoding="utf-8"))
    assert manifest["patients"] == 7


def test_dbt_builds_say_their_pace(monkeypatch, capsys):
    clock = Clock()
    monkeypatch.setattr(dbt, "time", clock)

    def lines():
        for number in (1, 20, 40):
            clock.now = float(number)
            yield f"08:00:00  {number} of 100 START sql table model main.m [RUN]\n"

    dbt._follow(SimpleNamespace(stdout=lines()), "dbt build")
    assert capsys.readouterr().out.splitlines() == [
        "dbt build: starting",
        "  20 of 100 (1.0/s, roughly 1 min 20 s left)",
        "  40 of 100 (1.0/s, roughly 1 min 00 s left)",
    ]
