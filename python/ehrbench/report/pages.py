"""The pages of the report: which query feeds which table and which figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ehrbench.report import answers, content
from ehrbench.report.columns import Context
from ehrbench.report.data import Data
from ehrbench.report.plots import Figure
from ehrbench.report.tables import Table


@dataclass(frozen=True)
class Page:
    """A page: its file, its name in the menu, what fills its template, and its heading."""

    name: str
    title: str
    fill: Callable[[Data, str], Context]
    heading: str = ""

    @property
    def file(self) -> str:
        return f"{self.name}.html"


def explorer(data: Data, policy: str) -> Context:
    """The audit explorer: everything in it is read from files beside the page."""
    return {"policy": policy}


PAGES = (
    Page("index", "Overview", content.overview),
    Page("leaderboard", "Leaderboard", answers.leaderboard),
    Page("accuracy", "Accuracy", answers.accuracy),
    Page("calibration", "Calibration", answers.calibration),
    Page("open", "Open-ended", answers.open_ended),
    Page("behaviour", "Behaviour", answers.behaviour),
    Page("yield", "Yield", content.yields),
    Page("cohort", "Cohort", content.cohort, "Cohort and codes"),
    Page("leakage", "Leakage", content.leakage),
    Page("published", "Published", answers.published, "Published figures and ours"),
    Page("build", "Build", content.build, "Build and runs"),
)
EXPLORER = Page("explorer", "Explorer", explorer, "Audit explorer")


def tables_and_figures(context: Context) -> tuple[list[Table], list[Figure]]:
    """What a page holds, in order."""
    values = context.values()
    return (
        [value for value in values if isinstance(value, Table)],
        [value for value in values if isinstance(value, Figure)],
    )
