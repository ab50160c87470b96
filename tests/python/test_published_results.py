"""Every figure that was published finds its counterpart among our reports."""

import csv
from pathlib import Path

import duckdb
import pandas

ROOT = Path(__file__).parents[2]
FIGURES = [
    "overall", "dx", "tx", "px", "acc_4", "acc_5", "acc_6", "parse_failure_rate", "average_rank",
]


def seed(name: str) -> pandas.DataFrame:
    with (ROOT / "seeds" / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    return pandas.DataFrame(rows).replace({"": None})


def bounded(*names: str) -> dict[str, float]:
    """A figure of 0.5 with its interval, under each name."""
    ends = {"": 0.5, "_low": 0.4, "_high": 0.6}
    return {f"{name}{end}": value for name in names for end, value in ends.items()}


def reports(models: list[str]) -> dict[str, pandas.DataFrame]:
    """Our reports as they are when every model has answered everything."""
    counts = {"n": 9, "n_asked": 10}
    return {
        "rpt_leaderboard": [
            {"model": model, "mode": "choice", **counts, **bounded(*FIGURES)} for model in models],
        "int_leaderboard_figures": [
            {"model": model, "mode": "choice", "figure": "overall", **counts} for model in models],
        "rpt_option_probe": [
            {"model": model, "mode": "choice", "scope": "overall", "n_options": k, **counts,
             **bounded("expected")} for model in models for k in (5, 6)],
        "rpt_open_ended": [
            {"model": model, "task": "all", **counts, **bounded("rc_relation", "bertscore")}
            for model in models],
        "rpt_rank_agreement": [
            {"mode": "choice", "kind": "generator", "scope": "all", "n_models": 9, **bounded("w")}],
    }


def test_every_published_figure_has_one_of_ours(unqualified):
    published = seed("published_results").astype({"value": float})
    models = seed("models")
    asked = sorted({*published["model"].dropna(), "SmolLM2-135M-Instruct", "random"})
    with duckdb.connect() as connection:
        tables = {**reports(asked), "published_results": published, "models": models}
        for name, rows in tables.items():
            connection.register(f"{name}_frame", pandas.DataFrame(rows))
            connection.execute(f"create table {name} as select * from {name}_frame")
        found = connection.execute(unqualified["rpt_published_results"]).fetch_df()
    lonely = found[found["ours"].isna()]
    assert sorted(set(lonely["figure"])) == []
    assert len(found.groupby(["model_published", "item_set", "figure"])) == len(published)
    over_all = found[found["model_published"] == "mean of 31 models"]
    assert "random" not in set(over_all["model"])
    assert "SmolLM2-135M-Instruct" in set(over_all["model"])
