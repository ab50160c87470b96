"""Figures of a page, as Plotly's JSON.

Colours are names (@0, @good) that the page fills in by its theme.

A figure has views: one per combination of its choices (policy, source, task), switched on the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ehrbench.report import words
from ehrbench.report.data import HIDDEN, Row
from ehrbench.report.text import in_plot

COLOURS = 8
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
ROW = 26


@dataclass
class Choice:
    """One choice above a figure: its values in order; the first, or `start`, is shown."""

    label: str
    values: list[tuple[str, str]]
    start: str


@dataclass
class Figure:
    """A figure of one or more views; without views it says `empty`."""

    id: str
    title: str
    empty: str
    note: str = ""
    choices: list[Choice] = field(default_factory=list)
    views: dict[str, dict] = field(default_factory=dict)


def figure(
    id: str,
    title: str,
    rows: list[Row],
    draw,
    empty: str,
    by: tuple[tuple[str, str, str | None], ...] = (),
    note: str = "",
) -> Figure:
    """A figure whose views are the groups of `rows` by the columns in `by`.

    `by` holds (column, label, value shown first); `draw` makes {data, layout} of a view's rows, or
    None where nothing can be drawn.
    """
    views: dict[str, dict] = {}
    seen: list[dict[str, str]] = [{} for _ in by]
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column, _, _ in by), []).append(row)
    for group, members in groups.items():
        drawn = draw(members)
        if drawn is None:
            continue
        views["|".join(map(str, group))] = drawn
        for place, value in enumerate(group):
            seen[place].setdefault(str(value), words.say(value))
    choices = [
        Choice(
            label,
            list(found.items()),
            start if start in found else next(iter(found), ""),
        )
        for (_, label, start), found in zip(by, seen, strict=True)
    ]
    return Figure(id, title, empty, note, choices, views)


def shown(rows: Iterable[Row], *columns: str) -> list[Row]:
    """Rows whose columns all hold a number that may be shown."""
    return [
        row
        for row in rows
        if all(row.get(column) is not None and row.get(column) is not HIDDEN for column in columns)
    ]


def colour(place: int) -> str:
    """Name of the colour of the n-th series."""
    return f"@{place % COLOURS}"


def errors(rows: list[Row], name: str, axis: str) -> dict:
    """Error bars of a figure with _low and _high, along `axis` (x or y)."""
    high = [row.get(f"{name}_high") for row in rows]
    low = [row.get(f"{name}_low") for row in rows]
    middle = [row[name] for row in rows]
    return {
        f"error_{axis}": {
            "type": "data",
            "symmetric": False,
            "array": [
                None if top is None else round(100 * (top - centre), 4)
                for top, centre in zip(high, middle, strict=True)
            ],
            "arrayminus": [
                None if bottom is None else round(100 * (centre - bottom), 4)
                for bottom, centre in zip(low, middle, strict=True)
            ],
            "thickness": 1.5,
            "width": 3,
        }
    }


def forest(
    rows: list[Row],
    name: str,
    label: str,
    axis: str,
    series: str | None = None,
    reference: str | None = None,
) -> dict | None:
    """Shares as dots with intervals: a line per value of `label`, a colour per one of `series`."""
    rows = shown(rows, name)
    if not rows:
        return None
    lines = list(dict.fromkeys(row[label] for row in rows))
    place = {line: len(lines) - 1 - number for number, line in enumerate(lines)}
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(words.say(row[series]) if series else "", []).append(row)
    count = len(groups)
    data = []
    for number, (group, members) in enumerate(groups.items()):
        # Series of one line stand below each other instead of on each other.
        shift = 0 if count == 1 else 0.56 * (0.5 - number / (count - 1))
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": in_plot(group),
                "x": [round(100 * row[name], 4) for row in members],
                "y": [round(place[row[label]] + shift, 3) for row in members],
                "text": [in_plot(row[label]) for row in members],
                "customdata": [range_text(row, name) for row in members],
                "hovertemplate": "%{text}<br>%{customdata}<extra>" + in_plot(group) + "</extra>",
                "marker": {"size": 8, "color": colour(number), "symbol": SYMBOLS[number % 8]},
                **errors(members, name, "x"),
            }
        )
        data[-1]["error_x"]["color"] = colour(number)
    shapes = []
    if reference is not None:
        marks = sorted({row[reference] for row in shown(rows, reference)})
        shapes = [
            {
                "type": "line",
                "xref": "x",
                "yref": "paper",
                "x0": 100 * mark,
                "x1": 100 * mark,
                "y0": 0,
                "y1": 1,
                "line": {"color": "@muted", "width": 1, "dash": "dot"},
            }
            for mark in marks
        ]
    return {
        "data": data,
        "layout": {
            "height": 110 + len(lines) * max(ROW, 12 * count) + (20 if count > 1 else 0),
            "xaxis": {"title": {"text": axis}, "zeroline": False, "range": [-1, 101]},
            "yaxis": {
                "tickvals": list(place.values()),
                "ticktext": [in_plot(line) for line in place],
                "range": [-0.7, len(lines) - 0.3],
                "automargin": True,
            },
            "showlegend": count > 1,
            "shapes": shapes,
        },
    }


def range_text(row: Row, name: str) -> str:
    """A share with its interval and its numbers, for a label that appears on pointing."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    text = f"{100 * row[name]:.3g}"
    if low is not None and high is not None:
        text += f" ({100 * low:.3g} to {100 * high:.3g})"
    if row.get("n") not in (None, HIDDEN):
        text += f", n {row['n']:,}"
    return text


def ranks(rows: list[Row]) -> dict | None:
    """Rank of each model of one mode, with its interval as a bar."""
    rows = shown(rows, "rank", "rank_low", "rank_high")
    if len(rows) < 2:
        return None
    labels = [in_plot(row["model"] + " (baseline)" * bool(row["is_baseline"])) for row in rows]
    worst = max(row["rank_high"] for row in rows)
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": labels,
                "base": [row["rank_low"] - 0.12 for row in rows],
                "x": [row["rank_high"] - row["rank_low"] + 0.24 for row in rows],
                "marker": {"color": "@bar"},
                "width": 0.5,
                "name": "95 % interval",
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "mode": "markers",
                "y": labels,
                "x": [row["rank"] for row in rows],
                "marker": {"color": "@text", "size": 10},
                "name": "rank",
                "customdata": [
                    f"rank {row['rank']} ({row['rank_low']} to {row['rank_high']})" for row in rows
                ],
                "hovertemplate": "%{y}<br>%{customdata}<extra></extra>",
            },
        ],
        "layout": {
            "height": 120 + ROW * len(rows),
            "xaxis": {
                "title": {"text": "rank, 1 is best"},
                "range": [0.6, worst + 0.4],
                "dtick": 1 if worst <= 20 else 5,
            },
            "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
            "showlegend": False,
        },
    }


def calibration(rows: list[Row]) -> dict | None:
    """Accuracy over confidence in bins, a line per model, beside the diagonal."""
    rows = shown(rows, "mean_confidence", "accuracy")
    if not rows:
        return None
    models: dict[str, list[Row]] = {}
    for row in rows:
        models.setdefault(row["model"], []).append(row)
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [0, 100],
            "y": [0, 100],
            "line": {"color": "@muted", "dash": "dot", "width": 1},
            "name": "calibrated",
            "hoverinfo": "skip",
        }
    ]
    for number, (model, members) in enumerate(models.items()):
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": in_plot(model),
                "x": [round(100 * row["mean_confidence"], 3) for row in members],
                "y": [round(100 * row["accuracy"], 3) for row in members],
                "customdata": [range_text(row, "accuracy") for row in members],
                "hovertemplate": "confidence %{x:.1f} %<br>right %{customdata} %"
                "<extra>" + in_plot(model) + "</extra>",
                "line": {"color": colour(number), "width": 1.5},
                "marker": {"size": 8, "color": colour(number), "symbol": SYMBOLS[number % 8]},
                **errors(members, "accuracy", "y"),
            }
        )
        data[-1]["error_y"]["color"] = colour(number)
    return {
        "data": data,
        "layout": {
            "height": 440,
            "xaxis": {"title": {"text": "confidence, %"}, "range": [-2, 102]},
            "yaxis": {"title": {"text": "right, %"}, "range": [-2, 102]},
            "showlegend": True,
        },
    }


def stacked(
    rows: list[Row],
    parts: list[tuple[str, str, str]],
    label,
    axis: str,
    total: str | None,
) -> dict | None:
    """Horizontal bars of parts (column, name, colour), as shares of `total` or as counts."""
    names = [total] if total else [column for column, _, _ in parts]
    rows = [row for row in rows if any(row.get(name) not in (None, 0, HIDDEN) for name in names)]
    if not rows:
        return None
    labels = [in_plot(label(row)) for row in rows]

    def counts_of(column: str) -> list[float]:
        return [0 if row.get(column) in (None, HIDDEN) else row[column] for row in rows]

    # Rounded parts can be more than their rounded whole.
    sums = map(sum, zip(*(counts_of(column) for column, _, _ in parts), strict=True))
    wholes = [
        max(row[total], parted) if total else 0 for row, parted in zip(rows, sums, strict=True)
    ]
    data = []
    for column, name, paint in parts:
        counts = counts_of(column)
        if not any(counts):
            continue
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": in_plot(name),
                "y": labels,
                "x": [
                    round(100 * count / whole, 3) if total else count
                    for count, whole in zip(counts, wholes, strict=True)
                ],
                "customdata": [f"{count:,}" for count in counts],
                "hovertemplate": "%{y}<br>%{customdata} " + in_plot(name) + "<extra></extra>",
                "marker": {"color": paint, "line": {"color": "@surface", "width": 1}},
            }
        )
    if not data:
        return None
    return {
        "data": data,
        "layout": {
            "height": 150 + 34 * len(rows),
            "barmode": "stack",
            "xaxis": {"title": {"text": axis}, **({"range": [0, 100]} if total else {})},
            "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
            "showlegend": True,
        },
    }


def steps(rows: list[Row]) -> dict | None:
    """What is left after each step, as bars in order."""
    rows = shown(rows, "n")
    if not any(row["n"] for row in rows):
        return None
    # Two steps may have one name in different units.
    labels = [in_plot(row["step"]) for row in rows]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": list(range(len(rows))),
                "x": [row["n"] for row in rows],
                "text": [f"{row['n']:,}" for row in rows],
                "textposition": "auto",
                "cliponaxis": False,
                "hoverinfo": "skip",
                "marker": {"color": "@0"},
            }
        ],
        "layout": {
            "height": 110 + ROW * len(rows),
            "xaxis": {"title": {"text": in_plot(rows[0]["unit"])}, "rangemode": "tozero"},
            "yaxis": {
                "autorange": "reversed",
                "automargin": True,
                "tickvals": list(range(len(rows))),
                "ticktext": labels,
            },
            "showlegend": False,
        },
    }


def lines(
    rows: list[Row], x: str, name: str, series: str, x_axis: str, y_axis: str
) -> dict | None:
    """A figure in per cent over a whole number, with intervals, a line per value of `series`."""
    rows = shown(rows, x, name)
    if not rows:
        return None
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[series], []).append(row)
    count = len(groups)
    data = []
    for number, (group, members) in enumerate(groups.items()):
        # Intervals of several series stand beside each other.
        shift = 0.06 * (number - (count - 1) / 2)
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": in_plot(words.say(group)),
                "x": [round(row[x] + shift, 3) for row in members],
                "y": [round(100 * row[name], 3) for row in members],
                "text": [str(row[x]) for row in members],
                "customdata": [range_text(row, name) for row in members],
                "hovertemplate": "%{text} " + in_plot(x_axis) + "<br>%{customdata}"
                "<extra>%{fullData.name}</extra>",
                "line": {"color": colour(number), "width": 1.5},
                "marker": {"size": 8, "color": colour(number), "symbol": SYMBOLS[number % 8]},
                **errors(members, name, "y"),
            }
        )
        data[-1]["error_y"]["color"] = colour(number)
    values = sorted({row[x] for row in rows})
    return {
        "data": data,
        "layout": {
            "height": 380,
            "xaxis": {
                "title": {"text": in_plot(x_axis)},
                "tickvals": values,
                "range": [values[0] - 0.4, values[-1] + 0.4],
            },
            "yaxis": {"title": {"text": in_plot(y_axis)}, "range": [-2, 102]},
            "showlegend": True,
        },
    }


def beside(rows: list[Row]) -> dict | None:
    """Published shares beside ours, a line per model of the paper."""
    rows = shown(rows, "theirs")
    if not rows:
        return None
    labels = list(dict.fromkeys(row["model_published"] for row in rows))
    place = {label: len(labels) - 1 - number for number, label in enumerate(labels)}
    theirs = {row["model_published"]: row for row in rows}.values()
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "theirs",
            "x": [round(100 * row["theirs"], 3) for row in theirs],
            "y": [place[row["model_published"]] for row in theirs],
            "text": [in_plot(row["model_published"]) for row in theirs],
            "hovertemplate": "%{text}<br>theirs %{x:.1f} %<extra></extra>",
            "marker": {"size": 10, "color": "@1", "symbol": "diamond-open"},
        },
    ]
    ours = shown(rows, "ours")
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "ours",
            "x": [round(100 * row["ours"], 3) for row in ours],
            "y": [round(place[row["model_published"]] - 0.16, 3) for row in ours],
            "text": [in_plot(row["model"]) for row in ours],
            "customdata": [range_text(row, "ours") for row in ours],
            "hovertemplate": "%{text}<br>ours %{customdata} %<extra></extra>",
            "marker": {"size": 8, "color": "@0"},
            **errors(ours, "ours", "x"),
        }
    )
    data[-1]["error_x"]["color"] = "@0"
    return {
        "data": data,
        "layout": {
            "height": 130 + ROW * len(labels),
            "xaxis": {"title": {"text": "%"}, "range": [-1, 101]},
            "yaxis": {
                "tickvals": list(place.values()),
                "ticktext": [in_plot(label) for label in place],
                "range": [-0.7, len(labels) - 0.3],
                "automargin": True,
            },
            "showlegend": True,
        },
    }


def sweep(rows: list[Row]) -> dict | None:
    """Share of triples accepted at each value of a threshold, a line per generator."""
    rows = shown(rows, "accepted_share")
    if not rows:
        return None
    values = [
        value for _, value in sorted({(row["position"], row["threshold_value"]) for row in rows})
    ]
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["generator"], []).append(row)
    data = []
    for number, (generator, members) in enumerate(groups.items()):
        place = 0 if generator == "kb_rules" else number + 1
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": in_plot(words.say(generator)),
                "x": [values.index(row["threshold_value"]) for row in members],
                "y": [round(100 * row["accepted_share"], 3) for row in members],
                "customdata": [
                    f"{row['n_accepted']:,} of {row['n_triples']:,} accepted"
                    + (", the policy as it stands" if row["is_policy_point"] else "")
                    for row in members
                ],
                "hovertemplate": "%{y:.1f} %<br>%{customdata}<extra>%{fullData.name}</extra>",
                "line": {"color": colour(place), "width": 1.5},
                "marker": {
                    "color": colour(place),
                    "size": [12 if row["is_policy_point"] else 7 for row in members],
                    "symbol": ["star" if row["is_policy_point"] else "circle" for row in members],
                },
                **errors(members, "accepted_share", "y"),
            }
        )
        data[-1]["error_y"]["color"] = colour(place)
    return {
        "data": data,
        "layout": {
            "height": 420,
            "xaxis": {
                "title": {"text": in_plot(words.say(rows[0]["threshold"]))},
                "tickvals": list(range(len(values))),
                "ticktext": [in_plot(wrapped(value)) for value in values],
                "range": [-0.3, len(values) - 0.7],
            },
            "yaxis": {"title": {"text": "accepted, %"}, "range": [-2, 102]},
            "showlegend": True,
        },
    }


def wrapped(text: str) -> str:
    """Long tick labels, shortened at a word."""
    return text if len(text) <= 24 else text[:23].rsplit(" ", 1)[0] + " …"
