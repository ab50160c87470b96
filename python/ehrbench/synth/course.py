"""The clinical course of a synthetic patient, before any source's file format.

A course is drawn from an own generator of random numbers (md5 of seed, source and patient number),
by the same mechanisms as the MIMIC-IV cohort: see ``ehrbench.synth.cohort``.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from dataclasses import dataclass, field

from ehrbench.synth import codes
from ehrbench.synth.cohort import Maker, Visit, targets


@dataclass
class Course:
    """One patient: visits in time order, and what was planted in them."""

    number: int
    sex: str
    age: int
    visits: list[Visit]
    # (visit, target visit or None, task, relation, subject cui, object cui)
    planted: list[tuple] = field(default_factory=list)


def gap(rng: random.Random) -> dt.timedelta:
    """Time between two visits: some within a day, most within a year, a few beyond."""
    draw = rng.random()
    if draw < 0.05:
        return dt.timedelta(hours=rng.randrange(1, 23))
    if draw < 0.45:
        return dt.timedelta(days=rng.randrange(2, 30), hours=rng.randrange(24))
    if draw < 0.93:
        return dt.timedelta(days=rng.randrange(30, 330), hours=rng.randrange(24))
    return dt.timedelta(days=rng.randrange(380, 900), hours=rng.randrange(24))


def fill(
    maker: Maker,
    rng: random.Random,
    number: int,
    sex: str,
    age: int,
    visits: list[Visit],
    aside: set[str],
) -> Course:
    """Fill the visits with diagnoses and treatments; kinds in ``aside`` are no inpatient stays."""
    made = Course(number, sex, age, visits)
    cui, tables = maker.cui, maker.tables
    chronic = maker.chronic(rng, age, sex)
    forced: dict[int, list[str]] = defaultdict(list)
    blocked: set[str] = set()  # relatives of everything coded so far: no longer new
    aims = targets(visits, aside)
    for place, visit in enumerate(visits):
        pairs = maker.fill_diagnoses(rng, visit, chronic, forced[place], sex)
        because = maker.fill_treatments(rng, visit)
        for key in visit.diagnoses:
            blocked |= tables.related[key]
            if maker.catalogue.diagnoses[key]["kind"] == "chronic":
                chronic.setdefault(key, None)
        made.planted += [(visit, None, "dx", "coexists_with", cui[a], cui[b]) for a, b in pairs]
        made.planted += [(visit, None, "tx", "treat_with", cui[a], cui[b]) for a, b in because]
        if aims[place] is not None:
            target = visits[aims[place]]
            for relation, a, b in maker.plant_next(rng, visit, target, blocked, sex):
                forced[aims[place]].append(b)
                made.planted.append((visit, target, "px", relation, cui[a], cui[b]))
    return made


def diagnosis_codes(maker: Maker, rng: random.Random, visit: Visit) -> list[str]:
    """Dotted codes of a visit: its diseases in order, then status codes."""
    column = f"icd{visit.version}"
    found = [maker.catalogue.diagnoses[key][column] for key in visit.diagnoses]
    for row in maker.catalogue.tables["status_codes"]:
        kind, _, key = row["needs"].partition(":")
        if kind and key not in (visit.diagnoses if kind == "dx" else visit.drugs):
            continue
        if rng.random() < float(row["probability"]):
            found.append(row[column])
    return list(dict.fromkeys(found))


def orders(maker: Maker, rng: random.Random, visit: Visit) -> list[tuple[str, dict, str]]:
    """Orders of a visit: (text, drug, NDC), the order set included, in a mixed order."""
    found = []
    for key in visit.drugs:
        drug = maker.catalogue.drugs[key]
        for _ in range(1 if rng.random() < 0.75 else 2):
            found.append((rng.choice(maker.tables.texts[key]), drug, drug["ndc"]))
    for row in maker.catalogue.tables["order_set"]:
        if rng.random() < float(row["probability"]):
            drug = maker.catalogue.drugs[row["drug"]]
            found.append((row["text"], drug, row["ndc"] or drug["ndc"]))
    rng.shuffle(found)
    return found


def dirty(rng: random.Random, text: str) -> str:
    """A text as somebody may have typed it."""
    draw = rng.random()
    for share, change in codes.TEXT_DIRT:
        if draw < share:
            return change(text)
        draw -= share
    return text
