"""Data of the audit explorer: an index that is searched, and chunks that are loaded when needed.

    data/triples.js, data/items.js      columns of numbers into lists of words
    data/t-<n>.js                       TRIPLES_A_CHUNK triples: events, mapping, checks, verdicts
    data/c-<n>.js                       CLAIMS_A_CHUNK claims: evidence
    data/i-<n>.js                       ITEMS_A_CHUNK items: text, options, findings, answers

A page that is opened from disk may not fetch, so each file is a script that calls EHRB.load.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

from ehrbench.progress import Progress
from ehrbench.report import words
from ehrbench.report.data import Data, Row
from ehrbench.report.text import script
from ehrbench.text import cut, visible

TRIPLES_A_CHUNK = 200
CLAIMS_A_CHUNK = 200
ITEMS_A_CHUNK = 200
# Above these the explorer holds a draw by md5, and says so.
MOST_TRIPLES = 50_000
MOST_ITEMS = 50_000
# Characters of a reply that are kept.
MOST_TEXT = 2_000


class Pool:
    """Values that occur often, stored once and named by their number; texts made visible."""

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}

    def __call__(self, value: object) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    @property
    def values(self) -> list[object]:
        return [visible(value) if isinstance(value, str) else value for value in self.numbers]


def count(found: Data) -> int:
    """Chunks that `write` will make, for a progress bar."""
    counts = found.rows("explorer_counts")
    if not counts:
        return 0
    triples = min(counts[0]["triples"], MOST_TRIPLES)
    items = min(counts[0]["items"], MOST_ITEMS)
    return -(-triples // TRIPLES_A_CHUNK) + -(-items // ITEMS_A_CHUNK)


def write(found: Data, policy: str, folder: Path, line: str, progress: Progress) -> None:
    """Write the index and the chunks of the explorer into `folder`.

    `line` is the canary, the first line of every file; `policy` the one whose verdicts are shown
    first. Only for data whose single events may be shown.
    """
    if found.protected:
        raise ValueError("no explorer for protected data")
    counts = found.rows("explorer_counts")
    n_all = counts[0] if counts else {"triples": 0, "items": 0}
    found.keep("chosen_triples", "explorer_choose", most=MOST_TRIPLES)
    found.keep("chosen_items", "explorer_choose_items", most=MOST_ITEMS)
    store = Store(folder, line)
    triples = Triples(found, store)
    triples.write(policy, n_all["triples"], progress)
    Items(found, store).write(n_all["items"], progress)
    meanings: dict[str, dict[str, str]] = {}
    for row in found.rows("meanings"):
        meanings.setdefault(row["kind"], {})[row["code"]] = row["meaning"] or ""
    said = {key: value for key, value in words.SAID.items() if isinstance(key, str)}
    store.load("words", {"meanings": meanings, "said": said, "data_class": found.data_class})


class Store:
    """Files of the explorer."""

    def __init__(self, folder: Path, line: str):
        self.folder, self.line = folder, line

    def load(self, name: str, value: object) -> None:
        """Write one file whose script hands `value` to the page under its name."""
        text = script("EHRB.load", name, value)
        (self.folder / f"{name}.js").write_text(f"// {self.line}\n{text}", encoding="utf-8")


def by_place(rows: list[Row]) -> Callable[[int], list[Row]]:
    """Rows of ascending places, handed out place by place."""
    groups = {
        place: list(members) for place, members in itertools.groupby(rows, lambda r: r["place"])
    }
    return lambda place: groups.get(place, [])


def chunks(rows: list[Row], size: int) -> Iterator[tuple[int, list[Row]]]:
    """Rows in numbered chunks."""
    for number, start in enumerate(range(0, len(rows), size)):
        yield number, rows[start : start + size]


class Triples:
    """Index and chunks of triples, and the claims behind them."""

    def __init__(self, found: Data, store: Store):
        self.store, rows = store, found.rows
        self.rows = rows("explorer_triples")
        self.verdicts = by_place(rows("explorer_verdicts"))
        self.checks = by_place(rows("explorer_checks"))
        self.roles = by_place(rows("explorer_roles"))
        self.proposals = by_place(rows("explorer_proposals", most=MOST_TEXT))
        self.claims_of = by_place(rows("explorer_triple_claims"))
        self.conflicts = by_place(rows("explorer_conflicts"))
        self.events = {row["event_key"]: row for row in rows("explorer_events")}
        self.concepts = grouped(rows("explorer_concepts"), "event_key")
        self.claims = rows("explorer_claims")
        self.evidence = grouped(rows("explorer_evidence"), "claim_key")

    def write(self, policy: str, n_all: int, progress: Progress) -> None:
        """Write claims, chunks and the index."""
        number_of = {row["claim_key"]: number for number, row in enumerate(self.claims)}
        for number, members in chunks(self.claims, CLAIMS_A_CHUNK):
            self.store.load(f"c-{number}", self.claim_chunk(members))
        for number, members in chunks(self.rows, TRIPLES_A_CHUNK):
            self.store.load(f"t-{number}", self.chunk(members, number_of))
            progress.advance(1)
        self.store.load("triples", self.index(policy, n_all, number_of))

    def index(self, policy: str, n_all: int, number_of: dict[str, int]) -> dict:
        """Columns of numbers; labels are sorted so that their numbers sort like them."""
        ends = {key: self.end(key) for key in self.events}
        order = sorted(set(ends.values()), key=lambda end: (end[0].lower(), end))
        place = {end: number for number, end in enumerate(order)}
        unknown = ("(no event)", "", "")
        if any(
            row[name] not in ends
            for row in self.rows
            for name in ("subject_event_key", "object_event_key")
        ):
            place[unknown] = len(order)
            order.append(unknown)
        sources, tasks, relations, generators, verdicts = (Pool() for _ in range(5))
        policies: dict[str, list[int]] = {}
        columns: dict[str, list] = {
            name: []
            for name in ("id", "source", "task", "relation", "subject", "object", "by", "claim")
        }
        for row in self.rows:
            columns["id"].append(row["triple_id"])
            columns["source"].append(sources(row["source"]))
            columns["task"].append(tasks(row["task"]))
            columns["relation"].append(relations(row["relation"]))
            columns["subject"].append(place[ends.get(row["subject_event_key"], unknown)])
            columns["object"].append(place[ends.get(row["object_event_key"], unknown)])
            by = tuple(dict.fromkeys(p["generator"] for p in self.proposals(row["place"])))
            columns["by"].append(generators(by))
            columns["claim"].append(number_of.get(row["claim_key"], -1))
        n_rows = len(self.rows)
        for number, row in enumerate(self.rows):
            for verdict in self.verdicts(row["place"]):
                if verdict["policy"] not in policies:
                    policies[verdict["policy"]] = [-1] * n_rows
                column = policies[verdict["policy"]]
                reasons = verdict["failed_reason_codes"] or ""
                column[number] = verdicts((verdict["verdict"], reasons))
        return {
            "n": n_rows,
            "n_all": n_all,
            "size": TRIPLES_A_CHUNK,
            "claims_size": CLAIMS_A_CHUNK,
            "policy": policy,
            "columns": columns,
            "verdicts": dict(sorted(policies.items())),
            "words": {
                "source": sources.values,
                "task": tasks.values,
                "relation": relations.values,
                "by": [[visible(name) for name in one] for one in generators.values],
                "ends": [[visible(part) for part in end] for end in order],
                "verdict": verdicts.values,
                "pmids": [
                    " ".join(
                        dict.fromkeys(
                            visible(row["pmid"])
                            for row in self.evidence.get(claim["claim_key"], [])
                            if row["pmid"]
                        )
                    )
                    for claim in self.claims
                ],
            },
        }

    def end(self, key: str) -> tuple[str, str, str]:
        """An event as the index names it: title, code, concepts."""
        event = self.events[key]
        found = " ".join(row["cui"] for row in self.concepts.get(key, []) if row["cui"])
        code = f"{event['code_system']} {event['source_code'] or event['normalized_code'] or ''}"
        return (event["label"] or "(no title)", code.strip(), found)

    def chunk(self, members: list[Row], number_of: dict[str, int]) -> dict:
        """Details of the triples of one chunk; what they share is stored once."""
        events, checks, verdicts, texts = (Pool() for _ in range(4))
        triples = []
        for row in members:
            place = row["place"]
            triples.append(
                {
                    "e": [
                        [one["role"], events(one["event_key"])] for one in self.roles(place)
                    ],
                    "k": [
                        checks(
                            (
                                one["check_name"],
                                one["status"],
                                one["reason_code"],
                                one["n_supporting_pmids"],
                                one["n_supporting_curated"],
                                one["n_contradicting_pmids"],
                            )
                        )
                        for one in self.checks(place)
                    ],
                    "v": [
                        verdicts(
                            (
                                one["policy"],
                                one["verdict"],
                                one["failed_reason_codes"],
                                one["match_level"],
                            )
                        )
                        for one in self.verdicts(place)
                    ],
                    "p": [
                        [
                            texts(one["generator"]),
                            texts(cut(one["why"], MOST_TEXT, one["why_length"]) or ""),
                        ]
                        for one in self.proposals(place)
                    ],
                    "c": [number_of[one["claim_key"]] for one in self.claims_of(place)],
                    "x": [
                        [
                            texts(one[name] if one[name] is None else str(one[name]))
                            for name in (
                                *("rule", "context_label", "context_cui", "context_name", "kb"),
                                *("predicate_or_rela", "n_articles", "pmid", "sentence"),
                            )
                        ]
                        for one in self.conflicts(place)
                    ],
                    "n": row["is_newly_coded"],
                }
            )
        return {
            "triples": triples,
            "events": [self.event(key) for key in events.numbers],
            "checks": checks.values,
            "verdicts": verdicts.values,
            "texts": texts.values,
        }

    def event(self, key: str) -> list:
        """An event with its mapping, as a list."""
        event = self.events.get(key)
        if event is None:
            return ["", "", "", "", "(not an event of this build)", [], []]
        flags = [
            name
            for name in ("is_status_code", "is_routine", "is_residual_title", "is_hindsight")
            if event[name]
        ]
        notes = [event["procedure_role"]] if event["procedure_role"] else []
        if event["administration"] not in (None, "unknown"):
            notes.append(event["administration"])
        mapping = [
            [
                *(row[name] and visible(row[name]) for name in ("cui", "name")),
                *(row["mapping_method"], row["mapping_level"], row["reason"]),
            ]
            for row in self.concepts.get(key, [])
        ]
        shown = [
            visible(event[name] or "")
            for name in ("event_type", "code_system", "source_code", "normalized_code", "label")
        ]
        return [*shown, [*flags, *notes], mapping]

    def claim_chunk(self, members: list[Row]) -> dict:
        """Evidence of the claims of one chunk."""
        texts = Pool()
        names = (
            *("role", "kb", "predicate_or_rela", "subject_cui", "subject_name", "object_cui"),
            *("object_name", "match_level", "strength", "pmid", "year", "title", "section"),
            *("sentence", "sab"),
        )
        return {
            "claims": [
                {
                    "c": [
                        texts(row[name])
                        for name in (
                            *("subject_cui", "subject_name", "relation"),
                            *("object_cui", "object_name"),
                        )
                    ],
                    "e": [
                        [texts(None if one[name] is None else str(one[name])) for name in names]
                        for one in self.evidence.get(row["claim_key"], [])
                    ],
                }
                for row in members
            ],
            "texts": texts.values,
        }


class Items:
    """Index and chunks of items."""

    def __init__(self, found: Data, store: Store):
        self.store, rows = store, found.rows
        self.rows = rows("explorer_items")
        self.options = by_place(rows("explorer_options"))
        self.findings = by_place(rows("explorer_findings"))
        self.answers = by_place(rows("explorer_answers", most=MOST_TEXT))
        self.considered = grouped(rows("explorer_distractors"), "template_key")

    def write(self, n_all: int, progress: Progress) -> None:
        """Write chunks and the index."""
        for number, members in chunks(self.rows, ITEMS_A_CHUNK):
            self.store.load(f"i-{number}", self.chunk(members))
            progress.advance(1)
        self.store.load("items", self.index(n_all))

    def index(self, n_all: int) -> dict:
        """Columns of numbers into lists of words."""
        answers = sorted(
            {visible(row["gold_label"] or "") for row in self.rows},
            key=lambda text: (text.lower(), text),
        )
        place = {label: number for number, label in enumerate(answers)}
        sources, tasks, formats, reasons, scenarios = (Pool() for _ in range(5))
        columns: dict[str, list] = {
            name: []
            for name in (
                *("id", "source", "task", "format", "variant", "released", "subset", "reason"),
                *("answer", "scenario", "triple"),
            )
        }
        for row in self.rows:
            columns["id"].append(row["item_id"])
            columns["source"].append(sources(row["source"]))
            columns["task"].append(tasks(row["task"]))
            options = f"{row['n_options']} options" if row["n_options"] else "open-ended"
            columns["format"].append(formats(options))
            columns["variant"].append(row["variant"])
            columns["released"].append(int(bool(row["released"])))
            columns["subset"].append(int(bool(row["in_subset"])))
            columns["reason"].append(reasons(row["reason"] or ""))
            columns["answer"].append(place[visible(row["gold_label"] or "")])
            columns["scenario"].append(scenarios(row["scenario"]))
            columns["triple"].append(-1 if row["triple_place"] is None else row["triple_place"])
        return {
            "n": len(self.rows),
            "n_all": n_all,
            "size": ITEMS_A_CHUNK,
            "columns": columns,
            "words": {
                "source": sources.values,
                "task": tasks.values,
                "format": formats.values,
                "reason": reasons.values,
                "answer": answers,
                "scenario": scenarios.values,
            },
        }

    def chunk(self, members: list[Row]) -> dict:
        """Details of the items of one chunk."""
        texts = Pool()
        templates: dict[str, int] = {}
        items = []
        for row in members:
            place = row["place"]
            templates.setdefault(row["template_key"], len(templates))
            items.append(
                {
                    "s": texts(row["scenario"]),
                    "q": texts(row["question"]),
                    "o": [
                        [one["option_letter"], texts(one["label"]), texts(one["cui"]),
                         int(bool(one["is_answer"]))]
                        for one in self.options(place)
                    ],
                    "g": [texts(row["gold_label"]), texts(row["gold_cui"])],
                    "w": [texts(row["rationale"]), texts(row["evidence"])],
                    "f": [
                        [one["rule_id"], one["scope"], texts(one["evidence"]),
                         texts(one["option_label"])]
                        for one in self.findings(place)
                    ],
                    "a": [
                        [
                            texts(one["model"]),
                            *(one["mode"], one["arm"], one["repetition"]),
                            *(one["parsed_letter"], one["parse_status"], one["correct"]),
                            *(one["match_level"], one["stated_confidence"]),
                            texts(cut(one["reply"], MOST_TEXT, one["reply_length"])),
                        ]
                        for one in self.answers(place)
                    ],
                    "t": templates[row["template_key"]],
                    "d": row["draw"],
                    "x": int(bool(row["context_critical"])),
                    "on": row["onset_class"],
                    "tags": row["tag_rules"],
                }
            )
        return {
            "items": items,
            "templates": [
                {
                    "key": key,
                    "d": [
                        [one["outcome"], [texts(label) for label in one["labels"]]]
                        for one in self.considered.get(key, [])
                    ],
                }
                for key in templates
            ],
            "texts": texts.values,
        }


def grouped(rows: list[Row], column: str) -> dict[str, list[Row]]:
    """Rows by the value of a column, in their order."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[column], []).append(row)
    return groups
