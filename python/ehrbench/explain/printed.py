"""An explanation as text for a terminal or a file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ehrbench.explain import Row
from ehrbench.text import cut, visible

WIDTH_IN_FILE = 100
WIDEST, NARROWEST = 120, 60
# Labels of one kind of distractor that are listed, and characters of a text; JSON has all.
MOST_LISTED = 12
MOST_SHOWN = 4_000
TONES = {
    **dict.fromkeys(("accepted", "pass", "released"), "green"),
    **dict.fromkeys(("rejected", "fail", "held back"), "red"),
    "not_assessed": "yellow",
}
# What came of a concept as a distractor, in the order of printing.
OUTCOMES = {
    "shown": "Stand here",
    "shown triple": "Drawn for it",
    "in_other_items": "Stand in other items of this template, not in this one",
    "not_drawn": "Could stand here, but were not drawn",
    "not_drawn blocks": "Could stand here, but their questions are in no block with this one",
    "near_drawn": "Could stand here, but not beside what was drawn",
    "too_many_critical": "Ruled out by the context, but enough of those were candidates already",
    "linked": "The knowledge base links them with the scenario: they could be right",
    "in_record": "This person has them, or something near them, in some visit: they could be right",
    "impossible": "Impossible for this patient, so nobody would choose them",
    "rare_word": "Share a rare word with the scenario or the question",
    "like_answer": "Too near the answer",
    "never_together": "Seen with nothing of the scenario in enough visits: not plausible",
}
DETAILS = {
    ("in_record", "itself"): "",
    ("in_record", "near it"): "something near",
    ("linked", None): "",
    ("near_drawn", None): "near ",
    ("like_answer", "relative"): "relative, or drug of its class",
    ("like_answer", "category"): "same ICD category",
    ("like_answer", "ingredient"): "shares an ingredient",
    ("like_answer", "label"): "same title",
    ("impossible", "sex"): "sex",
    ("impossible", "age"): "age",
    ("impossible", "excludes1"): "Excludes1 note",
    ("impossible", "obsolete"): "no longer a drug",
}
FLAGS = {
    "is_status_code": "status code",
    "is_routine": "order-set drug",
    "is_residual_title": "rest class",
    "is_hindsight": "known in hindsight",
}


def console() -> Console:
    """Standard output, 60 to 120 columns wide; colour only on a terminal and without NO_COLOR."""
    width = WIDTH_IN_FILE
    if sys.stdout.isatty():
        width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))
    if hasattr(sys.stdout, "reconfigure"):
        # A terminal that cannot write a character gets its number instead.
        sys.stdout.reconfigure(errors="backslashreplace")
    return Console(
        file=sys.stdout, width=width, markup=False, highlight=False, emoji=False, soft_wrap=False
    )


def flat(value: object) -> str:
    """A value of the data on one line, cut where it is long, every hidden character visible."""
    text = visible("–" if value is None else cut(str(value), MOST_SHOWN))
    return text.replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩")


def joined(parts: Iterable[object], by: str = " · ") -> str:
    """What is there of some values, joined."""
    return by.join(flat(part) for part in parts if part not in (None, ""))


def counted(n: object, thing: str) -> str:
    """A number of things."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


class Page:
    """Lines of an explanation, indented and wrapped by the console."""

    def __init__(self, console: Console):
        self.console = console

    def head(self, text: str) -> None:
        self.console.print()
        self.console.print(Text(text.upper(), style="bold"))

    def line(self, *parts: str | tuple[str, str], indent: int = 2) -> None:
        """One line of parts, each plain or with a style."""
        text = Text.assemble(*parts)
        for part in text.wrap(self.console, self.console.width - indent, overflow="fold"):
            part.rstrip()
            self.console.print(Text(" " * indent) + part)

    def block(self, text: str, indent: int = 2) -> None:
        """Text of several lines, each behind a bar so that none passes for a line of ours."""
        for line in visible(text).replace("\t", "⟨U+0009⟩").split("\n"):
            for part in Text(line).wrap(self.console, self.console.width - indent - 2):
                self.line(("│ ", "dim"), part.plain.rstrip(), indent=indent)


def toned(word: str) -> tuple[str, str]:
    """A word of the models in its colour."""
    return flat(word), TONES.get(word, "yellow")


def state(item: Row) -> list[str | tuple[str, str]]:
    """Whether an item is released, and why not."""
    if item["released"]:
        return [toned("released")]
    return [toned("held back"), f" ({flat(item['reason'])})"]


def form(item: Row) -> str:
    """How an item is asked."""
    options = "open-ended" if item["format"] == "oeq" else f"{item['n_options']} options"
    return f"{options}, wording {item['variant']}"


def print_examples(rows: list[Row], console: Console) -> None:
    """What there is to explain."""
    page = Page(console)
    for kind, members in groupby(rows, key=lambda row: row["kind"]):
        page.head(f"{kind}s")
        for row in members:
            reason = f": {flat(row['reason'])}" if row["reason"] else ""
            page.line(f"{row['id']}  ", toned(row["outcome"]), f"{reason} ({row['n']:,} such)")
    console.print()
    page.line("Explain one: ehrbench explain ID; the first letters do, six or more.", indent=0)


def print_explanation(found: Row, console: Console) -> None:
    """An explanation of `Reader.explain`."""
    page = Page(console)
    if found["kind"] == "item":
        print_item(page, found)
    print_triple(page, found)
    print_distractors(page, found)
    console.print()
    page.line((found["canary"], "dim"), indent=0)


# ------------------------------------------------------------------------------------- items


def print_item(page: Page, found: Row) -> None:
    item = found["item"]
    page.line((f"Item {item['item_id']}", "bold"), "  ", state(item)[0], indent=0)
    page.line(
        joined([item["source"], item["task"], form(item)]),
        f"; made of triple {flat(item['triple_id'])}",
        f"; template {flat(item['template_key'])}",
        indent=0,
    )
    page.line((found["holds"], "yellow"), indent=0)
    print_release(page, found)
    page.head("Prompt")
    if found["prompt"] is None:
        why = "" if item["released"] else ": none is made of an item that is held back"
        page.line(f"No prompt{why}. Its text:")
        page.block(f"{item['scenario']}\n\n{item['question']}")
    for message in found["prompt"] or []:
        page.line((flat(message.get("role")), "dim"))
        page.block(str(message.get("content")))
    page.head("Answer")
    for option in found["options"]:
        mark = ("✔ ", "green") if option["is_answer"] else ("  ", "")
        shown = f"{flat(option['option_letter'])}. {flat(option['label'])}"
        concept = joined([option["cui"], option["concept_name"]], " ")
        page.line(mark, shown, (f"  {concept}", "dim"))
    if not found["options"]:
        concept = flat(item["gold_cui"])
        page.line(("✔ ", "green"), flat(item["gold_label"]), (f"  {concept}", "dim"))
    page.line(f"Rationale: {flat(item['rationale'])}")
    print_findings(page, found["findings"])
    print_block(page, found["block"])


def print_release(page: Page, found: Row) -> None:
    item = found["item"]
    if item["released"]:
        whole = ", and its block is whole" if found["block"] else ""
        page.line(f"No leak rule holds it back{whole}.", indent=0)
        return
    reason = str(item["reason"])
    if reason == "block_broken":
        page.line(
            "No leak rule touches it, but an item of its block is held back or missing: then its "
            "answer would be right in none of the others (see Block).",
            indent=0,
        )
        return
    questions = {row["rule_id"]: row["question"] for row in found["findings"]}
    for rule in reason.split(","):
        page.line(
            "Held back by leak rule ", (flat(rule), "red"), f": {flat(questions.get(rule))}",
            indent=0,
        )


def print_findings(page: Page, findings: list[Row]) -> None:
    page.head("Leak findings")
    if not findings:
        page.line("None.")
    for row in findings:
        holds_back = row["policy"] in ("fail", "quarantine")
        page.line(
            (f"{flat(row['rule_id'])} {flat(row['name'])}", "red" if holds_back else "yellow"),
            f" ({flat(row['policy'])}, in the {flat(row['scope'])}): {flat(row['question'])}",
        )
        option = joined([row["option_letter"], row["option_label"]], ". ")
        page.line(f"found: {option}{': ' if option else ''}{flat(row['evidence'])}", indent=6)
        page.line((flat(row["comment"]), "dim"), indent=6)


def print_block(page: Page, rows: list[Row]) -> None:
    if not rows:
        return
    page.head("Block")
    page.line(
        "Items with the same options, each of them the answer of one; released together or not "
        "at all."
    )
    for row in rows:
        here = "→ " if row["is_this_item"] else "  "
        page.line(here, f"{row['item_id']}  {flat(row['gold_label'])}  ", *state(row))


# ----------------------------------------------------------------------------------- triples


def print_triple(page: Page, found: Row) -> None:
    triple = found["triple"]
    if found["kind"] == "item":
        page.head("Triple")
        page.line((triple["triple_id"], "bold"))
    else:
        page.line((f"Triple {triple['triple_id']}", "bold"), indent=0)
        page.line((found["holds"], "yellow"), indent=0)
    page.line(
        flat(triple["subject_label"]), (f"  {flat(triple['relation'])}  ", "bold"),
        flat(triple["object_label"]),
    )
    page.line((f"{flat(triple['relation'])}: {flat(triple['relation_meaning'])}", "dim"))
    page.line(visit_line(triple))
    said: list[str | tuple[str, str]] = []
    for row in found["verdicts"]:
        codes = joined((reason["reason_code"] for reason in row["reasons"]), ", ")
        said += ["; " if said else "", toned(str(row["verdict"])), f" under {flat(row['policy'])}"]
        said += [f" ({codes})"] if codes else []
    page.line(*said)
    print_events(page, found["events"])
    page.head("Proposed by")
    for row in found["proposals"]:
        why = f": “{flat(row['why'])}”" if row["why"] else ""
        page.line(f"{flat(row['generator'])}{why}")
    print_checks(page, found)
    print_verdicts(page, found)


def visit_line(triple: Row) -> str:
    """Where the visit stands, without a date."""
    said = [
        f"{triple['source']}, {triple['task']}",
        f"patient {triple['patient_key']}",
        f"visit {triple['visit_number']} of {triple['n_visits']} ({triple['visit_class']})",
    ]
    if triple["answer_visit_number"] is not None:
        gap = triple["days_to_answer_visit"]
        later = "" if gap is None else f", {counted(gap, 'day')} after discharge"
        # The null generator's object is in no visit of this patient, so it is neither new nor old.
        another = triple["object_is_of_another"]
        new = {True: ", newly coded there", False: ", coded before"}.get(triple["is_newly_coded"])
        said.append(
            f"{'put in' if another else 'answer in'} visit {triple['answer_visit_number']}{later}"
            f"{'' if another else new or ''}"
        )
    if triple["object_is_of_another"]:
        said.append("the object is another patient's (null generator)")
    return "; ".join(flat(part) for part in said)


def print_events(page: Page, events: list[Row]) -> None:
    page.head("Events: source code → code → concept")
    for row in events:
        place = f" {row['position']}" if row["role"] == "context" else ""
        flags = [name for column, name in FLAGS.items() if row[column]]
        if row["administration"] not in (None, "unknown"):
            flags.append(str(row["administration"]).replace("_", " "))
        if row["procedure_role"]:
            flags.append(str(row["procedure_role"]).replace("_", " "))
        if row["is_in_scenario"]:
            flags.append("printed in the scenario")
        page.line(
            (f"{row['role']}{place}".ljust(10), "cyan"), flat(row["label"]),
            (f"  ({joined([row['event_type'], *flags], ', ')})", "dim"),
        )
        code = f"{flat(row['source_code'])} → {flat(row['normalized_code'])}"
        page.line(f"{flat(row['code_system'])}  {code}", indent=12)
        for concept in row["concepts"] or []:
            if concept["cui"]:
                how = f" ({flat(concept['method'])}, {flat(concept['level'])})"
                page.line(
                    f"→ {flat(concept['cui'])} {flat(concept['name'])}", (how, "dim"), indent=12
                )
                continue
            page.line(
                ("→ no concept", "red"),
                f" ({flat(concept['reason'])}): {flat(concept['meaning'])}.",
                (f" Mend: {flat(concept['what_to_do'])}.", "dim"),
                indent=12,
            )


def print_checks(page: Page, found: Row) -> None:
    page.head("Checks, at their fixed thresholds")
    for row in found["checks"]:
        page.line(
            toned(str(row["status"])), (f"  {flat(row['check_name'])}  ", "bold"),
            (flat(row["passes_when"]), "dim"),
        )
        if row["reason_code"]:
            page.line(
                f"{flat(row['reason_code'])}: {flat(row['reason_meaning'])}.",
                (f" {flat(row['reason_comment'])}.", "dim"), indent=6,
            )
        evidence = [part for part in found["evidence"] if part["check_name"] == row["check_name"]]
        if row["check_name"] == "positive_support" and row["status"] != "not_assessed":
            articles = row["n_supporting_pmids"]
            kept = len({part["pmid"] for part in evidence if part["pmid"]})
            page.line(
                f"{counted(articles, 'article')} and "
                f"{counted(row['n_supporting_curated'], 'curated relation')} for it, "
                f"{counted(row['n_contradicting_pmids'], 'article')} against it"
                + (f"; {counted(kept, 'article')} kept:" if articles > kept > 0 else ""),
                indent=6,
            )
        for part in evidence:
            print_evidence(page, part)
        if row["check_name"] == "no_context_conflict":
            print_conflicts(page, found["conflicts"])


def print_evidence(page: Page, row: Row) -> None:
    ends = (
        f"{flat(row['subject_cui'])} {flat(row['subject_name'])} → "
        f"{flat(row['object_cui'])} {flat(row['object_name'])}"
    )
    curated = joined([row["kb"], row["sab"]], ": ")
    page.line(
        (f"{flat(row['predicate_or_rela'])}", "bold"), f" {ends}",
        (f"  ({joined([curated, row['strength'], row['match_level']], ', ')})", "dim"), indent=6,
    )
    print_article(page, row, indent=8)


def print_article(page: Page, row: Row, indent: int) -> None:
    if row["pmid"]:
        year = f" ({row['year']})" if row.get("year") else ""
        said = [f"PMID {row['pmid']}{year}", row.get("title"), row.get("section")]
        page.line(joined(said), indent=indent)
    if row["sentence"]:
        page.line((f"“{flat(row['sentence'])}”", "italic"), indent=indent)


def print_conflicts(page: Page, conflicts: list[Row]) -> None:
    """Conflicts by rule and context event, which may have several articles."""
    for (rule, label), members in groupby(
        conflicts, key=lambda row: (row["rule"], row["context_label"])
    ):
        rows = list(members)
        policies = joined(rows[0]["policies"], ", ") or "no policy"
        page.line(
            (flat(rule), "bold"), f" by “{flat(label)}”: {flat(rows[0]['meaning'])}.",
            (f" Heeded by {policies}.", "dim"), indent=6,
        )
        for row in rows:
            ends = ""
            if row["context_cui"]:
                ends = (
                    f" {flat(row['context_cui'])} {flat(row['context_name'])} – "
                    f"{flat(row['answer_cui'])} {flat(row['answer_name'])}"
                )
            articles = counted(row["n_pmids"], "article") if row["n_pmids"] else ""
            page.line(
                (flat(row["predicate_or_rela"]), "bold"), ends,
                (f"  ({joined([row['kb'], articles], ', ')})", "dim"), indent=8,
            )
            print_article(page, row, indent=10)


def print_verdicts(page: Page, found: Row) -> None:
    page.head("Verdicts")
    explained: set[object] = set()
    for row in found["verdicts"]:
        items = ", the policy that items are made of" if row["makes_items"] else ""
        level = f", match level {flat(row['match_level'])}" if row["match_level"] else ""
        under = (f" under {flat(row['policy'])}", "bold")
        page.line(toned(str(row["verdict"])), under, f"{items}{level}")
        page.line((flat(row["policy_comment"]), "dim"), indent=6)
        for reason in row["reasons"]:
            code = reason["reason_code"]
            text = f"{flat(code)} (check {flat(reason['check_name'])})"
            meaning = f": {flat(reason['meaning'])}." if code not in explained else ""
            comment = f" {flat(reason['comment'])}." if code not in explained else ""
            page.line(f"{text}{meaning}", (comment, "dim"), indent=6)
            explained.add(code)
    outcome = found["outcome"]
    if outcome is None:
        return
    page.head("What became of it")
    if outcome["step"] is not None:
        detail = f" ({flat(outcome['reason_detail'])})" if outcome["reason_detail"] else ""
        page.line(
            "No item. Lost at ", (flat(outcome["reason"]), "red"), f"{detail}: it is not one "
            f"{flat(outcome['kept_are'])} ({flat(outcome['decided_by'])}).",
        )
        return
    released = sum(bool(row["released"]) for row in found["items"])
    page.line(f"{counted(len(found['items']), 'item')}, {released} released.")
    for row in found["items"] if found["kind"] == "triple" else []:
        page.line(f"{row['item_id']}  {form(row)}  ", *state(row))


# ------------------------------------------------------------------------------- distractors


def print_distractors(page: Page, found: Row) -> None:
    rows = found["distractors"]
    if not rows:
        return
    page.head("Distractors considered")
    page.line(
        "Concepts that answer other questions of this pool (one source, task, kind of event and "
        f"semantic group): {len(rows)}. The first reason against each counts."
    )
    groups: dict[object, list[Row]] = {}
    for row in rows:
        outcome = row["outcome"]
        if outcome == "not_drawn" and row["draw"] == "blocks":
            outcome = "not_drawn blocks"
        if outcome == "shown" and found["kind"] == "triple":
            outcome = "shown triple"
        groups.setdefault(outcome, []).append(row)
    for outcome, meaning in OUTCOMES.items():
        members = groups.get(outcome)
        if not members:
            continue
        page.line((meaning, "bold"), f" ({len(members)})")
        more = len(members) - MOST_LISTED
        listed = "; ".join(one_distractor(row) for row in members[:MOST_LISTED])
        rest = f"; … and {more} more (--format json has all)" if more > 0 else ""
        page.line(listed, (rest, "dim"), indent=6)


def one_distractor(row: Row) -> str:
    """A concept with the particulars of its reason."""
    letter = f"{row['option_letter']}. " if row["option_letter"] else ""
    detail = row["detail"]
    known = DETAILS.get((row["outcome"], detail))
    if known is None and detail:
        known = f"{DETAILS.get((row['outcome'], None), '')}{detail}"
    return flat(f"{letter}{row['label']}") + (f" ({flat(known)})" if known else "")
