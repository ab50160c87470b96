"""A synthetic MIMIC-III v1.4 cohort: its layouts, its oddities, planted relations.

ICD-9 only; text is quoted, headers are in upper case. Half of the patients have CareVue stays only,
the others MetaVision ones, both, or no stay in an ICU at all.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from ehrbench.synth import codes
from ehrbench.synth.cohort import Maker, Visit, blocks
from ehrbench.synth.course import Course, diagnosis_codes, dirty, fill, gap, orders
from ehrbench.synth.facts import digest, generator
from ehrbench.synth.files import gzip_text

SOURCE = "mimic_iii"
FIRST_SUBJECT = 80_000_001
FIRST_ADMISSION = 800_000_000
FIRST_STAY = 700_000_000
VISIT_CAP = 12
ROW_STEP = 3_000  # ROW_IDs that a patient may use in one table
METAVISION_START = dt.date(2008, 7, 1)
NEWBORN_EVERY, NEWBORN_AT = 25, 17  # every 25th patient is born in the hospital
WITHOUT_STAY_EVERY, WITHOUT_STAY_AT = 20, 13
SWITCHED_AT = 5  # every tenth patient is there when the ICU changes its system
OLDEST_AT = 4  # this patient is over 89

HEADERS = {
    "PATIENTS": "ROW_ID,SUBJECT_ID,GENDER,DOB,DOD,DOD_HOSP,DOD_SSN,EXPIRE_FLAG",
    "ADMISSIONS": "ROW_ID,SUBJECT_ID,HADM_ID,ADMITTIME,DISCHTIME,DEATHTIME,ADMISSION_TYPE,"
    "ADMISSION_LOCATION,DISCHARGE_LOCATION,INSURANCE,LANGUAGE,RELIGION,MARITAL_STATUS,ETHNICITY,"
    "EDREGTIME,EDOUTTIME,DIAGNOSIS,HOSPITAL_EXPIRE_FLAG,HAS_CHARTEVENTS_DATA",
    "DIAGNOSES_ICD": "ROW_ID,SUBJECT_ID,HADM_ID,SEQ_NUM,ICD9_CODE",
    "PROCEDURES_ICD": "ROW_ID,SUBJECT_ID,HADM_ID,SEQ_NUM,ICD9_CODE",
    "PRESCRIPTIONS": "ROW_ID,SUBJECT_ID,HADM_ID,ICUSTAY_ID,STARTDATE,ENDDATE,DRUG_TYPE,DRUG,"
    "DRUG_NAME_POE,DRUG_NAME_GENERIC,FORMULARY_DRUG_CD,GSN,NDC,PROD_STRENGTH,DOSE_VAL_RX,"
    "DOSE_UNIT_RX,FORM_VAL_DISP,FORM_UNIT_DISP,ROUTE",
    "ICUSTAYS": "ROW_ID,SUBJECT_ID,HADM_ID,ICUSTAY_ID,DBSOURCE,FIRST_CAREUNIT,LAST_CAREUNIT,"
    "FIRST_WARDID,LAST_WARDID,INTIME,OUTTIME,LOS",
    "D_ICD_DIAGNOSES": "ROW_ID,ICD9_CODE,SHORT_TITLE,LONG_TITLE",
    "D_ICD_PROCEDURES": "ROW_ID,ICD9_CODE,SHORT_TITLE,LONG_TITLE",
}
ADMISSION_TYPES = (("EMERGENCY", 70), ("ELECTIVE", 22), ("URGENT", 8))
LOCATIONS = (
    "EMERGENCY ROOM ADMIT",
    "PHYS REFERRAL/NORMAL DELI",
    "TRANSFER FROM HOSP/EXTRAM",
    "CLINIC REFERRAL/PREMATURE",
)
DISCHARGES = ("HOME", "HOME HEALTH CARE", "SNF", "REHAB/DISTINCT PART HOSP")
CARE_UNITS = ("MICU", "CCU", "SICU", "CSRU", "TSICU")


def line(values: list) -> str:
    """One row of the release: text quoted, numbers, times and NULL bare."""
    parts = []
    for value in values:
        if value is None:
            parts.append("")
        elif isinstance(value, str):
            parts.append('"' + value.replace('"', '""') + '"')
        else:
            parts.append(str(value))
    return ",".join(parts) + "\n"


def midnight(day: dt.datetime) -> dt.datetime:
    """The start of a day: dates of this release carry no time."""
    return day.replace(hour=0, minute=0, second=0)


def _dates(rng: random.Random, number: int) -> tuple[dt.date, int]:
    """Date of the first visit before the shift, and the number of visits."""
    if number % 2 == 0:
        first = dt.date(2001, 6, 1) + dt.timedelta(days=rng.randrange(1200))
    elif number % 10 == SWITCHED_AT:
        first = dt.date(2007, 6, 1) + dt.timedelta(days=rng.randrange(300))
    else:
        first = METAVISION_START + dt.timedelta(days=rng.randrange(900))
    count = 1 if rng.random() < 0.4 else 2
    while 2 <= count < VISIT_CAP and rng.random() < 0.65:
        count += 1
    if number % 10 == SWITCHED_AT:
        count = max(count, 4)
    return first, count


def _visits(rng: random.Random, number: int) -> list[Visit]:
    first, count = _dates(rng, number)
    shift = rng.randrange(102, 190)
    start = dt.datetime(first.year + shift, first.month, min(first.day, 28), rng.randrange(24))
    start += dt.timedelta(minutes=rng.randrange(60))
    begin = start
    types, weights = zip(*ADMISSION_TYPES)
    found = []
    for place in range(count):
        kind = rng.choices(types, weights)[0]
        end = start + dt.timedelta(hours=rng.randrange(30, 320), minutes=rng.randrange(60))
        day = first + (start - begin)
        if number % 2 == 0 and day >= METAVISION_START:
            break
        found.append(
            Visit(FIRST_ADMISSION + number * VISIT_CAP + place, start, end, day, "9", kind)
        )
        start = end + gap(rng)
    return found


def _newborn(rng: random.Random, number: int) -> Course:
    visits = _visits(rng, number)[:1]
    visits[0].kind = "NEWBORN"
    return Course(number, rng.choice("MF"), 0, visits)


class Writer:
    """The rows of one patient, by table; row ids are taken from the patient's own range."""

    def __init__(self, maker: Maker, seed: int) -> None:
        self.maker = maker
        self.seed = seed
        self.catalogue = maker.catalogue

    def course(self, number: int) -> Course:
        """The clinical course of patient ``number`` (0, 1, ...)."""
        rng = generator(self.seed, SOURCE, number)
        if number % NEWBORN_EVERY == NEWBORN_AT:
            return _newborn(rng, number)
        sex, age = rng.choice("MF"), min(89, max(18, int(rng.gauss(63, 16))))
        if number == OLDEST_AT or rng.random() < 0.04:
            age = rng.randrange(90, 97)
        return fill(self.maker, rng, number, sex, age, _visits(rng, number), set())

    def rows(self, course: Course) -> dict[str, list[list]]:
        """All rows of one patient, by table, in the column order of ``HEADERS``."""
        rng = generator(self.seed, SOURCE, "rows", course.number)
        found: dict[str, list[list]] = {name: [] for name in HEADERS}
        subject = FIRST_SUBJECT + course.number
        died = rng.random() < 0.1
        staid = course.number % WITHOUT_STAY_EVERY != WITHOUT_STAY_AT
        for place, visit in enumerate(course.visits):
            dies = died and place == len(course.visits) - 1
            stays = list(self._stays(rng, subject, visit, place)) if staid else []
            found["ICUSTAYS"] += stays
            found["ADMISSIONS"].append(self._admission(rng, subject, visit, dies, bool(stays)))
            found["DIAGNOSES_ICD"] += self._diagnoses(rng, subject, visit)
            found["PROCEDURES_ICD"] += self._procedures(rng, subject, visit)
            stay = stays[0][2] if stays else None
            found["PRESCRIPTIONS"] += self._prescriptions(rng, subject, visit, stay)
        first, last = course.visits[0], course.visits[-1]
        born = first.admitted.year - (300 if course.age > 89 else course.age)
        dob = dt.datetime(born, 1 if course.age else first.admitted.month, 1)
        dob += dt.timedelta(days=rng.randrange(28) if course.age else first.admitted.day - 1)
        dod = midnight(last.discharged) if died else None
        if dod is None and rng.random() < 0.2:
            dod = midnight(last.discharged) + dt.timedelta(days=rng.randrange(20, 900))
        hospital = dod if died else None
        registry = dod if dod and rng.random() < 0.8 else None
        found["PATIENTS"].append(
            [subject, course.sex, dob, dod, hospital, registry, int(dod is not None)]
        )
        for table in found.values():
            table[:] = [
                [course.number * ROW_STEP + row_id, *row] for row_id, row in enumerate(table, 1)
            ]
        return found

    def _stays(
        self, rng: random.Random, subject: int, visit: Visit, place: int
    ) -> Iterator[list]:
        start = visit.admitted + dt.timedelta(minutes=rng.randrange(1, 300))
        unit = "NICU" if visit.kind == "NEWBORN" else rng.choice(CARE_UNITS)
        source = "carevue" if visit.real < METAVISION_START else "metavision"
        if place == 1 and (subject - FIRST_SUBJECT) % 10 == SWITCHED_AT:
            source = "both"
        for number in range(2 if rng.random() < 0.1 else 1):
            hours = rng.randrange(12, 80)
            end = min(start + dt.timedelta(hours=hours), visit.discharged)
            stay = FIRST_STAY + (visit.hadm_id - FIRST_ADMISSION) * 2 + number
            ward = 10 + digest(unit) % 50
            days = round((end - start).total_seconds() / 86400, 4)
            yield [subject, visit.hadm_id, stay, source, unit, unit, ward, ward, start, end, days]
            start = end + dt.timedelta(hours=1)
            if start >= visit.discharged:
                break

    def _admission(
        self, rng: random.Random, subject: int, visit: Visit, dies: bool, charted: bool
    ) -> list:
        emergency = visit.kind == "EMERGENCY"
        names = [self.catalogue.diagnoses[key]["name"].upper() for key in visit.diagnoses[:2]]
        return [
            subject,
            visit.hadm_id,
            visit.admitted,
            visit.discharged,
            visit.discharged if dies else None,
            visit.kind,
            LOCATIONS[0] if emergency else rng.choice(LOCATIONS[1:]),
            "DEAD/EXPIRED" if dies else rng.choice(DISCHARGES),
            rng.choice(("Medicare", "Private", "Medicaid", "Government", "Self Pay")),
            rng.choice(("ENGL", "ENGL", None)),
            rng.choice(("CATHOLIC", "NOT SPECIFIED", "UNOBTAINABLE", None)),
            rng.choice(("MARRIED", "SINGLE", "WIDOWED", None)),
            rng.choice(("WHITE", "BLACK/AFRICAN AMERICAN", "UNKNOWN/NOT SPECIFIED")),
            visit.admitted - dt.timedelta(hours=5) if emergency else None,
            visit.admitted + dt.timedelta(hours=1) if emergency else None,
            rng.choice(("", " ")) + rng.choice((";", "/", "\\")).join(names) or "NEWBORN",
            int(dies),
            int(charted),
        ]

    def _diagnoses(self, rng: random.Random, subject: int, visit: Visit) -> list[list]:
        if visit.kind == "NEWBORN":
            table = self.catalogue.tables["newborn_codes"]
            found = [table[0]["icd9"]]
            found += [row["icd9"] for row in table[1:] if rng.random() < 0.6]
        else:
            found = diagnosis_codes(self.maker, rng, visit)
            for row in self.catalogue.tables["header_codes"]:
                if row["code_system"] != "ICD9CM" or row["needs"] not in visit.diagnoses:
                    continue
                if rng.random() < float(row["probability"]):
                    found.append(row["code"])
        rows = [
            [subject, visit.hadm_id, place, codes.plain(code)]
            for place, code in enumerate(found, start=1)
        ]
        if rng.random() < 0.3:
            rng.shuffle(rows)
        return rows

    def _procedures(self, rng: random.Random, subject: int, visit: Visit) -> list[list]:
        found = []
        for key in visit.procedures:
            found.append(self.catalogue.procedures[key]["icd9"])
            if rng.random() < 0.05:
                found.append(found[-1])
        for row in self.catalogue.tables["header_codes"]:
            if row["code_system"] == "ICD9PROC" and row["needs"] in visit.procedures:
                if rng.random() < float(row["probability"]):
                    found.append(row["code"])
        return [
            [subject, visit.hadm_id, place, codes.plain(code)]
            for place, code in enumerate(found, start=1)
        ]

    def _prescriptions(
        self, rng: random.Random, subject: int, visit: Visit, stay: int | None
    ) -> list[list]:
        found = []
        wanted = [] if visit.kind == "NEWBORN" else orders(self.maker, rng, visit)
        days = max(1, (visit.discharged - visit.admitted).days)
        for text, drug, ndc in wanted:
            start = midnight(visit.admitted) + dt.timedelta(days=rng.randrange(days))
            draw = rng.random()
            end: dt.datetime | None = start + dt.timedelta(days=rng.randrange(5))
            if draw > 0.98:
                end = start - dt.timedelta(days=1)
            elif draw > 0.975:
                end = None
            name = dirty(rng, text)
            known = rng.random() < 0.55
            generic = ("*NF* " if rng.random() < 0.03 else "") + text if known else None
            strength = drug["strength"]
            row = [
                subject,
                visit.hadm_id,
                stay if rng.random() < 0.6 else None,
                start,
                end,
                "MAIN",
                name,
                text if known else None,
                generic,
                codes.plain(text.upper()).replace(" ", "")[:6],
                f"{digest(text) % 90000:06d}" if rng.random() < 0.86 else None,
                "0" if rng.random() < 0.14 else ndc,
                strength,
                strength.split(" ")[0],
                "mg",
                "1",
                strength.rsplit(" ", 1)[-1].upper()[:8],
                drug["route"],
            ]
            found.append(row)
            if rng.random() < 0.06:
                found.append(list(row))
            if drug["route"].startswith("IV") and rng.random() < 0.5:
                base = list(row)
                base[5:12] = ["BASE", rng.choice(codes.BASE_TEXTS), None, None, None, None, "0"]
                found.append(base)
        return found


def _dictionaries(maker: Maker, folder: Path) -> dict[str, int]:
    catalogue = maker.catalogue
    # The codes in header_codes.csv are in neither dictionary.
    diagnoses = {
        row["code"]: row["title"]
        for row in codes.diagnosis_codes(catalogue)
        if row["code_system"] == "ICD9CM"
    }
    procedures = {row["icd9"]: row["title9"] for row in catalogue.procedures.values()}
    counts = {}
    for name, table in (("D_ICD_DIAGNOSES", diagnoses), ("D_ICD_PROCEDURES", procedures)):
        with gzip_text(folder / f"{name}.csv.gz") as out:
            out.write(line(HEADERS[name].split(",")))
            for number, code in enumerate(sorted(table), start=1):
                title = table[code]
                out.write(line([number, codes.plain(code), title[:24].strip(), title]))
        counts[f"{SOURCE}/{name}.csv.gz"] = len(table)
    return counts


def write(
    maker: Maker, seed: int, patients: int, raw: Path, plant: Callable[[str, list[list]], None]
) -> dict[str, int]:
    """Write the tables under ``raw``/mimic_iii and hand the planted facts on.

    Returns row counts by path below ``raw``.
    """
    folder = raw / SOURCE
    counts = _dictionaries(maker, folder)
    writer = Writer(maker, seed)
    names = [name for name in HEADERS if not name.startswith("D_")]
    with ExitStack() as stack:
        files = {}
        for name in names:
            files[name] = stack.enter_context(gzip_text(folder / f"{name}.csv.gz"))
            files[name].write(line(HEADERS[name].split(",")))
            counts[f"{SOURCE}/{name}.csv.gz"] = 0
        for number in blocks(patients, seed):
            course = writer.course(number)
            for name, rows in writer.rows(course).items():
                if name in files:
                    files[name].writelines(line(row) for row in rows)
                    counts[f"{SOURCE}/{name}.csv.gz"] += len(rows)
            subject = FIRST_SUBJECT + number
            plant(
                SOURCE,
                [
                    [subject, visit.hadm_id, target.hadm_id if target else None, *rest]
                    for visit, target, *rest in course.planted
                ],
            )
    return counts
