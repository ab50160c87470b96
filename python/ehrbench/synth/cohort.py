"""The synthetic cohort in MIMIC-IV hosp files, with planted clinical relations.

Each patient has an own generator of random numbers (md5 of seed and patient number), so patient i
is the same in a cohort of any size. Patients are made one by one and written at once: memory does
not grow with the cohort.

Three mechanisms plant the truth: a diagnosis brings others that coexist with it; a treatment
is ordered because of a diagnosis of the visit; a complication or adverse effect is newly coded at
the next inpatient visit. Everything else is drawn independently and is noise. Last, some ICD-10
visits get a code that an Excludes1 note keeps apart from another one of theirs.
"""

from __future__ import annotations

import csv
import datetime as dt
import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ehrbench.synth import codes
from ehrbench.synth.catalogue import Catalogue, category, split
from ehrbench.synth.facts import digest, generator, hubs
from ehrbench.synth.files import gzip_text

SOURCE = "mimic_iv"
FIRST_SUBJECT = 90_000_001
FIRST_ADMISSION = 900_000_000
FIRST_PHARMACY = 100_000_000
VISIT_CAP = 20
PHARMACY_STEP = 1_000
BLOCK = 50  # patients are written in a mixed order within blocks of this size
OVERLAP_PATIENT = 3
ICD10_START = dt.date(2015, 10, 1)
EMAR_START = dt.date(2013, 7, 1)
MERGE_HOURS = 24
HORIZON_DAYS = 365
MISCODED = 0.2  # share of ICD-10 visits that get a code against an Excludes1 note, if one fits
SKEW = 3.0  # prevalence = weight ** SKEW: a few diseases are common, most are rare

HEADERS = {
    "patients": "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod",
    "admissions": "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,"
    "admit_provider_id,admission_location,discharge_location,insurance,language,marital_status,"
    "race,edregtime,edouttime,hospital_expire_flag",
    "diagnoses_icd": "subject_id,hadm_id,seq_num,icd_code,icd_version",
    "procedures_icd": "subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version",
    "prescriptions": "subject_id,hadm_id,pharmacy_id,poe_id,poe_seq,order_provider_id,starttime,"
    "stoptime,drug_type,drug,formulary_drug_cd,gsn,ndc,prod_strength,form_rx,dose_val_rx,"
    "dose_unit_rx,form_val_disp,form_unit_disp,doses_per_24_hrs,route",
    "emar": "subject_id,hadm_id,emar_id,emar_seq,poe_id,pharmacy_id,enter_provider_id,charttime,"
    "medication,event_txt,scheduletime,storetime",
    "d_icd_diagnoses": "icd_code,icd_version,long_title",
    "d_icd_procedures": "icd_code,icd_version,long_title",
}
PLANTED_HEADER = "source,subject_id,hadm_id,target_hadm_id,task,relation,subject_cui,object_cui"

ADMISSION_TYPES = (
    ("EW EMER.", 38),
    ("OBSERVATION ADMIT", 14),
    ("URGENT", 14),
    ("EU OBSERVATION", 9),
    ("SURGICAL SAME DAY ADMISSION", 6),
    ("DIRECT EMER.", 6),
    ("ELECTIVE", 5),
    ("DIRECT OBSERVATION", 3),
    ("AMBULATORY OBSERVATION", 3),
)
OBSERVATION_TYPES = {"EU OBSERVATION", "DIRECT OBSERVATION", "AMBULATORY OBSERVATION"}
LOCATIONS = (
    "EMERGENCY ROOM",
    "PHYSICIAN REFERRAL",
    "TRANSFER FROM HOSPITAL",
    "CLINIC REFERRAL",
    "WALK-IN/SELF REFERRAL",
)
DISCHARGES = ("HOME", "HOME HEALTH CARE", "SKILLED NURSING FACILITY", "REHAB", None)
RACES = ("WHITE", "BLACK/AFRICAN AMERICAN", "ASIAN", "HISPANIC/LATINO - CUBAN", "UNKNOWN", "OTHER")
MARITAL = ("MARRIED", "SINGLE", "WIDOWED", "DIVORCED", None)
YEAR_GROUPS = ("2008 - 2010", "2011 - 2013", "2014 - 2016", "2017 - 2019", "2020 - 2022")
NOT_GIVEN = (
    "Not Given",
    "Hold Dose",
    "Not Given per Sliding Scale",
    "Not Applied",
    "Not Started",
    None,
)


@dataclass
class Tables:
    """Everything that sampling needs, worked out once from the catalogue."""

    catalogue: Catalogue
    chronic: list[str] = field(default_factory=list)
    chronic_weights: list[float] = field(default_factory=list)
    acute: list[str] = field(default_factory=list)
    acute_weights: list[float] = field(default_factory=list)
    coexist: dict[str, list[str]] = field(default_factory=dict)
    effects: dict[str, list[str]] = field(default_factory=dict)
    adverse: dict[str, list[str]] = field(default_factory=dict)
    families: dict[str, list[list[str]]] = field(default_factory=dict)
    procedures_for: dict[str, list[str]] = field(default_factory=dict)
    contraindicated: dict[str, set[str]] = field(default_factory=dict)
    apart: dict[str, set[str]] = field(default_factory=dict)
    related: dict[str, set[str]] = field(default_factory=dict)
    extra_related: list[set[str]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    noise_drugs: list[str] = field(default_factory=list)
    noise_weights: list[float] = field(default_factory=list)


def _relatives(catalogue: Catalogue) -> dict[str, set[str]]:
    """Diagnoses that forbid calling another one newly coded: same concept, two steps up or down,
    a shared parent that is no hub, or the same ICD category."""
    wide = hubs(catalogue)
    near: dict[str, set[str]] = {}
    for key in catalogue.diagnoses:
        parents = catalogue.parents.get(key, set()) - wide
        up = parents | {g for p in parents for g in catalogue.parents.get(p, set()) - wide}
        children = catalogue.children.get(key, set())
        down = children | {g for c in children for g in catalogue.children.get(c, set())}
        beside = {c for p in parents for c in catalogue.children[p]}
        near[key] = (up | down | beside | {key}) & set(catalogue.diagnoses)
    groups: dict[tuple[str, str], set[str]] = defaultdict(set)
    for key, row in catalogue.diagnoses.items():
        for version in ("10", "9"):
            if row[f"icd{version}"]:
                groups[(version, category(row[f"icd{version}"]))].add(key)
    for members in groups.values():
        for key in members:
            near[key] |= members
    return near


def prepare(catalogue: Catalogue) -> Tables:
    """Work out the sampling tables."""
    t = Tables(catalogue)
    for key, row in catalogue.diagnoses.items():
        keys, weights = (
            (t.chronic, t.chronic_weights)
            if row["kind"] == "chronic"
            else (t.acute, t.acute_weights)
        )
        keys.append(key)
        weights.append(float(row["weight"]) ** SKEW)
    coexist, effects, adverse = defaultdict(list), defaultdict(list), defaultdict(list)
    for row in catalogue.tables["coexists"]:
        if {row["a"], row["b"]} <= set(catalogue.diagnoses):
            coexist[row["a"]].append(row["b"])
            coexist[row["b"]].append(row["a"])
    for row in catalogue.tables["causes"]:
        if {row["cause"], row["effect"]} <= set(catalogue.diagnoses):
            effects[row["cause"]].append(row["effect"])
    for row in catalogue.tables["adverse"]:
        adverse[row["treatment"]].append(row["effect"])
    families: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    procedures = defaultdict(list)
    for row in catalogue.tables["treats"]:
        if row["disease"] not in catalogue.diagnoses:
            continue
        if row["treatment"] in catalogue.drugs:
            family = catalogue.drugs[row["treatment"]]["family"]
            families[row["disease"]][family].append(row["treatment"])
        elif row["treatment"] in catalogue.procedures:
            procedures[row["disease"]].append(row["treatment"])
    t.coexist, t.effects, t.adverse = dict(coexist), dict(effects), dict(adverse)
    t.families = {d: list(f.values()) for d, f in families.items()}
    t.procedures_for = dict(procedures)
    for row in catalogue.tables["contraindicated"]:
        t.contraindicated.setdefault(row["disease"], set()).add(row["treatment"])
    by_code = {row["icd10"]: key for key, row in catalogue.diagnoses.items() if row["icd10"]}
    for left, right in codes.excludes1_pairs(catalogue):
        if left["code"] in by_code and right["code"] in by_code:
            t.apart.setdefault(by_code[left["code"]], set()).add(by_code[right["code"]])
    t.related = _relatives(catalogue)
    for row in catalogue.tables["extra_codes"]:
        same = {(v, category(row[f"icd{v}"])) for v in ("10", "9")}
        t.extra_related.append(
            {
                key
                for key, dx in catalogue.diagnoses.items()
                if same & {(v, category(dx[f"icd{v}"])) for v in ("10", "9") if dx[f"icd{v}"]}
            }
        )
    for key, row in catalogue.drugs.items():
        t.texts[key] = list(split(row["texts"]))
        if row["family"] != "routine" and t.texts[key]:
            t.noise_drugs.append(key)
            t.noise_weights.append(1.0)
    return t


@dataclass
class Visit:
    """One admission while it is made."""

    hadm_id: int
    admitted: dt.datetime
    discharged: dt.datetime
    real: dt.date
    version: str
    kind: str
    diagnoses: list[str] = field(default_factory=list)  # catalogue keys, in code order
    drugs: list[str] = field(default_factory=list)
    procedures: list[str] = field(default_factory=list)
    extra: list[int] = field(default_factory=list)  # places in the table of further codes


@dataclass
class Patient:
    """All rows of one patient, by table."""

    rows: dict[str, list[list]] = field(default_factory=lambda: defaultdict(list))
    planted: list[list] = field(default_factory=list)


def _timeline(rng: random.Random, number: int) -> list[Visit]:
    """The visits of a patient in time order, without content."""
    count = 1 if rng.random() < 0.6 else 2
    if count == 2:
        while count < VISIT_CAP and rng.random() < 0.75:
            count += 1
    if number == OVERLAP_PATIENT:
        count = max(count, 2)
    real = dt.date(2008, 1, 1) + dt.timedelta(days=rng.randrange(500, 3600))
    shift = rng.randrange(102, 168)
    start = dt.datetime(real.year + shift, real.month, min(real.day, 28), rng.randrange(24))
    start += dt.timedelta(minutes=rng.randrange(60))
    first = start
    types, weights = zip(*ADMISSION_TYPES)
    visits = []
    for place in range(count):
        kind = rng.choices(types, weights)[0]
        hours = rng.randrange(8, 60) if kind in OBSERVATION_TYPES else rng.randrange(30, 320)
        end = start + dt.timedelta(hours=hours, minutes=rng.randrange(60))
        day = real + (start - first)
        visits.append(
            Visit(
                FIRST_ADMISSION + number * VISIT_CAP + place,
                start,
                end,
                day,
                "10" if day >= ICD10_START else "9",
                kind,
            )
        )
        draw = rng.random()
        if number == OVERLAP_PATIENT and place == 0:
            start = end - dt.timedelta(hours=6)
        elif draw < 0.06:
            start = end + dt.timedelta(hours=rng.randrange(1, 23))
        elif draw < 0.45:
            start = end + dt.timedelta(days=rng.randrange(2, 30), hours=rng.randrange(24))
        elif draw < 0.88:
            start = end + dt.timedelta(days=rng.randrange(30, 330), hours=rng.randrange(24))
        else:
            start = end + dt.timedelta(days=rng.randrange(380, 1300), hours=rng.randrange(24))
    return visits


def targets(visits: list[Visit], aside: set[str] = OBSERVATION_TYPES) -> list[int | None]:
    """For each visit the place of the next inpatient stay that a prognosis may aim at.

    None for visits that are no inpatient stay (their kind is in ``aside``), for stays at most a day
    apart (they count as one) and for gaps over the horizon.
    """
    found: list[int | None] = [None] * len(visits)
    for place, visit in enumerate(visits):
        if visit.kind in aside:
            continue
        after = visits[place + 1 :]
        near = dt.timedelta(hours=MERGE_HOURS)
        if after and after[0].admitted - visit.discharged <= near:
            continue
        for step, other in enumerate(after, start=place + 1):
            if other.kind not in aside:
                gap = other.admitted - visit.discharged
                if near < gap <= dt.timedelta(days=HORIZON_DAYS - 1):
                    found[place] = step
                break
    return found


class Maker:
    """Makes patients from prepared tables; holds no state between patients."""

    def __init__(self, catalogue: Catalogue, seed: int) -> None:
        self.catalogue = catalogue
        self.seed = seed
        self.tables = prepare(catalogue)
        self.cui = {key: concept.cui for key, concept in catalogue.concepts.items()}
        self.chronic_sum = list(itertools.accumulate(self.tables.chronic_weights))
        self.acute_sum = list(itertools.accumulate(self.tables.acute_weights))
        self.weight = {k: float(r["weight"]) for k, r in catalogue.diagnoses.items()}
        self.text_forms = [(share, change) for share, change in codes.TEXT_DIRT]

    # ---------- content of visits

    def _fits(self, rng: random.Random, key: str, have: set[str], sex: str) -> bool:
        row = self.catalogue.diagnoses[key]
        if key in have or (row["sex"] and row["sex"] != sex):
            return False
        clash = self.tables.apart.get(key, set()) & have
        return not clash or rng.random() < 0.1

    def _drawn(self, rng: random.Random, key: str) -> bool:
        """Whether a disease brings this one along: common ones come along more often."""
        return rng.random() < min(0.3, 0.028 * self.weight[key])

    def chronic(self, rng: random.Random, age: int, sex: str) -> dict[str, str | None]:
        """Chronic diseases of a patient, each with the disease that brought it (or None)."""
        t = self.tables
        found: dict[str, str | None] = {}
        for key in rng.choices(
            t.chronic, cum_weights=self.chronic_sum, k=1 + min(4, rng.randrange(age // 14 + 2))
        ):
            if self._fits(rng, key, set(found), sex):
                found[key] = None
        for key in list(found):
            for other in t.coexist.get(key, ()):
                if self.catalogue.diagnoses[other]["kind"] == "chronic" and self._drawn(rng, other):
                    if self._fits(rng, other, set(found), sex):
                        found[other] = key
        return found

    def fill_diagnoses(
        self,
        rng: random.Random,
        visit: Visit,
        chronic: dict[str, str | None],
        forced: list[str],
        sex: str,
    ) -> list[tuple[str, str]]:
        """Choose the diagnoses of a visit; returns the planted (subject, object) pairs."""
        t = self.tables
        rows = self.catalogue.diagnoses
        field_name = f"icd{visit.version}"
        have: list[str] = []
        brought: list[tuple[str, str]] = []

        def add(key: str, cause: str | None = None, must: bool = False) -> None:
            if not rows[key][field_name]:
                return
            if key in have:
                return
            if must or self._fits(rng, key, set(have), sex):
                have.append(key)
                if cause in have:
                    brought.append((cause, key))

        for key in forced:
            add(key, must=True)
        for key in rng.choices(t.acute, cum_weights=self.acute_sum, k=rng.randrange(1, 4)):
            add(key)
        for key, cause in chronic.items():
            if rng.random() < 0.9:
                add(key, cause)
        for key in list(have):
            for other in t.coexist.get(key, ()):
                if rows[other]["kind"] == "acute" and self._drawn(rng, other):
                    add(other, key)
        # An acute disease that brings its own complication within the visit is background only.
        for key in list(have):
            for other in t.effects.get(key, ()):
                if rows[other]["kind"] == "acute" and rng.random() < 0.04:
                    add(other)
        if rng.random() < 0.5:
            add(rng.choice(t.acute))
        visit.diagnoses = have[:24]
        kept = set(visit.diagnoses)
        return [pair for pair in brought if set(pair) <= kept]

    def fill_treatments(self, rng: random.Random, visit: Visit) -> list[tuple[str, str]]:
        """Choose drugs and procedures because of diagnoses; returns (diagnosis, treatment)."""
        t = self.tables
        avoid = set().union(*(t.contraindicated.get(d, set()) for d in visit.diagnoses))
        because: list[tuple[str, str]] = []
        for disease in visit.diagnoses:
            groups = t.families.get(disease, ())
            for place, members in enumerate(groups):
                # The first-line family is the likeliest; about 0.6 over all that are in use.
                if rng.random() >= max(0.03, 0.66 * 0.5**place):
                    continue
                ordered = [m for m in members if m in visit.drugs]
                if ordered:
                    drug = ordered[0]
                else:
                    weights = [(rank + 1.0) ** -2.5 for rank in range(len(members))]
                    drug = rng.choices(members, weights)[0]
                    if drug in avoid and rng.random() < 0.85:
                        continue
                    if not t.texts[drug] or len(visit.drugs) >= 22:
                        continue
                    visit.drugs.append(drug)
                because.append((disease, drug))
            for procedure in t.procedures_for.get(disease, ()):
                if rng.random() < 0.2:
                    if procedure not in visit.procedures:
                        visit.procedures.append(procedure)
                    because.append((disease, procedure))
        for drug in rng.choices(t.noise_drugs, k=rng.randrange(0, 3)):
            if drug not in visit.drugs:
                visit.drugs.append(drug)
        if rng.random() < 0.3:
            procedure = rng.choice(list(self.catalogue.procedures))
            if procedure not in visit.procedures:
                visit.procedures.append(procedure)
        return because

    def plant_next(
        self, rng: random.Random, visit: Visit, target: Visit, blocked: set[str], sex: str
    ) -> list[tuple[str, str, str]]:
        """Complications and adverse effects (relation, subject, object) for the target visit."""
        t = self.tables
        options = [
            ("causes", d, e, min(0.3, 0.05 * self.weight[e]))
            for d in visit.diagnoses
            for e in t.effects.get(d, ())
        ]
        options += [
            ("adverse_of", d, e, min(0.2, 0.025 * self.weight[e]))
            for d in visit.drugs + visit.procedures
            for e in t.adverse.get(d, ())
        ]
        found = []
        for relation, subject, effect, chance in options:
            row = self.catalogue.diagnoses[effect]
            if effect in blocked or not row[f"icd{target.version}"] or rng.random() >= chance:
                continue
            if row["sex"] and row["sex"] != sex:
                continue
            found.append((relation, subject, effect))
            if len(found) == 4:
                break
        return found

    # ---------- rows

    def _diagnosis_rows(
        self, rng: random.Random, subject: int, visit: Visit, statuses: list[dict]
    ) -> list[list]:
        system = visit.version
        found = [self.catalogue.diagnoses[k][f"icd{system}"] for k in visit.diagnoses]
        has_dx, has_drug = set(visit.diagnoses), set(visit.drugs)
        for row in statuses:
            kind, _, key = row["needs"].partition(":")
            if kind and key not in (has_dx if kind == "dx" else has_drug):
                continue
            if rng.random() < float(row["probability"]):
                found.append(row[f"icd{system}"])
        extra = self.catalogue.tables["extra_codes"]
        found += [extra[place][f"icd{system}"] for place in visit.extra]
        unique = list(dict.fromkeys(found))
        head, tail = unique[:2], unique[2:]
        rng.shuffle(tail)
        rows = [
            [subject, visit.hadm_id, place, codes.plain(code), system]
            for place, code in enumerate(head + tail, start=1)
        ]
        if rng.random() < 0.3:
            rng.shuffle(rows)
        return rows

    def _procedure_rows(self, rng: random.Random, subject: int, visit: Visit) -> list[list]:
        column = "pcs" if visit.version == "10" else "icd9"
        rows = []
        stay = max(1, (visit.discharged - visit.admitted).days)
        for key in visit.procedures:
            code = codes.plain(self.catalogue.procedures[key][column])
            days = {rng.randrange(stay)}
            if rng.random() < 0.15:
                days.add(rng.randrange(stay))
            if rng.random() < 0.01:
                days.add(stay + 20)
            for day in sorted(days):
                date = (visit.admitted + dt.timedelta(days=day)).date()
                rows.append([subject, visit.hadm_id, len(rows) + 1, date, code, visit.version])
        return rows

    def _text(self, rng: random.Random, text: str) -> str:
        draw = rng.random()
        for share, change in self.text_forms:
            if draw < share:
                return change(text)
            draw -= share
        return text

    def _order_rows(
        self, rng: random.Random, subject: int, visit: Visit, state: dict
    ) -> tuple[list[list], list[list]]:
        """Prescription and eMAR rows of a visit."""
        orders: list[tuple] = []  # (text, drug row, ndc, strength, times)
        for drug in visit.drugs:
            row = self.catalogue.drugs[drug]
            for _ in range(1 if rng.random() < 0.72 else rng.randrange(2, 4)):
                orders.append((rng.choice(self.tables.texts[drug]), row, row["ndc"]))
        for row in self.catalogue.tables["order_set"]:
            if rng.random() < float(row["probability"]):
                drug = self.catalogue.drugs[row["drug"]]
                orders.append((row["text"], drug, row["ndc"] or drug["ndc"]))
        rng.shuffle(orders)
        hours = max(4, int((visit.discharged - visit.admitted).total_seconds() // 3600))
        charted = rng.random() < (0.95 if visit.real >= EMAR_START else 0.08)
        rows, given = [], []
        for text, drug, ndc in orders:
            state["poe"] += rng.randrange(1, 6)
            state["pharmacy"] = (state["pharmacy"] + 1) % PHARMACY_STEP
            pharmacy = FIRST_PHARMACY + state["number"] * PHARMACY_STEP + state["pharmacy"]
            start = visit.admitted.replace(minute=0) + dt.timedelta(hours=rng.randrange(hours))
            draw = rng.random()
            if draw < 0.01:
                start -= dt.timedelta(hours=30)
            stop: dt.datetime | None = start + dt.timedelta(hours=rng.randrange(4, 90))
            if draw > 0.96:
                stop = start - dt.timedelta(hours=rng.randrange(1, 8))
            elif draw > 0.957:
                stop = None
            ndc_draw = rng.random()
            if ndc_draw < 0.1:
                ndc = "0"
            elif ndc_draw < 0.12:
                ndc = None
            elif ndc_draw < 0.13 and ndc.startswith("0") and len(ndc) == 11:
                ndc = ndc.lstrip("0")
            name = self._text(rng, text)
            if rng.random() < 0.002:
                name = ""
            strength = drug["strength"]
            form = strength.rsplit(" ", 1)[-1].upper()[:8]
            poe_id = f"{subject}-{state['poe']}"
            known = rng.random() < 0.9
            rows.append(
                [
                    subject,
                    visit.hadm_id,
                    pharmacy,
                    poe_id if known else None,
                    state["poe"] if known else None,
                    f"P{state['poe'] % 90 + 10:02d}SYN" if known else None,
                    start,
                    stop,
                    "MAIN",
                    name,
                    codes.plain(text.upper()).replace(" ", "")[:6] or None,
                    f"{digest(text) % 90000:06d}" if rng.random() < 0.86 else None,
                    ndc,
                    strength,
                    None,
                    strength.split(" ")[0],
                    "mg",
                    1,
                    form,
                    rng.choice((1, 1, 2, 3, None)),
                    drug["route"],
                ]
            )
            if drug["route"].startswith("IV") and rng.random() < 0.5:
                base = rng.choice(codes.BASE_TEXTS)
                extra = list(rows[-1])
                extra[8:13] = ["BASE", base, None, None, "0"]
                rows.append(extra)
                if drug["key"] == "kcl" and rng.random() < 0.2:
                    extra[9] = codes.ADDITIVE_BASE
                    rows[-2][8] = "ADDITIVE"
            if charted:
                taken = rng.random() < 0.8
                for _ in range(rng.randrange(1, 3)):
                    state["emar"] += rng.randrange(1, 4)
                    time = start + dt.timedelta(minutes=rng.randrange(10, 600))
                    if "Flush" in text:
                        event = "Flushed" if taken else "Not Flushed"
                    else:
                        event = "Administered" if taken else rng.choice(NOT_GIVEN)
                    given.append(
                        [
                            subject,
                            visit.hadm_id if rng.random() < 0.97 else None,
                            f"{subject}-{state['emar']}",
                            state["emar"],
                            poe_id,
                            pharmacy if rng.random() < 0.93 else None,
                            None,
                            time,
                            text if rng.random() < 0.955 else None,
                            event,
                            time.replace(minute=0),
                            time + dt.timedelta(minutes=3),
                        ]
                    )
        return rows, given

    def _miscoded_rows(
        self, number: int, visits: list[Visit], new: set[str], sex: str, rows: list[list]
    ) -> list[list]:
        """Further diagnosis rows, coded in error: an Excludes1 note keeps each apart from another
        code of its visit.

        At most one a visit, where a comorbidity of one of the two is coded too, and none that is
        related to the other (no item shows relatives together) or to a disease in ``new``, the
        planted effects. Drawn by an own generator: every other row of the patient stays as it is.
        """
        t = self.tables
        found = []
        for place, visit in enumerate(visits):
            rng = generator(self.seed, "miscoded", number, place)
            if visit.version != "10" or rng.random() >= MISCODED:
                continue
            have = set(visit.diagnoses)
            coded = [row[3] for row in rows if row[1] == visit.hadm_id]
            options = []
            for key in sorted({o for known in have for o in t.apart.get(known, ())} - have):
                row = self.catalogue.diagnoses[key]
                beside = t.apart[key] & have - t.related[key]
                true = set().union(*(t.coexist.get(k, ()) for k in (key, *beside))) & have
                fits = row["sex"] in ("", sex) and codes.plain(row["icd10"]) not in coded
                if beside and true and fits and not t.related[key] & new:
                    options.append(codes.plain(row["icd10"]))
            if options:
                code = rng.choice(options)
                found.append([rows[0][0], visit.hadm_id, len(coded) + 1, code, visit.version])
        return found

    def patient(self, number: int) -> Patient:
        """Make patient ``number`` (0, 1, ...): all rows and planted relations."""
        rng = generator(self.seed, "patient", number)
        subject = FIRST_SUBJECT + number
        made = Patient()
        sex = rng.choice("MF")
        age = min(91, max(18, int(rng.gauss(62, 17))))
        visits = _timeline(rng, number)
        aims = targets(visits)
        chronic = self.chronic(rng, age, sex)
        forced: dict[int, list[str]] = defaultdict(list)
        state = {"poe": 0, "pharmacy": 0, "emar": 0, "number": number}
        statuses = self.catalogue.tables["status_codes"]
        blocked: set[str] = set()  # relatives of everything coded so far: no longer new
        died = rng.random() < 0.05
        race, marital = rng.choice(RACES), rng.choice(MARITAL)
        language = rng.choice(("ENGLISH",) * 9 + ("?",))
        insurance = rng.choice(("Medicare", "Other", "Medicaid"))
        admissions = []
        for place, visit in enumerate(visits):
            pairs = self.fill_diagnoses(rng, visit, chronic, forced[place], sex)
            because = self.fill_treatments(rng, visit)
            for extra, row in enumerate(self.catalogue.tables["extra_codes"]):
                if rng.random() < float(row["probability"]):
                    visit.extra.append(extra)
                    blocked |= self.tables.extra_related[extra]
            blocked |= set().union(*(self.tables.related[key] for key in visit.diagnoses))
            for disease in visit.diagnoses:
                if self.catalogue.diagnoses[disease]["kind"] == "chronic":
                    chronic.setdefault(disease, None)
            plant = made.planted
            for a, b in pairs:
                plant.append(
                    [subject, visit.hadm_id, None, "dx", "coexists_with", self.cui[a], self.cui[b]]
                )
            for a, b in because:
                plant.append(
                    [subject, visit.hadm_id, None, "tx", "treat_with", self.cui[a], self.cui[b]]
                )
            if aims[place] is not None:
                target = visits[aims[place]]
                for relation, a, b in self.plant_next(rng, visit, target, blocked, sex):
                    forced[aims[place]].append(b)
                    plant.append(
                        [subject, visit.hadm_id, target.hadm_id, "px", relation]
                        + [self.cui[a], self.cui[b]]
                    )
            made.rows["diagnoses_icd"] += self._diagnosis_rows(rng, subject, visit, statuses)
            made.rows["procedures_icd"] += self._procedure_rows(rng, subject, visit)
            orders, given = self._order_rows(rng, subject, visit, state)
            made.rows["prescriptions"] += orders
            made.rows["emar"] += given
            dies = died and place == len(visits) - 1
            emergency = visit.kind in ("EW EMER.", "EU OBSERVATION", "OBSERVATION ADMIT")
            admissions.append(
                [
                    subject,
                    visit.hadm_id,
                    visit.admitted,
                    visit.discharged,
                    visit.discharged if dies else None,
                    visit.kind,
                    f"P{rng.randrange(10, 99)}SYN",
                    "EMERGENCY ROOM" if emergency else rng.choice(LOCATIONS),
                    "DIED" if dies else rng.choice(DISCHARGES),
                    insurance,
                    language,
                    marital,
                    race,
                    visit.admitted - dt.timedelta(hours=5) if emergency else None,
                    visit.admitted + dt.timedelta(hours=1) if emergency else None,
                    int(dies),
                ]
            )
        new = {effect for effects in forced.values() for effect in effects}
        coded = made.rows["diagnoses_icd"]
        coded += self._miscoded_rows(number, visits, new, sex, coded)
        rng.shuffle(admissions)
        made.rows["admissions"] = admissions
        group = YEAR_GROUPS[min(4, max(0, (visits[0].real.year - 2008) // 3))]
        last = visits[-1]
        dod = None
        if died:
            dod = last.discharged.date()
        elif rng.random() < 0.2:
            dod = (last.discharged + dt.timedelta(days=rng.randrange(20, 900))).date()
        made.rows["patients"] = [[subject, sex, age, visits[0].admitted.year, group, dod]]
        return made


def _dictionaries(catalogue: Catalogue, hosp: Path) -> dict[str, int]:
    """Write the two code dictionaries (keys: code and version)."""
    found: dict[tuple[str, str], str] = {}
    for row in codes.diagnosis_codes(catalogue):
        version = "10" if row["code_system"] == "ICD10CM" else "9"
        found[(codes.plain(row["code"]), version)] = row["title"]
    for row in catalogue.tables["icd_parents"]:
        version = "10" if row["code_system"] == "ICD10CM" else "9"
        found.setdefault((codes.plain(row["code"]), version), row["title"])
    for row in catalogue.tables["twin_codes"]:
        for version in ("9", "10"):
            found.setdefault((row["code"], version), row[f"title{version}"])
    counts = {}
    procedures = {}
    for row in catalogue.procedures.values():
        procedures[(codes.plain(row["icd9"]), "9")] = row["title9"]
        procedures[(row["pcs"], "10")] = row["title_pcs"]
    for name, table in (("d_icd_diagnoses", found), ("d_icd_procedures", procedures)):
        with gzip_text(hosp / f"{name}.csv.gz") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(HEADERS[name].split(","))
            writer.writerows([*key, table[key]] for key in sorted(table))
        counts[f"{SOURCE}/hosp/{name}.csv.gz"] = len(table)
    return counts


def blocks(patients: int, seed: int) -> Iterator[int]:
    """Patient numbers in the order of the files: mixed within blocks, whatever the cohort's size.
    """
    for first in range(0, patients, BLOCK):
        block = range(first, min(first + BLOCK, patients))
        yield from sorted(block, key=lambda number: digest(seed, "order", number))


def write(
    maker: Maker,
    seed: int,
    patients: int,
    raw: Path,
    plant: Callable[[str, list[list]], None],
    also: Callable[[int, Patient], None],
) -> dict[str, int]:
    """Write the hosp tables, and hand the planted facts and every patient on.

    ``patients`` is any number from 1; the range of made-up ids ends at 10,000,000. Returns row
    counts by path below ``raw``.
    """
    hosp = raw / SOURCE / "hosp"
    counts = _dictionaries(maker.catalogue, hosp)
    names = [name for name in HEADERS if not name.startswith("d_")]
    with ExitStack() as stack:
        writers = {}
        for name in names:
            out = stack.enter_context(gzip_text(hosp / f"{name}.csv.gz"))
            writers[name] = csv.writer(out, lineterminator="\n")
            writers[name].writerow(HEADERS[name].split(","))
            counts[f"{SOURCE}/hosp/{name}.csv.gz"] = 0
        for number in blocks(patients, seed):
            made = maker.patient(number)
            for name in names:
                writers[name].writerows(made.rows[name])
                counts[f"{SOURCE}/hosp/{name}.csv.gz"] += len(made.rows[name])
            plant(SOURCE, made.planted)
            also(number, made)
    return counts
