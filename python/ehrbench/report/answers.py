"""Pages on answers: leaderboard, accuracy, calibration, open-ended, behaviour, published."""

from __future__ import annotations

from ehrbench.report import plots, words
from ehrbench.report.columns import (
    MODE,
    MODEL,
    OPTIONS,
    PERSONS,
    SOURCE,
    STATUS,
    TASK,
    Context,
    N,
    ask_for_answers,
    build_first,
    usual,
)
from ehrbench.report.data import HIDDEN, Data, Row
from ehrbench.report.plots import figure
from ehrbench.report.tables import Column, Filter, make

N_ASKED = Column("n_asked", "asked", "count", tip="asked")
TEMPLATES = Column("n_templates", "templates", "count", tip="template")
P_HOLM = Column("p_holm", "p, corrected", "p")


def leaderboard(data: Data, policy: str) -> Context:
    """Ranks and accuracies of models, and how they compare pair by pair."""
    rows = data.rows("leaderboard")
    empty = ask_for_answers(data)
    for row in rows:
        row["place"] = (
            None
            if row["rank"] in (None, HIDDEN)
            else f"{row['rank']} ({row['rank_low']} to {row['rank_high']})"
        )
        row["kind"] = "baseline" if row["is_baseline"] else "model"
    start = usual(rows, "mode")
    bar = {"kind": "interval", "drawn": (0, 1)}
    names = [("overall", "overall"), ("dx", "dx"), ("tx", "tx"), ("px", "px")]
    names += [("acc_4", "4 options"), ("acc_5", "5 options"), ("acc_6", "6 options")]
    return {
        "ranks": figure(
            *("ranks", "Rank with its 95 % interval", rows, plots.ranks, empty),
            by=(("mode", "mode", start),),
            note="Drawn for modes that two or more models have answered.",
        ),
        "forest": figure(
            *("overall", "Accuracy over the three tasks, with its 95 % interval", rows),
            lambda members: plots.forest(members, "overall", "model", "accuracy, %"),
            empty,
            by=(("mode", "mode", start),),
        ),
        "board": make(
            *("board", "Leaderboard: accuracy in % with its 95 % interval"),
            [
                MODEL,
                Column("kind", "kind", "words"),
                MODE,
                Column("place", "rank", "text", tip="rank"),
                Column("n", "answers", "count", tip="asked"),
                N_ASKED,
                *(
                    Column(name, f"{label}, %", tip="task" if name == "dx" else "", **bar)
                    for name, label in names
                ),
                Column("chance_corrected", "0 = chance, 100 = all right", "points"),
                Column("parse_failure_rate", "no letter read, %", "interval", "interval"),
                Column("p_best", "first in % of draws", "percent"),
                Column("valid_only", "of replies with a letter, %", "interval", "interval"),
                PERSONS,
                Column("n_effective", "worth, answers", "number", tip="effective"),
            ],
            rows,
            empty,
            (Filter("mode", "mode", start), Filter("kind", "kind")),
        ),
        "over": make(
            *("over", "Models against counting and embeddings, on the same items"),
            [
                MODEL,
                MODE,
                Column("baseline", "baseline"),
                Column("difference", "difference, points", "points", "interval", (-0.5, 0.5), 0),
                P_HOLM,
                Column("verdict", "verdict", "words"),
                N,
                PERSONS,
            ],
            data.rows("over_baseline"),
            empty,
            (Filter("mode", "mode", start), Filter("model", "model")),
        ),
        "differences": make(
            *("differences", "Pairs of models, on the items that both answered"),
            [
                MODE,
                Column("first_model", "first"),
                Column("second_model", "second"),
                Column(
                    *("difference", "first less second, points", "points"),
                    *("interval", (-0.5, 0.5), 0),
                ),
                Column("p_value", "p", "p"),
                P_HOLM,
                N,
                PERSONS,
                STATUS,
            ],
            data.rows("model_differences"),
            empty,
            (Filter("mode", "mode", start),),
        ),
        "agreement": make(
            *("agreement", "Do rankings agree? Kendall's W over tasks, options, wordings, sources"),
            [
                MODE,
                Column("kind", "rankings by", "words"),
                Column("scope", "over", "words"),
                Column("n_judges", "rankings", "count"),
                Column("n_models", "models", "count"),
                Column("w", "W", "plain", "agreement"),
                Column("p_value", "p", "p"),
                Column("n_inversions", "pairs that change places", "count"),
                N,
                N_ASKED,
                STATUS,
                Column("reason", "why not", "words"),
            ],
            data.rows("rank_agreement"),
            empty,
            (Filter("mode", "mode", start), Filter("kind", "rankings by")),
        ),
        "power": make(
            *("power", "How small a difference this set can show"),
            [
                Column("scope", "over", "words"),
                Column("basis", "worked out", "words"),
                TEMPLATES,
                PERSONS,
                Column("n_effective", "worth, answers", "number", tip="effective"),
                Column("detectable_difference", "detectable, points", "percent", "detectable"),
                Column("declared_difference", "declared, points", "percent"),
                Column("n_needed", "templates needed", "count", tip="template"),
                STATUS,
            ],
            data.rows("power"),
            empty,
        ),
        "missing": make(
            *("missing", "Answered of asked"),
            [
                Column("stage", "for", "words"),
                MODEL,
                MODE,
                Column("arm", "arm", "words"),
                Column("n_asked", "asked", "count"),
                Column("n_answered", "answered", "count"),
                Column("n_missing", "missing", "count"),
                Column("n_waiting", "waiting", "count", tip="waiting"),
                Column("n_failed", "failed", "count"),
                Column("n_no_weights", "no weights here", "count"),
                Column("n_no_vectors", "no vectors", "count"),
                Column("n_orphaned", "no longer asked", "count"),
            ],
            data.rows("missing_completions"),
            "No request is planned. The seed run_plan says what is asked of whom.",
            (Filter("stage", "for", "answers"), Filter("model", "model")),
        ),
        "efficiency": make(
            *("efficiency", "What the answers cost"),
            [
                Column("stage", "for", "words"),
                MODEL,
                MODE,
                N,
                Column("n_failed", "failed", "count"),
                Column("device", "device"),
                Column("engine_version", "engine"),
                Column("wall_s", "seconds", "number"),
                Column("completion_tokens", "tokens written", "count"),
                Column("items_per_s", "answers per second", "plain", "interval"),
                Column("latency_p50_s", "half took less than, s", "plain", "interval"),
                Column("latency_p95_s", "19 of 20 took less than, s", "plain", "interval"),
            ],
            data.rows("efficiency"),
            empty,
        ),
    }


def accuracy(data: Data, policy: str) -> Context:
    """Accuracy by task, number of options and source."""
    rows = data.rows("accuracy")
    empty = ask_for_answers(data)
    for row in rows:
        row["cell"] = f"{words.say(row['task'])}, {row['n_options']} options"
    sizes, groups = data.rows("context_size"), data.rows("subgroups")
    start = usual(rows, "mode")
    return {
        "accuracy": figure(
            *("accuracy", "Accuracy by task and options, with its 95 % interval", rows),
            lambda members: plots.forest(
                members, "accuracy", "cell", "accuracy, %", "model", "chance"
            ),
            empty,
            by=(("mode", "mode", start), ("source", "source", "all")),
            note="Dotted lines: chance for four, five and six options (25, 20 and 16.7 %). Figures "
            "on few templates have wide intervals; the table marks them.",
        ),
        "table": make(
            *("cells", "Accuracy by source, task and options"),
            [
                SOURCE,
                MODEL,
                MODE,
                TASK,
                OPTIONS,
                Column("accuracy", "accuracy, %", "interval", "interval", (0, 1), "chance"),
                Column("chance", "chance, %", "percent", tip="chance"),
                N,
                Column("n_templates", "templates", "count", tip="template"),
                PERSONS,
                STATUS,
            ],
            rows,
            empty,
            (
                Filter("mode", "mode", start),
                Filter("source", "source", "all"),
                Filter("model", "model"),
                Filter("task", "task"),
            ),
        ),
        "sizes": figure(
            *("sizes", "Accuracy by number of context events, with its 95 % interval", sizes),
            lambda members: plots.lines(
                members, "n_context", "accuracy", "model", "context events", "right, %"
            ),
            empty,
            by=(("mode", "mode", usual(sizes, "mode")),),
            note="The same templates at every size. Two events is the size of the items.",
        ),
        "size_table": make(
            *("context", "Context sizes in figures"),
            [
                MODEL,
                MODE,
                Column("n_context", "context events", "count"),
                Column("accuracy", "accuracy, %", "interval", "interval", (0, 1)),
                Column(
                    *("change", "against two events, points", "points"),
                    *("interval", (-0.5, 0.5), 0),
                ),
                N,
                N_ASKED,
                TEMPLATES,
                PERSONS,
                STATUS,
            ],
            sizes,
            empty,
            (Filter("mode", "mode", usual(sizes, "mode")), Filter("model", "model")),
        ),
        "probe": make(
            *("probe", "Known or guessed? More options on the same templates"),
            [
                MODEL,
                MODE,
                Column("scope", "over", "words"),
                OPTIONS,
                Column("base_accuracy", "with 4 options, %", "interval", "interval"),
                Column("expected", "if known or guessed, %", "interval", "interval"),
                Column("accuracy", "measured, %", "interval", "interval", (0, 1)),
                Column(
                    *("gap", "measured less expected, points", "points"),
                    *("interval", (-0.5, 0.5), 0),
                ),
                Column("p_value", "p", "p"),
                N,
                N_ASKED,
                TEMPLATES,
                PERSONS,
                STATUS,
            ],
            data.rows("option_probe"),
            empty,
            (
                Filter("mode", "mode", start),
                Filter("scope", "over", "overall"),
                Filter("model", "model"),
            ),
        ),
        "consistency": make(
            *("consistency", "The same model on two sources"),
            [
                MODEL,
                MODE,
                Column("first_source", "first"),
                Column("second_source", "second"),
                Column("accuracy_first", "first, %", "interval", "interval"),
                Column("accuracy_second", "second, %", "interval", "interval"),
                Column(
                    *("difference", "first less second, points", "points"),
                    *("interval", (-0.5, 0.5), 0),
                ),
                P_HOLM,
                Column("n_first", "answers, first", "count"),
                Column("n_second", "answers, second", "count"),
                PERSONS,
                STATUS,
            ],
            data.rows("source_consistency"),
            empty,
            (Filter("mode", "mode", start), Filter("model", "model")),
        ),
        "groups": make(
            *("groups", "Accuracy by group of patients and kind of answer"),
            [
                MODEL,
                MODE,
                Column("grouping", "groups by", "words"),
                Column("subgroup", "group"),
                Column("accuracy", "accuracy, %", "interval", "interval", (0, 1)),
                Column("gap", "against the rest, points", "points", "interval", (-0.5, 0.5), 0),
                N,
                N_ASKED,
                TEMPLATES,
                PERSONS,
                STATUS,
            ],
            groups,
            empty,
            (
                Filter("mode", "mode", start),
                Filter("grouping", "groups by", "sex"),
                Filter("model", "model"),
            ),
        ),
        "items": make(
            *("items", "How items behave over models"),
            [
                MODE,
                TASK,
                Column("n_models", "models", "count"),
                TEMPLATES,
                Column("kr20", "reliability (KR-20)", "plain", "interval"),
                Column("n_analysed", "items analysed", "count"),
                Column("n_all_miss", "all miss", "count"),
                Column("n_all_solve", "all solve", "count"),
                Column("n_negative_discrimination", "better models miss", "count"),
                Column("n_distractors", "distractors", "count"),
                Column("n_non_functioning", "hardly ever chosen", "count"),
                N,
                N_ASKED,
                STATUS,
            ],
            data.rows("item_summary"),
            empty,
            (Filter("mode", "mode", start),),
        ),
    }


def calibration(data: Data, policy: str) -> Context:
    """Does a model know when it is right?"""
    empty = ask_for_answers(data)
    bins, figures = data.rows("calibration_bins"), data.rows("calibration")
    for row in [*bins, *figures]:
        row["kind"] = (
            f"{words.say(row['mode'])}, {words.say(row['confidence_kind'])}"
            + ("" if row["arm"] in ("standard", row["mode"]) else f" ({words.say(row['arm'])})")
        )
    kinds = list(dict.fromkeys(row["kind"] for row in bins))
    start = next((kind for kind in kinds if kind.startswith("letter prob")), None)
    return {
        "curves": figure(
            *("curves", "Calibration, with 95 % intervals", bins, plots.calibration, empty),
            by=(("kind", "confidence", start), ("task", "task", "all")),
            note="Each point is a bin of answers of similar confidence. Below the dotted "
            "line the model is too sure of itself, above it not sure enough.",
        ),
        "table": make(
            *("calibration", "Calibration in figures"),
            [
                MODEL,
                Column("kind", "confidence"),
                TASK,
                Column("mean_confidence", "mean confidence, %", "interval", "interval"),
                Column("accuracy", "right, %", "interval", "interval"),
                Column("overconfidence", "confidence less accuracy, points", "points", "interval",
                       (-1, 1), 0),
                Column("ece", "calibration error, points", "interval", "calibration"),
                Column("brier", "Brier score", "plain", "calibration"),
                Column("auroc", "tells right from wrong (AUROC)", "plain", "interval"),
                N,
                PERSONS,
                STATUS,
            ],
            figures,
            empty,
            (Filter("task", "task", "all"), Filter("model", "model")),
        ),
    }


def behaviour(data: Data, policy: str) -> Context:
    """Abstention, letters, reading of replies, contamination."""
    empty = ask_for_answers(data)
    place = data.rows("position_bias")
    letters = [row for row in place if row["figure"] == "choice_share"]
    for row in place:
        row["letter"] = "ABCDEFGH"[row["place"] - 1] if row["place"] else None
        row["line"] = f"letter {row['letter']}"
        row["who"] = f"{row['model']}, {words.say(row['mode'])}"
    probes = data.rows("contamination")
    figure_columns = [N, N_ASKED, PERSONS, STATUS]
    return {
        "letters": figure(
            *("letters", "How often each letter is chosen, with 95 % intervals", letters),
            lambda members: plots.forest(
                members, "estimate", "line", "chosen, %", "who", "uniform"
            ),
            empty,
            by=(("n_options", "options", "4"),),
            note="Over all orders of the same options, so that a model without a preference is on "
            "the dotted line.",
        ),
        "position": make(
            *("position", "Position bias"),
            [
                MODEL, MODE, OPTIONS,
                Column("figure", "figure", "words"),
                Column("letter", "letter"),
                Column(
                    *("estimate", "estimate, % or points", "interval"),
                    *("interval", (0, 1), "uniform"),
                ),
                *figure_columns,
            ],
            place,
            empty,
            (Filter("n_options", "options"), Filter("figure", "figure")),
        ),
        "abstention": make(
            *("abstention", "Abstention"),
            [
                MODEL, MODE,
                Column("arm", "arm", "words"),
                Column("shows", "what the model sees"),
                Column("figure", "figure", "words"),
                Column("estimate", "estimate, %", "interval", "interval"),
                *figure_columns,
            ],
            data.rows("abstention"),
            empty,
            (Filter("arm", "arm"), Filter("model", "model")),
        ),
        "contamination": make(
            *("contamination", "Are items known by heart?"),
            [
                MODEL, MODE,
                Column("probe", "probe", "words"),
                SOURCE,
                Column("figure", "figure", "words"),
                Column("estimate", "accuracy or difference, %", "interval", "interval"),
                *figure_columns,
            ],
            probes,
            empty,
            (Filter("probe", "probe"), Filter("model", "model"), Filter("source", "source")),
        ),
        "parsing": make(
            *("parsing", "How replies were read"),
            [
                MODEL, MODE,
                Column("arm", "arm", "words"),
                Column("parse_status", "read as", "words"),
                Column("is_failure", "counts as wrong", "words"),
                Column("rate", "share, %", "interval", "interval", (0, 1)),
                Column("n_with_status", "replies", "count"),
                N,
            ],
            data.rows("parse_failures"),
            empty,
            (Filter("model", "model"), Filter("arm", "arm", "standard")),
        ),
        "noise": make(
            *("noise", "How much changes when a model is asked again"),
            [
                MODEL, MODE,
                Column("arm", "arm", "words"),
                Column("figure", "figure", "words"),
                Column("estimate", "estimate, % or variance", "mixed", "interval"),
                Column("n_runs", "runs", "count"),
                N,
                N_ASKED,
                PERSONS,
                STATUS,
            ],
            data.rows("run_noise"),
            "No model was asked the same more than once.",
            (Filter("model", "model"),),
        ),
    }


LEVELS = (
    ("share_cui", "the answer", "@good"),
    ("share_synonym", "another name of it", "@0"),
    ("share_child", "something narrower", "@5"),
    ("share_parent", "something broader", "@1"),
    ("share_same_class", "the same class only", "@4"),
    ("share_miss", "nothing near", "@7"),
)


def open_ended(data: Data, policy: str) -> Context:
    """Replies in free text, beside controls that answer without reading."""
    empty = ask_for_answers(data)
    rows = data.rows("open_ended")
    for row in rows:
        row["who"] = row["model"] + (" (control)" if row["is_control"] else "")
        row["kind"] = "control" if row["is_control"] else "model"
        for level, _, _ in LEVELS:
            share = row[level]
            row[f"{level}_drawn"] = share if share in (None, HIDDEN) else round(100 * share, 1)
    named = [
        {
            **{name: row[name] for name in ("task", "n")},
            "who": row["who"],
            "what": words.say(what),
            **{f"value{end}": row[f"{what}{end}"] for end in ("", "_low", "_high")},
        }
        for row in rows
        for what in ("rc_gold", "rc_any", "rc_relation")
    ]
    who = [Column("who", "model", "text", tip="control"), TASK]
    counts = [N, N_ASKED, PERSONS, STATUS]
    task = (Filter("task", "task", "all"), Filter("kind", "kind"))
    return {
        "named": figure(
            *("named", "Replies that name the answer, with 95 % intervals", named),
            lambda members: plots.forest(
                members, "value", "who", "replies, %", "what"
            ),
            empty,
            by=(("task", "task", "all"),),
            note="A model is worth reading only where it is above both controls.",
        ),
        "levels": figure(
            *("levels", "How near the best match of a reply comes", rows),
            lambda members: plots.stacked(
                members,
                [(f"{level}_drawn", name, paint) for level, name, paint in LEVELS],
                lambda row: row["who"],
                "replies, %",
                None,
            ),
            empty,
            by=(("task", "task", "all"),),
        ),
        "concepts": make(
            *("concepts", "Replies that name …, by concepts"),
            [
                *who,
                *(
                    Column(name, f"{label}, %", "interval", "credit", (0, 1))
                    for name, label in (
                        ("rc_gold", "the answer"),
                        ("rc_any", "any answer of the visit"),
                        ("rc_answer", "credit"),
                        ("rc_relation", "both ends"),
                    )
                ),
                *counts,
            ],
            rows,
            empty,
            task,
        ),
        "manner": make(
            *("manner", "How replies are worded"),
            [
                *who,
                Column("hedged", "hedged, %", "interval", "interval"),
                Column("abstained", "declined, %", "interval", "interval"),
                Column("overconfidence", "wrong without a hedge, %", "interval", "interval"),
                Column("cut_off", "cut off, %", "interval", "interval"),
                Column("mean_words", "words", "plain", "interval"),
                Column("mean_answers_named", "answers named", "plain", "interval"),
                *counts,
            ],
            rows,
            empty,
            task,
        ),
        "overlap": make(
            *("overlap", "Overlap of texts (secondary)"),
            [
                *who,
                Column("rouge_1", "ROUGE-1", "plain", "interval"),
                Column("rouge_l", "ROUGE-L", "plain", "interval"),
                Column("n_rouge", "replies", "count"),
                Column("rouge_status", "status", "words"),
                Column("bertscore", "BERTScore", "plain", "interval"),
                Column("n_bertscore", "replies", "count"),
                Column("bertscore_status", "status", "words"),
                Column("bertscore_model", "BERTScore by"),
            ],
            rows,
            empty,
            task,
        ),
    }


def published(data: Data, policy: str) -> Context:
    """What the paper printed, and beside it what was measured here."""
    empty = build_first(data)
    rows = data.rows("published")
    for row in rows:
        row["asked_as"] = "not asked here" if row["mode"] is None else words.say(row["mode"])
    shares, start = by_mode([row for row in rows if row["is_share"]])
    return {
        "beside": figure(
            *("beside", "Theirs (diamond, no interval) and ours (dot, 95 % interval)", shares),
            plots.beside,
            empty,
            by=(
                ("item_set", "their items", "main"),
                ("figure", "figure", "overall"),
                ("asked_as", "asked here as", start),
            ),
            note="No replication of each other: their items are not published, and ours differ.",
        ),
        "table": make(
            *("published", "Published figures and ours"),
            [
                Column("model_published", "model of the paper"),
                Column("figure", "figure", "words"),
                Column("theirs", "theirs, %", "mixed", tip="theirs"),
                Column("ours", "ours, %", "mixed", "interval"),
                Column("asked_as", "asked here as"),
                Column("model", "model here"),
                N,
                N_ASKED,
                Column("item_set", "their items", "words"),
                Column("theirs_kind", "theirs is known", "words"),
                Column("comment", "note"),
            ],
            rows,
            empty,
            (
                Filter("figure", "figure", "overall"),
                Filter("item_set", "their items"),
                Filter("asked_as", "asked here as"),
            ),
        ),
    }


def by_mode(rows: list[Row]) -> tuple[list[Row], str | None]:
    """Each mode's rows with what is not measured in it as well, and the mode most measured."""
    start = usual([row for row in rows if row["ours"] is not None], "asked_as")
    modes = dict.fromkeys(row["asked_as"] for row in rows if row["mode"] is not None)
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        names = ("item_set", "figure", "model_published", "model")
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    spread = []
    for mode in modes or ("not asked here",):
        for members in groups.values():
            here = next((row for row in members if row["asked_as"] == mode), None)
            spread.append(here or {**members[0], "ours": None, "asked_as": mode})
    return spread, start
