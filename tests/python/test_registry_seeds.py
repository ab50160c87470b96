"""Seeds that people fill in by hand: the registry of models, checklists, the hedge lexicon."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from ehrbench.engines.base import SAMPLING_KEYS

ROOT = Path(__file__).parents[2]
MODES = {"json", "choice", "logprobs", "free", "free_choice", "cloze"}
CHECKLISTS = {"reporting_tripod_llm": 49, "reporting_medcheck": 29}
MEDCHECK_CRITERIA = 46
MODELS_OF_THE_PAPER = 31


def seed(name: str) -> list[dict[str, str]]:
    with (ROOT / "seeds" / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def known_names() -> set[str]:
    """Names of models, seeds, queries and singular tests."""
    patterns = ["models/**/*.sql", "seeds/*.csv", "analyses/*.sql", "tests/**/*.sql"]
    return {file.stem for pattern in patterns for file in ROOT.glob(pattern)}


def wrong_places(rows: list[dict[str, str]]) -> list[str]:
    """Places of a checklist that do not exist, and claims that name no place."""
    known = known_names()
    wrong = [
        f"{row['topic']}: {place}"
        for row in rows
        for place in row["found_in"].split()
        if place not in known and not (ROOT / place).is_file()
    ]
    claims = [row for row in rows if row["status"] in ("done", "partly")]
    return wrong + [f"{row['topic']}: no place" for row in claims if not row["found_in"]]


def wrong_settings(row: dict[str, str]) -> list[str]:
    """What is wrong with the sampling settings of a model that an engine runs."""
    modes = json.loads(row["sampling"])
    wrong = [f"mode {mode}" for mode in modes if mode not in MODES]
    for mode, settings in modes.items():
        wrong += [f"{mode}: {key}" for key in settings if key not in SAMPLING_KEYS]
        if list(settings) != sorted(settings):
            wrong.append(f"{mode}: settings are not in alphabetical order")
    asked = {"choice", "free", "free_choice"} | ({"logprobs"} if row["engine"] == "vllm" else set())
    asked |= {"cloze"} if row["chat_template"] == "none" else set()
    return wrong + [f"no mode {mode}" for mode in sorted(asked - set(modes))]


def test_models_can_be_asked_in_their_modes() -> None:
    rows = [row for row in seed("models") if row["engine"] in ("vllm", "openai")]
    assert len(rows) >= 20
    assert {row["model"]: wrong for row in rows if (wrong := wrong_settings(row))} == {}
    generators = {row["model"] for row in rows if "json" in json.loads(row["sampling"])}
    assert {"HuatuoGPT-o1-8B", "HuatuoGPT-o1-7B", "m1-7B-23K"} <= generators


def test_wrong_settings_are_seen() -> None:
    modes = {"choice": {"seed": 0, "max_tokens": 2}, "free": {"top": 1}, "guess": {}}
    row = {"sampling": json.dumps(modes), "engine": "vllm", "chat_template": "none"}
    assert wrong_settings(row) == [
        "mode guess", "choice: settings are not in alphabetical order", "free: top",
        "no mode cloze", "no mode free_choice", "no mode logprobs",
    ]


def test_every_named_model_of_the_paper_has_a_row() -> None:
    unknown = seed("models_unknown")
    named = [name for row in unknown for name in row["named"].split()]
    assert len(named) == sum(int(row["n_named"]) for row in unknown) == 17
    assert len(named) + sum(int(row["n_unnamed"]) for row in unknown) == MODELS_OF_THE_PAPER
    found = re.findall(r"paper: ([\w.-]+\w)", "\n".join(row["comment"] for row in seed("models")))
    assert sorted(set(named) - set(found)) == []


@pytest.mark.parametrize("name", CHECKLISTS)
def test_checklists_name_what_exists(name: str) -> None:
    rows = seed(name)
    assert len(rows) == CHECKLISTS[name]
    assert wrong_places(rows) == []


def test_wrong_places_are_seen() -> None:
    rows = [
        {"topic": "a", "status": "done", "found_in": "rpt_leaderboard rpt_gone README.md gone.md"},
        {"topic": "b", "status": "partly", "found_in": ""},
        {"topic": "c", "status": "not done", "found_in": ""},
    ]
    assert wrong_places(rows) == ["a: rpt_gone", "a: gone.md", "b: no place"]


def test_medcheck_says_how_much_is_not_assessed() -> None:
    rows = seed("reporting_medcheck")
    numbers = [int(row["item"]) for row in rows if row["item"]]
    assert len(numbers) == len(set(numbers)) and max(numbers) <= MEDCHECK_CRITERIA
    rest = [row["topic"] for row in rows if row["status"] == "not assessed"]
    assert len(rest) == 1
    assert re.match(r"\d+", rest[0])[0] == str(MEDCHECK_CRITERIA - len(rows) + 1)


def test_hedge_phrases_are_folded() -> None:
    rows = seed("hedge_lexicon")
    assert [r["phrase"] for r in rows if not re.fullmatch(r"[a-z0-9]+( [a-z0-9]+)*", r["phrase"])] == []


def test_reasoning_markers_are_an_opening_and_a_closing_one() -> None:
    pairs = [json.loads(row["strip_markers"]) for row in seed("models") if row["strip_markers"]]
    assert pairs and all(len(pair) == 2 and all(pair) and pair[0] != pair[1] for pair in pairs)
