"""Pages on what was built: overview, yield, cohort and codes, leakage, the build itself."""

from __future__ import annotations

from ehrbench.report import plots, words
from ehrbench.report.columns import (
    GENERATOR,
    MODE,
    MODEL,
    PERSONS,
    POLICY,
    SOURCE,
    STATUS,
    TASK,
    Context,
    N,
    build_first,
)
from ehrbench.report.data import HIDDEN, Data, Row
from ehrbench.report.plots import figure
from ehrbench.report.tables import Column, Filter, make

# In the order in which a triple is stopped.
CHECKS = (
    "grounded",
    "mapped",
    "positive_support",
    "unambiguous_relation",
    "no_negative_evidence",
    "no_context_conflict",
    "ehr_lift",
)
STOPPED_BY = {
    "grounded": "not in the record",
    "mapped": "no concept",
    "positive_support": "not supported",
    "unambiguous_relation": "ambiguous",
    "no_negative_evidence": "denied",
    "no_context_conflict": "context conflict",
    "ehr_lift": "seldom together",
}
OUTCOMES = ("exact", "equivalent", "ancestor", "part", "none")
OUTCOME_WORDS = {
    "exact": "own concept",
    "equivalent": "by a map between code systems",
    "ancestor": "by a broader code",
    "part": "as part of a combination",
    "none": "no concept",
}

TILES = {
    "patients": ("patients", "summed over sources"),
    "visits": ("visits", "after merging transfers"),
    "events": ("events", "diagnoses, drugs, procedures"),
    "triples": ("triples", "proposed by all generators"),
    "accepted": ("accepted triples", "under the active policy"),
    "templates": ("templates", "accepted triples that became questions"),
    "items": ("items", "rendered from them"),
    "released": ("released items", "passed every leak rule"),
    "answers": ("answers", "of models and baselines"),
}


def overview(data: Data, policy: str) -> Context:
    """Counts, what each source brought, leak rules in short."""
    rules = data.rows("leak_rules")
    failing = [
        row
        for row in rules
        if row["policy"] == "fail" and row["kind"] != "item" and (row["n_found"] or 0) != 0
    ]
    board = [row for row in data.rows("leaderboard") if not row["is_baseline"]]
    return {
        "tiles": [
            (*TILES[row["what"]], repr(HIDDEN) if row["n"] is HIDDEN else f"{row['n']:,}")
            for row in data.rows("counts", policy=policy)
        ],
        "n_rules": len(rules),
        "n_assessed": sum(bool(row["assessed"]) for row in rules),
        "failing": [row["rule_id"] for row in failing],
        "n_answered": sum(row["n"] if isinstance(row["n"], int) else 0 for row in board),
        "n_asked": sum(row["n_asked"] if isinstance(row["n_asked"], int) else 0 for row in board),
        "sources": make(
            *("sources", "What each source brought"),
            [
                SOURCE,
                Column("n_patients", "patients", "count"),
                Column("n_visits", "visits", "count"),
                Column("n_events", "events", "count"),
                Column("n_triples", "triples", "count", tip="triple"),
                Column("n_items", "items", "count"),
                Column("n_released", "released items", "count"),
            ],
            data.rows("sources"),
            build_first(data),
        ),
    }


def yields(data: Data, policy: str) -> Context:
    """From proposed to accepted triples, by policy, and what each threshold would do."""
    empty = build_first(data)
    rows = data.rows("yield_by_policy")
    for row in rows:
        row["line"] = f"{row['policy']} · {words.say(row['generator'])}"
    counted = plots.shown(rows, "n_triples")
    parts = [("n_accepted", "accepted", "@good")]
    parts += [
        (f"n_first_{check}", STOPPED_BY[check], plots.colour(number + 1))
        for number, check in enumerate(CHECKS)
    ]
    swept = data.rows("yield_sweep")
    # Real data have no planted truth.
    popularity, checked = data.rows("popularity"), data.rows("check_quality")
    reasons = data.rows("rejection_reasons")
    source = next(iter(row["source"] for row in rows if row["source"] == "mimic_iv"), None)
    return {
        "policy": policy,
        "funnel": figure(
            *("funnel", "Where proposed triples stop", counted),
            lambda members: plots.stacked(
                members, parts, lambda row: row["line"], "triples, %", "n_triples"
            ),
            empty,
            by=(("source", "source", source), ("task", "task", "tx")),
            note="Each triple is counted at the first check that stops it. The null is stopped by "
            "the first check by design: its object is another patient's.",
        ),
        "accepted": figure(
            *("accepted", "Accepted, with its 95 % interval", rows),
            lambda members: plots.forest(
                members, "accepted_share", "line", "accepted, %", "task"
            ),
            empty,
            by=(("source", "source", source),),
        ),
        "curve": figure(
            *("curve", "Yield curve: accepted at each value of one threshold", swept, plots.sweep),
            empty,
            by=(
                ("policy", "policy", policy),
                ("threshold", "threshold", "min_supporting_pmids"),
                ("source", "source", source),
                ("task", "task", "tx"),
            ),
            note="A star marks the policy as it stands, with its 95 % interval; the other points "
            "are counts of the same triples.",
        ),
        "table": make(
            *("yield", "Yield by policy"),
            [
                POLICY, SOURCE, TASK, GENERATOR,
                Column("n_triples", "triples", "count", tip="triple"),
                Column("n_accepted", "accepted", "count"),
                Column("accepted_share", "accepted, %", "interval", "interval", (0, 1)),
                *(Column(f"n_first_{check}", STOPPED_BY[check], "count") for check in CHECKS),
                Column("n_persons", "persons", "count", tip="persons"),
            ],
            rows,
            empty,
            (
                Filter("policy", "policy", policy),
                Filter("source", "source"),
                Filter("task", "task"),
                Filter("generator", "generator"),
            ),
        ),
        "enrichment": make(
            *("enrichment", "Is that more than chance? Pass rate against shuffled visits"),
            [
                POLICY, SOURCE, TASK, GENERATOR,
                Column("match_level", "match", "words", tip="match_level"),
                Column("pass_rate", "passes, %", "interval", "interval", (0, 1)),
                Column("null_pass_rate", "null passes, %", "percent"),
                Column("enrichment", "times chance", "plain", "enrichment"),
                Column("n", "triples", "count"),
                Column("n_persons", "persons", "count", tip="persons"),
                Column("status", "status", "words"),
            ],
            data.rows("enrichment"),
            empty,
            (
                Filter("policy", "policy", policy),
                Filter("source", "source"),
                Filter("task", "task"),
                Filter("generator", "generator"),
                Filter("match_level", "match", "all"),
            ),
        ),
        "arms": make(
            *("arms", "Generators on the same visits"),
            [
                Column("figure", "figure", "words"),
                TASK,
                GENERATOR,
                Column("versus", "against", "words"),
                MODE,
                Column("estimate", "estimate, % or number", "mixed", "interval"),
                Column("n", "counted", "count"),
                Column("n_asked", "there are", "count"),
                PERSONS,
                Column("status", "status", "words"),
                Column("reason", "why not", "words"),
            ],
            data.rows("generator_arms"),
            empty,
            (Filter("figure", "figure", "accept_rate"), Filter("task", "task")),
        ),
        "popularity": make(
            *("popularity", "Planted facts that are found, by how many articles state them"),
            [
                POLICY, SOURCE, TASK,
                Column("band", "articles", "words"),
                Column("min_pmids", "from", "count"),
                Column("n_pairs", "facts", "count"),
                Column("recall", "found, %", "interval", "interval", (0, 1)),
                Column("denied_share", "found and denied, %", "interval", "interval", (0, 1)),
            ],
            popularity,
            empty,
            (
                Filter("policy", "policy", policy),
                Filter("source", "source", source),
                Filter("task", "task"),
            ),
        )
        if popularity
        else None,
        "checked": make(
            *("checked", "Checks and verdicts against what was planted"),
            [
                Column("check_name", "check", "words"),
                Column("policy", "policy", "words"),
                SOURCE, TASK,
                Column("detects", "looks for"),
                Column("precision", "right when it says so, %", "interval", "interval", (0, 1)),
                Column("recall", "of what is there, %", "interval", "interval", (0, 1)),
                Column("n_true_pos", "found", "count"),
                Column("n_false_pos", "found wrongly", "count"),
                Column("n_false_neg", "overlooked", "count"),
            ],
            checked,
            empty,
            (
                Filter("check_name", "check", "verdict"),
                Filter("policy", "policy"),
                Filter("source", "source", source),
                Filter("task", "task"),
            ),
        )
        if checked
        else None,
        "reasons": make(
            *("reasons", "Why triples were rejected"),
            [
                POLICY, SOURCE, TASK, GENERATOR,
                Column("check_name", "check", "words"),
                Column("meaning", "reason"),
                Column("n_any", "triples with it", "count"),
                Column("n_first", "stopped by it first", "count"),
                Column("n_only", "by it alone", "count"),
                Column("share_of_triples", "of triples, %", "percent"),
            ],
            reasons,
            empty,
            (
                Filter("policy", "policy", policy),
                Filter("source", "source", source),
                Filter("task", "task"),
                Filter("generator", "generator", "kb_rules"),
            ),
        ),
    }


def cohort(data: Data, policy: str) -> Context:
    """From raw rows to released items, and how codes found their concepts."""
    empty = build_first(data)
    rows = data.rows("attrition")
    for row in rows:
        row["part"] = row["unit"].removeprefix("events: ")
    source = next((row["source"] for row in rows if row["source"] == "mimic_iv"), None)
    coverage = data.rows("mapping")
    bars: dict[tuple, Row] = {}
    for row in coverage:
        if row["n_events"] is HIDDEN:
            continue
        bar = bars.setdefault(
            (row["code_class"], row["source"], row["event_type"], row["code_system"]),
            {
                **{name: row[name] for name in ("code_class", "source", "event_type")},
                "code_system": row["code_system"],
                "total": 0,
                **dict.fromkeys(OUTCOMES, 0),
            },
        )
        level = row["mapping_level"] if row["mapping_level"] in OUTCOMES else "none"
        bar[level] += row["n_events"]
        bar["total"] += row["n_events"]
    paints = {"exact": "@good", "none": "@bad", "equivalent": "@0", "ancestor": "@1", "part": "@2"}
    return {
        "steps": figure(
            *("steps", "What is left after each step", rows, plots.steps, empty),
            by=(("source", "source", source), ("part", "of", "patients")),
        ),
        "table": make(
            *("attrition", "Steps in figures"),
            [
                SOURCE,
                Column("unit", "of"),
                Column("step", "step"),
                Column("n", "left", "count"),
            ],
            rows,
            empty,
            (Filter("source", "source", source), Filter("unit", "of")),
        ),
        "coverage": figure(
            *("coverage", "How events found a concept", list(bars.values())),
            lambda members: plots.stacked(
                members,
                [(level, OUTCOME_WORDS[level], paints[level]) for level in OUTCOMES],
                lambda row: f"{row['source']}, {row['code_system']}",
                "events, %",
                "total",
            ),
            empty,
            by=(("code_class", "codes", "clinical"), ("event_type", "events", "diagnosis")),
            note="Clinical codes leave out status, external-cause and administrative codes.",
        ),
        "mapping": make(
            *("mapping", "Mapping coverage"),
            [
                SOURCE,
                Column("event_type", "events"),
                Column("code_system", "code system"),
                Column("code_class", "codes", "words"),
                Column("outcome", "how", "words"),
                Column("mapping_level", "match", "words", tip="match_level"),
                Column("n_events", "events", "count"),
                Column("share_events", "events, %", "percent"),
                Column("n_codes", "codes", "count"),
                Column("share_codes", "codes, %", "percent"),
            ],
            coverage,
            empty,
            (
                Filter("code_class", "codes", "clinical"),
                Filter("source", "source"),
                Filter("event_type", "events"),
            ),
        ),
        "unmapped": None
        if data.protected
        else make(
            *("unmapped", "Codes without a concept, most frequent first (50 per source)"),
            [
                SOURCE,
                Column("code_system", "code system"),
                Column("normalized_code", "code", "code"),
                Column("label", "title"),
                Column("reason", "why", "words"),
                Column("what_to_do", "what to do"),
                Column("n_events", "events", "count"),
            ],
            data.rows("unmapped"),
            "Every code has a concept.",
            (Filter("source", "source"), Filter("code_system", "code system"),
             Filter("reason", "why")),
        ),
        "quarantine": make(
            *("quarantine", "Rows set aside"),
            [
                Column("source_table", "table"),
                Column("reason", "reason"),
                Column("n_rows", "rows", "count"),
            ],
            data.rows("quarantine"),
            "No row was set aside.",
        ),
    }


def leakage(data: Data, policy: str) -> Context:
    """Leak rules with counts, and what can be scored without reading the case."""
    empty = build_first(data)
    costs = {row["rule_id"]: row for row in data.rows("leak_cost")}
    rules = data.rows("leak_rules")
    for row in rules:
        cost = costs.get(row["rule_id"], {})
        row["n_items"], row["n_items_alone"] = cost.get("n_items"), cost.get("n_items_alone")
        row["state"] = "not_assessed" if not row["assessed"] else _rule_state(row)
        if row["kind"] == "structure":
            row["reason"] = f"by the test {(row['reason'] or '').split('::')[-1]}"
    results = data.rows("baselines")
    for row in results:
        who = f" ({row['model']})" if row["model"] else ""
        row["who"] = f"{row['baseline']} {row['pick'].replace('_', ' ')}{who}"
        row["options"] = "all" if row["n_options"] is None else str(row["n_options"])
        row["set"] = _baseline_set(row)
    return {
        "rules": make(
            *("rules", "Leak rules"),
            [
                Column("rule_id", "rule", "code", tip="leak"),
                Column("question", "what it asks"),
                Column("kind", "looks at", "words"),
                Column("policy", "policy", "words"),
                Column("state", "state", "badge"),
                Column("n_checked", "checked", "count"),
                Column("n_found", "found", "count"),
                Column("rate", "found, %", "percent"),
                Column("allowed_rate", "allowed, %", "percent"),
                Column("n_items", "items it holds back", "count"),
                Column("n_items_alone", "it alone", "count"),
                Column("reason", "note"),
            ],
            rules,
            empty,
            (Filter("policy", "policy"), Filter("state", "state")),
        ),
        "baselines": figure(
            *("baselines", "Surface baselines against chance, with 95 % intervals", results),
            lambda members: plots.forest(
                members, "accuracy", "who", "accuracy, %", None, "chance"
            ),
            empty,
            by=(
                ("set", "items", "all sources"),
                ("task", "task", "all"),
                ("options", "options", "4"),
            ),
            note="Dotted line: chance. B5a is near 100 % by design, and B10 is knowledge of the "
            "cohort: neither is a defect of the items.",
        ),
        "table": make(
            *("lifts", "Surface baselines in figures"),
            [
                Column("who", "baseline"),
                Column("question", "what it asks"),
                Column("gate", "judged", "words"),
                TASK,
                Column("options", "options"),
                Column("accuracy", "accuracy, %", "interval", "interval", (0, 1), "chance"),
                Column("chance", "chance, %", "percent", tip="chance"),
                Column("lift", "above chance, points", "points", "lift"),
                Column("n", "items", "count"),
                PERSONS,
            ],
            [row for row in results if row["set"] in ("all sources", *DRAWS.values())],
            empty,
            (
                Filter("set", "items", "all sources"),
                Filter("task", "task", "all"),
                Filter("options", "options", "all"),
            ),
        ),
        "gates": make(
            *("gates", "Gates: baselines that must stay at chance"),
            [
                Column("baseline", "baseline"),
                Column("pick", "takes", "words"),
                TASK,
                Column("gate", "judged", "words"),
                Column("status", "state", "badge"),
                Column("lift", "above chance, points", "points", "lift", (-0.2, 0.2), 0),
                Column("p_holm", "p, corrected", "p"),
                Column("n_templates", "templates", "count", tip="template"),
                Column("reason", "note", "words"),
            ],
            data.rows("gates"),
            empty,
            (Filter("task", "task"), Filter("status", "state")),
        ),
        "anonymity": make(
            *("anonymity", "Could a scenario point to one person?"),
            [
                SOURCE,
                TASK,
                Column("n_stems", "scenarios", "count"),
                Column("n_unique", "of one person only", "count"),
                Column("share_unique", "of one person only, %", "percent"),
                Column("n_rare", "of fewer than five", "count"),
                Column("share_rare", "of fewer than five, %", "percent"),
            ],
            data.rows("stem_anonymity"),
            empty,
        ),
        "quality": make(
            *("quality", "What came of the items"),
            [
                SOURCE,
                TASK,
                Column("format", "format", "words"),
                Column("released", "released", "words"),
                Column("reason", "held back by", "words"),
                Column("n_items", "items", "count"),
                Column("n_templates", "templates", "count", tip="template"),
            ],
            data.rows("item_quality"),
            empty,
            (Filter("source", "source"), Filter("task", "task"), Filter("released", "released")),
        ),
    }


DRAWS = {"blocks": "all sources, in blocks", "weighted": "all sources, weighted draw"}


def _baseline_set(row: Row) -> str:
    if row["source"] != "all":
        return str(row["source"])
    return DRAWS.get(row["draw"], "all sources")


def _rule_state(row: Row) -> str:
    """How a rule stands: nothing found, within what it may find, or beyond."""
    if row["n_found"] is HIDDEN:
        return "hidden"
    if not row["n_found"]:
        return "clean"
    if row["kind"] == "item" and row["policy"] in ("fail", "quarantine"):
        return "held back"
    return "within limit" if row["is_within"] else "over limit"


def build(data: Data, policy: str) -> Context:
    """What went into the build, with what answers were made, and what was judged by people."""
    empty = build_first(data)
    return {
        "runs": make(
            *("runs", "With what the answers were made"),
            [
                Column("stage", "for", "words"),
                MODEL,
                MODE,
                Column("revision", "revision"),
                Column("dtype", "numbers"),
                Column("engine", "engine"),
                Column("engine_version", "version"),
                Column("torch_version", "torch"),
                Column("transformers_version", "transformers"),
                Column("python_version", "Python"),
                Column("ehrbench_version", "ehrbench"),
                Column("device", "device"),
                Column("n_runs", "runs", "count"),
                Column("n_sent", "requests", "count"),
                Column("n_failed", "failed", "count"),
            ],
            data.rows("runs"),
            "No language model has been run for this build.",
            (Filter("model", "model"),),
        ),
        "manifest": make(
            *("manifest", "Tables that went into this build"),
            [
                SOURCE,
                Column("table_name", "table"),
                Column("n_rows", "rows", "count"),
                Column("source_data_class", "data class", "words"),
                Column("content_digest", "digest of the content", "code"),
            ],
            data.rows("manifest"),
            empty,
            (Filter("source", "source"),),
        ),
        "audit": make(
            *("audit", "What clinicians said about triples and items"),
            [
                Column("measure", "measure", "words"),
                SOURCE,
                TASK,
                Column("method", "method", "words"),
                Column("n_rated", "rated", "count"),
                Column("n_drawn", "drawn", "count"),
                Column("estimate", "estimate, %", "interval", "interval", (0, 1)),
            ],
            data.rows("audit"),
            "No ratings yet. To draw a sample for clinicians: ehrbench audit sample.",
            (
                Filter("measure", "measure"),
                Filter("source", "source", "all"),
                Filter("task", "task", "all"),
            ),
        ),
        "raters": make(
            *("raters", "Do clinicians agree with each other?"),
            [
                Column("question", "question", "words"),
                Column("rater_a", "first"),
                Column("rater_b", "second"),
                Column("n", "rated by both", "count"),
                Column("agreement", "agree, %", "percent"),
                Column("kappa", "Cohen's κ", "plain", "interval"),
                Column("ac1", "Gwet's AC1", "plain", "interval"),
            ],
            data.rows("audit_agreement"),
            "Nothing has ratings of two clinicians yet.",
        ),
        "valid": make(
            *("valid", "Accuracy on items that clinicians find valid"),
            [
                MODEL,
                MODE,
                TASK,
                Column("accuracy", "on valid items, %", "interval", "interval", (0, 1)),
                Column("accuracy_rated", "on all rated items, %", "interval", "interval", (0, 1)),
                Column("n_templates_valid", "valid templates", "count", tip="template"),
                Column("n_templates", "rated templates", "count", tip="template"),
                N,
                Column("n_asked", "asked", "count", tip="asked"),
                PERSONS,
                STATUS,
            ],
            data.rows("audit_accuracy"),
            "No item that a model was asked has been rated yet.",
            (Filter("mode", "mode"), Filter("task", "task", "all")),
        ),
        "checklists": make(
            *("checklists", "Reporting checklists, as far as they are met"),
            [
                Column("checklist", "checklist"),
                Column("number", "item"),
                Column("part", "part"),
                Column("topic", "asks for"),
                Column("status", "state", "badge"),
                Column("found_in", "found in"),
                Column("comment", "note"),
            ],
            data.rows("checklists"),
            empty,
            (Filter("checklist", "checklist", "MedCheck"), Filter("status", "state")),
        ),
    }
