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
CHECKLISTS = {"reporting_tripod_llm": 49, "reporting_medcheck": 9}


def seed(name: str) -> list[dict[str, str]]:
    with (ROOT / "seeds" / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def known_names() -> set[str]:
    """Names of models, seeds and queries."""
    files = [*ROOT.glob("models/**/*.sql"), *ROOT.glob("seeds/*.csv"), *ROOT.glob("analyses/*.sql")]
    return {file.stem for file in files}


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
    found = re.findall(r"paper: ([\w.-]+\w)", "\n".join(row["comment"] for row in seed("models")))
    assert sorted(set(named) - set(found)) == []


@pytest.mark.parametrize("name", CHECKLISTS)
def test_checklists_name_what_exists(name: str) -> None:
    rows, known = seed(name), known_names()
    assert len(rows) == CHECKLISTS[name]
    missing = [
        (row["topic"], place)
        for row in rows
        for place in row["found_in"].split()
        if place not in known and not (ROOT / place).is_file()
    ]
    assert missing == []
    assert [row["topic"] for row in rows if row["status"] == "done" and not row["found_in"]] == []


def test_hedge_phrases_are_folded() -> None:
    rows = seed("hedge_lexicon")
    assert [r["phrase"] for r in rows if not re.fullmatch(r"[a-z0-9]+( [a-z0-9]+)*", r["phrase"])] == []
    weights = {kind: {float(row["weight"]) for row in rows if row["kind"] == kind}
               for kind in ("hedge", "abstain", "certainty")}
    assert weights["abstain"] == {1.0}
    assert min(weights["hedge"]) > 0 and max(weights["hedge"]) < 1
    assert max(weights["certainty"]) < 0
