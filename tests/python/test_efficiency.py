"""Efficiency and parse failures on simulated runs with a known truth, and on nothing at all."""

import math

import duckdb
import numpy
import pandas
import pytest

STATUSES = ["parsed", "unparsed", "empty"]
CELL = {"model": "m", "mode": "free", "arm": "standard", "stage": "answers"}


def rows_of(sql, **tables):
    """Rows of a compiled model on data frames, as dicts."""
    with duckdb.connect() as connection:
        for name, frame in tables.items():
            connection.register(f"{name}_frame", frame)
            connection.execute(f"create table {name} as select * from {name}_frame")
        return connection.execute(sql).fetch_df().to_dict("records")


# --------------------------------------------------------------------------- parse failures


def replies(rng, n):
    """n replies about templates of 40 persons and 15 answers; a person's fail alike."""
    person, answer = rng.integers(0, 40, n), rng.integers(0, 15, n)
    failing = rng.random(40)[person] * 0.5 + rng.random(15)[answer] * 0.3
    drawn = rng.random(n)
    status = numpy.where(drawn < failing, "unparsed", "parsed")
    return pandas.DataFrame(
        {
            **{name: [value] * n for name, value in CELL.items()},
            "request_key": [f"r{i:05}" for i in range(n)],
            "template_key": [f"t{i % 97}" for i in range(n)],
            "person_group": [f"p{one}" for one in person],
            "answer_cui_id": answer.astype("int64"),
            "parse_status": status,
        }
    )


def parse_tables(scores, asked):
    return {
        "fct_responses": scores[["request_key", "parse_status"]],
        "fct_scores": scores.drop(columns="parse_status"),
        "int_pooled_requests": asked,
        "parse_statuses": pandas.DataFrame(
            {
                "parse_status": STATUSES,
                "status_rank": range(1, len(STATUSES) + 1),
                "is_failure": [status != "parsed" for status in STATUSES],
            }
        ),
    }


def two_way_error(frame, hits):
    """Cameron, Gelbach and Miller's error of a mean, with g / (g - 1) per kind of cluster."""
    moves, n = hits - hits.mean(), len(hits)

    def variance(keys):
        sums = pandas.Series(moves).groupby([frame[key].to_numpy() for key in keys]).sum()
        return len(sums) / (len(sums) - 1) * (sums**2).sum() / n**2

    persons, answers = variance(["person_group"]), variance(["answer_cui_id"])
    both = variance(["person_group", "answer_cui_id"])
    return math.sqrt(max(persons, answers, persons + answers - both))


def test_rates_and_errors_are_those_of_numpy(unqualified):
    frame = replies(numpy.random.default_rng(5), 900)
    asked = pandas.concat([frame, frame.head(30).assign(request_key="x")])
    rows = rows_of(unqualified["rpt_parse_failures"], **parse_tables(frame, asked))
    found = {row["parse_status"]: row for row in rows}
    assert set(found) == set(STATUSES)
    for status in ("parsed", "unparsed"):
        hits = (frame["parse_status"] == status).to_numpy(dtype=float)
        error = two_way_error(frame, hits)
        row = found[status]
        assert (row["n"], row["n_asked"], row["n_with_status"]) == (900, 930, hits.sum())
        assert float(row["rate"]) == pytest.approx(hits.mean(), abs=6e-7)
        assert float(row["rate_low"]) == pytest.approx(hits.mean() - 1.96 * error, abs=6e-7)
        assert float(row["rate_high"]) == pytest.approx(hits.mean() + 1.96 * error, abs=6e-7)
    persons = frame["person_group"].nunique()
    never = found["empty"]
    assert never["n_with_status"] == 0 and never["rate"] == 0
    assert float(never["rate_high"]) == pytest.approx(1.96**2 / (persons + 1.96**2), abs=2e-6)


def test_parse_failures_of_nothing(unqualified):
    frame = replies(numpy.random.default_rng(1), 3)
    sql = unqualified["rpt_parse_failures"]
    rows = rows_of(sql, **parse_tables(frame.head(0), frame))
    assert [(row["n"], row["n_asked"], row["status"]) for row in rows] == [
        (0, 3, "not_estimable")
    ] * len(STATUSES)
    assert all(pandas.isna(row["rate"]) for row in rows)
    assert rows_of(sql, **parse_tables(frame.head(0), frame.head(0))) == []


# ------------------------------------------------------------------------------- efficiency


def efficiency_tables(models, latencies, runs):
    """Requests of `models`, one per latency (an array per model), and runs (a frame)."""
    pairs = zip(models, latencies, strict=True)
    keys = [(model, i) for model, values in pairs for i in range(len(values))]
    requests = pandas.DataFrame(
        {
            "request_key": pandas.Series([f"{model}|{i}" for model, i in keys], dtype="str"),
            "model": pandas.Series([model for model, _ in keys], dtype="str"),
        }
    ).assign(mode="choice", stage="answers", revision="1", engine="vllm")
    values = numpy.concatenate([*latencies, numpy.array([])]).astype("int64")
    return {
        "fct_requests": requests,
        "int_completions_latest": pandas.DataFrame(
            {"request_key": requests["request_key"], "latency_ms": values, "is_success": True}
        ),
        "int_runs_checked": runs.assign(
            **{"mode": "choice", "stage": "answers", "revision": "1", "device": "cpu"},
            **{"engine_version": "1", "n_failed": 0},
            set_aside_reason=pandas.Series(dtype="str"),
        ),
    }


def simulated_runs(rng, models, n_runs):
    """Runs of very different length that make 3 requests and 300 tokens a second."""
    rows = []
    for model in models:
        for run in range(n_runs):
            asked = int(rng.integers(20, 400))
            wall = asked / 3 * rng.uniform(0.6, 1.4)
            rows.append((f"{model}{run}", model, asked, 90 * asked, 10 * asked, round(1000 * wall)))
    columns = ["run_id", "model", "n_asked", "prompt_tokens", "completion_tokens", "wall_ms"]
    return pandas.DataFrame(rows, columns=columns)


def test_rates_are_ratios_with_runs_as_clusters(unqualified):
    rng = numpy.random.default_rng(3)
    runs = simulated_runs(rng, ["m"], 9)
    tables = efficiency_tables(["m"], [rng.exponential(500, 40)], runs)
    (row,) = rows_of(unqualified["rpt_efficiency"], **tables)
    work, wall = runs["n_asked"].to_numpy(float), runs["wall_ms"].to_numpy(float) / 1000
    rate = work.sum() / wall.sum()
    error = math.sqrt(9 / 8 * ((work - rate * wall) ** 2).sum()) / wall.sum()
    assert row["n_runs"] == 9 and float(row["wall_s"]) == pytest.approx(wall.sum(), abs=1e-3)
    for end, value in (("", rate), ("_low", rate - 1.96 * error), ("_high", rate + 1.96 * error)):
        assert float(row[f"items_per_s{end}"]) == pytest.approx(value, abs=6e-5)
        assert float(row[f"tokens_per_s{end}"]) == pytest.approx(100 * value, abs=6e-5)


def test_intervals_hold_the_truth_as_often_as_they_say(unqualified):
    rng = numpy.random.default_rng(11)
    models = [f"m{i}" for i in range(400)]
    latencies = [rng.exponential(100_000, 80) for _ in models]
    tables = efficiency_tables(models, latencies, simulated_runs(rng, models, 20))
    rows = rows_of(unqualified["rpt_efficiency"], **tables)
    assert len(rows) == 400
    held = {
        "items": [row["items_per_s_low"] <= 3 <= row["items_per_s_high"] for row in rows],
        "p50": [
            row["latency_p50_low_ms"] <= 100_000 * math.log(2) <= row["latency_p50_high_ms"]
            for row in rows
        ],
    }
    for name, hits in held.items():
        # 95 per cent, less what a normal quantile loses with 20 runs, within 3 errors of 400 draws.
        assert 0.89 <= numpy.mean(hits) <= 0.99, name
    pairs = zip(models, latencies, strict=True)
    medians = {model: sorted(one.astype("int64"))[39] for model, one in pairs}
    assert {row["model"]: row["latency_p50_ms"] for row in rows} == medians


def test_efficiency_of_nothing(unqualified):
    sql = unqualified["rpt_efficiency"]
    runs = simulated_runs(numpy.random.default_rng(1), [], 0)
    tables = efficiency_tables(["m"], [numpy.array([5.0])], runs)
    (row,) = rows_of(sql, **tables)
    assert (row["n"], row["n_runs"], row["latency_p50_low_ms"]) == (1, 0, 5)
    assert pandas.isna(row["wall_s"]) and pandas.isna(row["items_per_s"])
    tables["int_completions_latest"] = tables["int_completions_latest"].head(0)
    (row,) = rows_of(sql, **tables)
    assert (row["n"], row["n_asked"], row["n_latencies"]) == (0, 1, 0)
    assert rows_of(sql, **{**tables, "fct_requests": tables["fct_requests"].head(0)}) == []
