"""What holds for every report of models/marts/evaluation, whatever it reports.

Read from the contracts and from the synthetic build, so that a new report is held to it unasked.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import yaml

ROOT = Path(__file__).parents[2]
VARS = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))["vars"]
REPORTS = {
    model["name"]: [column["name"] for column in model["columns"]]
    for file in sorted((ROOT / "models" / "marts" / "evaluation").glob("_*__models.yml"))
    for model in yaml.safe_load(file.read_text("utf-8"))["models"]
    if model["name"].startswith("rpt_")
}

# Report -> why it does not say n and n_asked.
OTHER_COUNTS = {
    "rpt_canary": "the line of text that marks a release",
    "rpt_missing_completions": "counts what is asked by what has become of it",
    "rpt_power": "plans on the subset, before anything is asked",
    "rpt_source_consistency": "n_first and n_asked_first, n_second and n_asked_second",
}
# Decimals that are no figure of the answers: they stand where a cell is not estimable, too.
NO_FIGURES = {
    ("rpt_accuracy", "chance"), ("rpt_position_bias", "uniform"),
    ("rpt_calibration_bins", "confidence_from"), ("rpt_calibration_bins", "confidence_to"),
}
# What a figure can be, where that is not 0 to 1; those of a column estimate by their name.
DIFFERENCE, RANK, AMOUNT, ANY = (-1, 1), (1, 1e9), (0, 1e12), (-1e12, 1e12)
CHANCE = -1 / (min(VARS["item_option_counts"]) - 1) - 1e-6
DOMAINS = {
    ("rpt_calibration", "overconfidence"): DIFFERENCE, ("rpt_context_size", "change"): DIFFERENCE,
    ("rpt_item_analysis", "discrimination"): DIFFERENCE,
    ("rpt_item_summary", "kr20"): (-999, 1), ("rpt_leaderboard", "average_rank"): RANK,
    ("rpt_leaderboard", "chance_corrected"): (CHANCE, 1), ("rpt_leaderboard", "icc_template"): DIFFERENCE,
    ("rpt_model_differences", "difference"): DIFFERENCE, ("rpt_option_probe", "gap"): (-1, 1.2),
    ("rpt_option_probe", "expected"): (-0.2, 1), ("rpt_over_baseline", "difference"): DIFFERENCE,
    ("rpt_source_consistency", "difference"): DIFFERENCE, ("rpt_subgroups", "gap"): DIFFERENCE,
    ("rpt_efficiency", "items_per_s"): AMOUNT, ("rpt_efficiency", "tokens_per_s"): AMOUNT,
    ("rpt_open_ended", "mean_words"): AMOUNT, ("rpt_open_ended", "mean_answers_named"): AMOUNT,
    ("rpt_published_results", "ours"): AMOUNT,
}
FIGURES = {
    "debiasing_gain": DIFFERENCE, "later_less_earlier": DIFFERENCE, "twin_less_chance": DIFFERENCE,
    "twin_less_choices_only": DIFFERENCE, "twin_less_standard": DIFFERENCE, "slope_per_tenfold": ANY,
    "enrichment": AMOUNT, "rstd": (0, 0.5), "accuracy_sd": (0, 0.71), "variance_item": (-0.5, 0.5),
    "variance_run": (-0.5, 0.5), "variance_residual": (0, 0.5),
    **{f"penalty_{cost}": (CHANCE if cost == "chance" else -cost, 1) for cost in VARS["abstention_penalties"]},
}


@pytest.fixture(scope="module")
def built(synthetic_build):
    with duckdb.connect(str(synthetic_build.database), read_only=True) as connection:
        yield connection


def decimals(connection, report):
    """Columns that hold figures."""
    found = connection.execute(
        "select column_name from information_schema.columns where table_name = ? and data_type like 'DECIMAL%'",
        [report]).fetchall()
    return [name for (name,) in found]


def count(connection, report, condition):
    return connection.execute(f"select count(*) from {report} where {condition}").fetchone()[0]


def test_every_report_says_how_much_was_asked():
    lacking = {name for name, columns in REPORTS.items() if not {"n", "n_asked"} <= set(columns)}
    assert lacking == set(OTHER_COUNTS)


@pytest.mark.parametrize("report", sorted(set(REPORTS) - set(OTHER_COUNTS)))
def test_no_more_is_answered_than_is_asked(built, report):
    assert count(built, report, "n is null or n_asked is null or n > n_asked") == 0


@pytest.mark.parametrize("report", sorted(name for name, columns in REPORTS.items() if "status" in str(columns)))
def test_what_is_not_estimable_shows_no_figure(built, report):
    names, figures = REPORTS[report], decimals(built, report)
    statuses = [name for name in names if name == "status" or name.endswith("_status")]
    for status in statuses:
        figure = status.removesuffix("_status")
        shown = [name for name in figures
                 if (report, name) not in NO_FIGURES
                 and (status == "status" or name in (figure, f"{figure}_low", f"{figure}_high"))]
        hidden = "', '".join(("not_estimable", "not_assessed"))
        condition = " or ".join(f"{name} is not null" for name in shown)
        assert not shown or count(built, report, f"{status} in ('{hidden}') and ({condition})") == 0


@pytest.mark.parametrize("report", sorted(name for name, columns in REPORTS.items() if "_low" in str(columns)))
def test_intervals_hold_their_figure_and_are_possible(built, report):
    for name in decimals(built, report):
        if f"{name}_low" not in REPORTS[report]:
            continue
        lowest, highest = DOMAINS.get((report, name), (0, 1))
        ends = [str(lowest), str(highest)]
        if name == "estimate":
            cases = [[f"when {figure!r} then {value[side]}" for figure, value in FIGURES.items()] for side in (0, 1)]
            ends = [f"case figure {' '.join(cases[side])} else {side} end" for side in (0, 1)]
        low, high = f"{name}_low", f"{name}_high"
        assert count(built, report, f"{low} < {ends[0]} or {high} > {ends[1]}") == 0, name
        assert count(built, report, f"{name} < {low} or {name} > {high}") == 0, name
        lone = f"({low} is null) <> ({high} is null) or ({name} is null and {low} is not null)"
        assert count(built, report, lone) == 0, name
