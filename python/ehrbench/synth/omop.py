"""Two synthetic OMOP CDM sites, with planted relations.

``omop_harbor`` is a clean 5.4 site with patients of its own and names of its concepts.
``omop_mimic_iv_synth`` is a dirty 5.3 site: some of the synthetic MIMIC-IV patients again, without
vocabularies, with charted items beside the billed codes. Not every billed code is a condition or a
procedure there: status codes are observations and diagnostic procedures measurements, as their
domains say.
"""

from __future__ import annotations

import csv
import datetime as dt
import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from ehrbench.synth import codes
from ehrbench.synth.catalogue import Catalogue, split
from ehrbench.synth.cohort import (
    ADMISSION_TYPES,
    FIRST_SUBJECT,
    Maker,
    Patient,
    Visit,
    blocks,
)
from ehrbench.synth.course import Course, diagnosis_codes, dirty, fill, gap, orders
from ehrbench.synth.facts import digest, generator
from ehrbench.synth.files import plain_text

HARBOR = "omop_harbor"
OVERLAP = "omop_mimic_iv_synth"
OVERLAP_EVERY, OVERLAP_AT = 20, (0, 7, 13)  # the MIMIC-IV patients whom the site holds too
FIRST_PERSON = 41_000_001
VISIT_CAP = 10
ROW_STEP = 10_000  # ids that a person may use in one table

# Type concepts of the OMOP vocabulary: what kind of record a row comes from.
EHR, BILLING, PRESCRIPTION, PROBLEM_LIST = 32817, 32821, 32838, 32840
INPATIENT, OUTPATIENT, EMERGENCY, EMERGENCY_INPATIENT = 9201, 9202, 9203, 262
LABORATORY_VISIT = 38004207
CHARTED_PROCEDURE = 32833  # EHR order: items of a flowsheet
# The dirty site's own concepts: it names the types of its visits and nothing else.
VISIT_TYPES = {
    kind: 2_000_001_801 + place
    for place, kind in enumerate(sorted(kind for kind, _ in ADMISSION_TYPES))
}

PERSON = (
    "person_id,gender_concept_id,year_of_birth,month_of_birth,day_of_birth,birth_datetime,"
    "race_concept_id,ethnicity_concept_id,location_id,provider_id,care_site_id,"
    "person_source_value,gender_source_value,gender_source_concept_id,race_source_value,"
    "race_source_concept_id,ethnicity_source_value,ethnicity_source_concept_id"
)
VISIT_HEAD = (
    "visit_occurrence_id,person_id,visit_concept_id,visit_start_date,visit_start_datetime,"
    "visit_end_date,visit_end_datetime,visit_type_concept_id,provider_id,care_site_id,"
    "visit_source_value,visit_source_concept_id,"
)
DRUG = (
    "drug_exposure_id,person_id,drug_concept_id,drug_exposure_start_date,"
    "drug_exposure_start_datetime,drug_exposure_end_date,drug_exposure_end_datetime,"
    "verbatim_end_date,drug_type_concept_id,stop_reason,refills,quantity,days_supply,sig,"
    "route_concept_id,lot_number,provider_id,visit_occurrence_id,visit_detail_id,"
    "drug_source_value,drug_source_concept_id,route_source_value,dose_unit_source_value"
)
CONDITION_HEAD = (
    "condition_occurrence_id,person_id,condition_concept_id,condition_start_date,"
    "condition_start_datetime,condition_end_date,condition_end_datetime,"
    "condition_type_concept_id,"
)
PROCEDURE_HEAD = (
    "procedure_occurrence_id,person_id,procedure_concept_id,procedure_date,procedure_datetime,"
)
DEATH = (
    "person_id,death_date,death_datetime,death_type_concept_id,cause_concept_id,"
    "cause_source_value,cause_source_concept_id"
)
CONCEPT = (
    "concept_id,concept_name,domain_id,vocabulary_id,concept_class_id,standard_concept,"
    "concept_code,valid_start_date,valid_end_date,invalid_reason"
)
CDM_SOURCE = (
    "cdm_source_name,cdm_source_abbreviation,cdm_holder,source_description,"
    "source_documentation_reference,cdm_etl_reference,source_release_date,cdm_release_date,"
    "cdm_version"
)
# The two versions name some columns differently and order one table differently.
HARBOR_HEADERS = {
    "person": PERSON,
    "visit_occurrence": VISIT_HEAD
    + "admitted_from_concept_id,admitted_from_source_value,discharged_to_concept_id,"
    "discharged_to_source_value,preceding_visit_occurrence_id",
    "condition_occurrence": CONDITION_HEAD
    + "condition_status_concept_id,stop_reason,provider_id,visit_occurrence_id,visit_detail_id,"
    "condition_source_value,condition_source_concept_id,condition_status_source_value",
    "drug_exposure": DRUG,
    "procedure_occurrence": PROCEDURE_HEAD
    + "procedure_end_date,procedure_end_datetime,procedure_type_concept_id,modifier_concept_id,"
    "quantity,provider_id,visit_occurrence_id,visit_detail_id,procedure_source_value,"
    "procedure_source_concept_id,modifier_source_value",
    "death": DEATH,
}
OVERLAP_HEADERS = {
    "person": PERSON,
    "visit_occurrence": VISIT_HEAD
    + "admitting_source_concept_id,admitting_source_value,discharge_to_concept_id,"
    "discharge_to_source_value,preceding_visit_occurrence_id",
    "condition_occurrence": CONDITION_HEAD
    + "stop_reason,provider_id,visit_occurrence_id,visit_detail_id,condition_source_value,"
    "condition_source_concept_id,condition_status_source_value,condition_status_concept_id",
    "drug_exposure": DRUG,
    "procedure_occurrence": PROCEDURE_HEAD
    + "procedure_type_concept_id,modifier_concept_id,quantity,provider_id,visit_occurrence_id,"
    "visit_detail_id,procedure_source_value,procedure_source_concept_id,modifier_source_value",
    "observation": "observation_id,person_id,observation_concept_id,observation_date,"
    "observation_datetime,observation_type_concept_id,value_as_number,value_as_string,"
    "value_as_concept_id,qualifier_concept_id,unit_concept_id,provider_id,visit_occurrence_id,"
    "visit_detail_id,observation_source_value,observation_source_concept_id,unit_source_value,"
    "qualifier_source_value",
    "measurement": "measurement_id,person_id,measurement_concept_id,measurement_date,"
    "measurement_datetime,measurement_time,measurement_type_concept_id,operator_concept_id,"
    "value_as_number,value_as_concept_id,unit_concept_id,range_low,range_high,provider_id,"
    "visit_occurrence_id,visit_detail_id,measurement_source_value,measurement_source_concept_id,"
    "unit_source_value,value_source_value",
}
# Tables whose one row says the header again: an export of empty tables that some tools write.
HEADER_ONLY = {
    "death": DEATH,
    "location": "location_id,address_1,address_2,city,state,zip,county,location_source_value",
    "care_site": "care_site_id,care_site_name,place_of_service_concept_id,location_id,"
    "care_site_source_value,place_of_service_source_value",
}
CHARTED = (
    ("SR (Sinus Rhythm)", 12),
    ("ST (Sinus Tachycardia)", 3),
    ("AF (Atrial Fibrillation)", 3),
    ("Bed bath", 2),
    ("Q2H turn", 2),
)
CHARTED_PROCEDURES = ("Chest X-Ray", "20 Gauge", "Foley catheter care", "225402")


# ---------- concepts


def concept_id(kind: str, *parts: str) -> int:
    """A made-up id of a concept, stable and below the range that OMOP leaves to sites."""
    start = {"SNOMED": 1_800, "RxNorm": 1_820, "ICD10CM": 1_840, "ICD10PCS": 1_860}[kind]
    return start * 1_000_000 + digest("concept", kind, *parts) % 10_000_000


def concepts(catalogue: Catalogue) -> list[list]:
    """Rows of the harbor site's concept table, by id."""
    rows: dict[int, list] = {}

    def add(number: int, name: str, domain: str, vocabulary: str, kind: str, code: str) -> None:
        standard = "" if vocabulary in ("ICD10CM", "ICD10PCS") else "S"
        row = [number, name, domain, vocabulary, kind, standard, code]
        if number in rows and rows[number][:7] != row:
            raise ValueError(f"two concepts share the id {number}")
        rows[number] = [*row, "1970-01-01", "2099-12-31", ""]

    for key, name, domain, vocabulary, code in (
        (INPATIENT, "Inpatient Visit", "Visit", "Visit", "IP"),
        (OUTPATIENT, "Outpatient Visit", "Visit", "Visit", "OP"),
        (EMERGENCY, "Emergency Room Visit", "Visit", "Visit", "ER"),
        (EHR, "EHR", "Type Concept", "Type Concept", "OMOP4976890"),
        (BILLING, "EHR billing record", "Type Concept", "Type Concept", "OMOP4976894"),
        (PRESCRIPTION, "EHR prescription", "Type Concept", "Type Concept", "OMOP4976911"),
        (8507, "MALE", "Gender", "Gender", "M"),
        (8532, "FEMALE", "Gender", "Gender", "F"),
    ):
        add(key, name, domain, vocabulary, vocabulary, code)
    for table, domain, kind in (
        ("diagnoses", "Condition", "Clinical Finding"),
        ("procedures", "Procedure", "Procedure"),
    ):
        for row in catalogue.tables[table]:
            code = codes.snomed(row["cui"])
            add(concept_id("SNOMED", code), row["name"], domain, "SNOMED", kind, code)
    for row in catalogue.tables["drugs"]:
        number = concept_id("RxNorm", row["rxcui"])
        add(number, row["name"], "Drug", "RxNorm", "Ingredient", row["rxcui"])
        if codes.has_clinical_drug(row):
            code = clinical_code(row)
            number = concept_id("RxNorm", code)
            add(number, codes.clinical_drug(row), "Drug", "RxNorm", "Clinical Drug", code)
    status = {row["icd10"] for row in catalogue.tables["status_codes"]}
    for row in codes.diagnosis_codes(catalogue):
        if row["code_system"] == "ICD10CM":
            code = row["code"]
            domain = "Observation" if code in status else "Condition"
            number = concept_id("ICD10CM", code)
            add(number, row["title"], domain, "ICD10CM", "ICD10 code", code)
    for row in catalogue.procedures.values():
        number = concept_id("ICD10PCS", row["pcs"])
        add(number, row["title_pcs"], "Procedure", "ICD10PCS", "ICD10PCS", row["pcs"])
    return [rows[number] for number in sorted(rows)]


def clinical_code(drug: dict) -> str:
    """A made-up RxCUI of the clinical drug."""
    return f"9{int(drug['rxcui']):07d}"


# ---------- the harbor site


def _harbor_visits(rng: random.Random, number: int) -> list[Visit]:
    count = 1 if rng.random() < 0.3 else 2
    while 2 <= count < VISIT_CAP and rng.random() < 0.7:
        count += 1
    start = dt.datetime(2016, 1, 4) + dt.timedelta(days=rng.randrange(1500))
    start = start.replace(hour=rng.randrange(24), minute=rng.randrange(60))
    person = FIRST_PERSON + number
    found = []
    for place in range(count):
        kind = rng.choices(("inpatient", "outpatient", "emergency"), (65, 25, 10))[0]
        hours = rng.randrange(30, 260) if kind == "inpatient" else rng.randrange(1, 9)
        end = start + dt.timedelta(hours=hours)
        found.append(Visit(person * 100 + place, start, end, start.date(), "10", kind))
        start = end + gap(rng)
    return found


class Harbor:
    """Patients of the clean site."""

    def __init__(self, maker: Maker, seed: int) -> None:
        self.maker = maker
        self.seed = seed
        self.catalogue = maker.catalogue
        self.names = {row["icd10"]: row for row in self.catalogue.diagnoses.values()}

    def course(self, number: int) -> Course:
        """The clinical course of patient ``number`` (0, 1, ...)."""
        rng = generator(self.seed, HARBOR, number)
        sex, age = rng.choice("MF"), min(95, max(18, int(rng.gauss(60, 16))))
        visits = _harbor_visits(rng, number)
        return fill(self.maker, rng, number, sex, age, visits, {"outpatient", "emergency"})

    def rows(self, course: Course) -> dict[str, list[list]]:
        """All rows of one patient, by table, in the column order of ``HARBOR_HEADERS``."""
        rng = generator(self.seed, HARBOR, "rows", course.number)
        person = FIRST_PERSON + course.number
        first, last = course.visits[0], course.visits[-1]
        found: dict[str, list[list]] = {name: [] for name in HARBOR_HEADERS}
        year = first.admitted.year - course.age
        gender = 8507 if course.sex == "M" else 8532
        found["person"].append(
            [person, gender, year, 1, 1, f"{year}-01-01 00:00:00", 8527, 38003564, "", "", ""]
            + [f"harbor-{course.number:06d}", course.sex, 0, "white", 0, "nonhispanic", 0]
        )
        before: int | str = ""
        for visit in course.visits:
            found["visit_occurrence"].append(_visit_row(person, visit, before))
            before = visit.hadm_id
            found["condition_occurrence"] += self._conditions(rng, person, visit)
            found["procedure_occurrence"] += self._procedures(rng, person, visit)
            found["drug_exposure"] += self._drugs(rng, person, visit)
        if rng.random() < 0.1:
            day = last.discharged.date()
            found["death"].append([person, day, f"{day} 00:00:00", EHR, 0, "", 0])
        for name in ("condition_occurrence", "procedure_occurrence", "drug_exposure"):
            for number, row in enumerate(found[name], start=1):
                row[0] = person * ROW_STEP + number
        return found

    def _conditions(self, rng: random.Random, person: int, visit: Visit) -> list[list]:
        rows = []

        def add(concept: int, source: str, source_concept: int, visit_id: int | str) -> None:
            rows.append(
                ["", person, concept, visit.admitted.date(), visit.admitted]
                + [visit.discharged.date(), visit.discharged, BILLING, 0, "", "", visit_id, ""]
                + [source, source_concept, ""]
            )

        for code in diagnosis_codes(self.maker, rng, visit):
            disease = self.names.get(code)
            source_concept = concept_id("ICD10CM", code)
            if disease is None:  # a status code: no standard concept of this domain
                add(0, code, source_concept, visit.hadm_id)
                continue
            snomed = codes.snomed(disease["cui"])
            standard = concept_id("SNOMED", snomed)
            draw = rng.random()
            if draw < 0.6:
                add(standard, code, source_concept, visit.hadm_id)
            elif draw < 0.8:  # an ICD code that nobody gave a vocabulary
                add(standard, code, 0, visit.hadm_id)
            else:
                add(standard, snomed, standard, visit.hadm_id)
            if rng.random() < 0.01:
                add(standard, code, source_concept, "")
        return rows

    def _procedures(self, rng: random.Random, person: int, visit: Visit) -> list[list]:
        rows = []
        stay = max(1, (visit.discharged - visit.admitted).days)
        for key in visit.procedures:
            row = self.catalogue.procedures[key]
            snomed = codes.snomed(row["cui"])
            standard = concept_id("SNOMED", snomed)
            source, source_concept = row["pcs"], concept_id("ICD10PCS", row["pcs"])
            if rng.random() < 0.3:
                source, source_concept = snomed, standard
            day = visit.admitted + dt.timedelta(days=rng.randrange(stay))
            rows.append(
                ["", person, standard, day.date(), day, day.date(), day, BILLING, 0, 1, ""]
                + [visit.hadm_id, "", source, source_concept, ""]
            )
        return rows

    def _drugs(self, rng: random.Random, person: int, visit: Visit) -> list[list]:
        rows = []
        hours = int((visit.discharged - visit.admitted).total_seconds() // 3600)
        for text, drug, _ in orders(self.maker, rng, visit):
            start = visit.admitted + dt.timedelta(hours=rng.randrange(hours))
            end = start + dt.timedelta(days=rng.randrange(5))
            number = concept_id("RxNorm", drug["rxcui"])
            source, source_concept = drug["rxcui"], number
            draw = rng.random()
            # Without a concept and an NDC the text must say what the drug is.
            names = (drug["name"].split(" ")[0], *split(drug["synonyms"]))
            said = any(name.lower() in text.lower() for name in names)
            if (draw < 0.2 and said) or not split(drug["texts"]):
                number, source, source_concept = 0, dirty(rng, text), 0
            elif draw < 0.45 and codes.has_clinical_drug(drug):
                source = clinical_code(drug)
                number = source_concept = concept_id("RxNorm", source)
            visit_id = "" if rng.random() < 0.005 else visit.hadm_id
            row = ["", person, number, start.date(), start, end.date(), end, "", PRESCRIPTION]
            row += ["", 0, 1, 1, "", 0, "", "", visit_id, "", source, source_concept]
            rows.append([*row, drug["route"], ""])
            if visit_id == "":
                rows.append([*row[:17], visit.hadm_id, *row[18:], drug["route"], ""])
        return rows


def _visit_row(person: int, visit: Visit, before: int | str) -> list:
    kind = {"inpatient": INPATIENT, "outpatient": OUTPATIENT, "emergency": EMERGENCY}[visit.kind]
    return [
        visit.hadm_id,
        person,
        kind,
        visit.admitted.date(),
        visit.admitted,
        visit.discharged.date(),
        visit.discharged,
        EHR,
        "",
        "",
        f"harbor-visit-{visit.hadm_id}",
        0,
        0,
        "",
        0,
        "",
        before,
    ]


# ---------- the overlapping site


def signed(*parts: object) -> int:
    """A signed 64-bit id, as a hash of the source's keys gives it."""
    number = digest("omop", *parts) % 2**64
    return number - 2**64 if number >= 2**63 else number


class Overlap:
    """MIMIC-IV patients once more, in the dirty site's tables."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.status = {
            (codes.plain(row[f"icd{version}"]), version)
            for row in catalogue.tables["status_codes"]
            for version in ("9", "10")
        }
        self.diagnostic = {
            (codes.plain(row[column]), version)
            for row in catalogue.procedures.values()
            for column, version in (("icd9", "9"), ("pcs", "10"))
            if row["role"] == "diagnostic"
        }
        self.dropped = {
            row["cui"] for row in catalogue.procedures.values() if row["role"] == "diagnostic"
        }

    @staticmethod
    def holds(number: int) -> bool:
        """Whether the site holds MIMIC-IV patient ``number``."""
        return number % OVERLAP_EVERY in OVERLAP_AT

    def planted(self, made: Patient) -> list[list]:
        """The patient's planted facts by this site's ids; facts of dropped codes are left out."""
        found = []
        for subject, visit, target, task, relation, a, b in made.planted:
            if {a, b} & self.dropped:
                continue
            target_id = signed("visit", target) if target else None
            found.append(
                [signed("person", subject), signed("visit", visit), target_id]
                + [task, relation, a, b]
            )
        return found

    def rows(self, number: int, made: Patient) -> dict[str, list[list]]:
        """All rows of one patient, by table, in the column order of ``OVERLAP_HEADERS``."""
        rng = generator(OVERLAP, number)
        subject = FIRST_SUBJECT + number
        person = signed("person", subject)
        found: dict[str, list[list]] = {name: [] for name in OVERLAP_HEADERS}
        _, sex, age, year, _, _ = made.rows["patients"][0]
        gender = 8507 if sex == "M" else 8532
        found["person"].append(
            [person, gender, year - age, "", "", "", 0, 38003563, "", "", ""]
            + [subject, sex, 0, "", 0, "UNKNOWN", 0]
        )
        stays = {row[1]: row for row in made.rows["admissions"]}
        for hadm in sorted(stays):
            found["visit_occurrence"].append(self._visit(person, stays[hadm]))
            if rng.random() < 0.6:
                found["visit_occurrence"].append(self._laboratory(rng, person, stays[hadm]))
        self._conditions(rng, person, stays, made, found)
        self._procedures(rng, person, stays, made, found)
        self._drugs(rng, person, made, found)
        return found

    @staticmethod
    def _visit(person: int, row: list) -> list:
        subject, hadm, start, end, kind = row[0], row[1], row[2], row[3], row[5]
        number = EMERGENCY_INPATIENT if kind == "EW EMER." else INPATIENT
        if kind in ("EU OBSERVATION", "DIRECT OBSERVATION", "AMBULATORY OBSERVATION"):
            number = 8870 if kind == "EU OBSERVATION" else LABORATORY_VISIT
        return (
            [signed("visit", hadm), person, number, start.date(), start, end.date(), end, EHR]
            + ["", "", f"{subject}|{hadm}", VISIT_TYPES[kind], "", row[7], "", row[8] or "", ""]
        )

    @staticmethod
    def _laboratory(rng: random.Random, person: int, row: list) -> list:
        """An outpatient contact of no length on a day outside every stay's first one."""
        time = row[2] - dt.timedelta(days=rng.randrange(3, 20))
        name = f"{row[0]}|{time.date()}"
        return (
            [signed("visit", name), person, LABORATORY_VISIT, time.date(), time, time.date()]
            + [time, EHR, "", "", name, VISIT_TYPES["AMBULATORY OBSERVATION"], "", "", "", "", ""]
        )

    def _conditions(
        self, rng: random.Random, person: int, stays: dict, made: Patient, found: dict
    ) -> None:
        rows = found["condition_occurrence"]

        def add(source: str, concept: int, kind: int, hadm: int, visit: int | str) -> None:
            start, end = stays[hadm][2], stays[hadm][3]
            rows.append(
                [signed("condition", person, len(rows)), person, concept, start.date(), start]
                + [end.date(), end, kind, "", "", visit, "", source, 0, "", ""]
            )

        for subject, hadm, _, code, version in made.rows["diagnoses_icd"]:
            visit = signed("visit", hadm)
            if (code, version) in self.status:
                start = stays[hadm][2]
                found["observation"].append(
                    [signed("observation", person, len(found["observation"])), person, 0]
                    + [start.date(), start, BILLING, "", "", "", "", "", "", visit, ""]
                    + [f"{code:<7}", 0, "", ""]
                )
                continue
            concept = 0 if rng.random() < 0.05 else concept_id("ICD10CM", version, code)
            add(f"{code:<7}", concept, BILLING, hadm, visit)
            if rng.random() < 0.01:
                add(f"{code:<7}", concept, BILLING, hadm, "")
            if rng.random() < 0.01:
                add(f"{code:<7}", concept, BILLING, hadm, signed("no visit", hadm))
        texts, weights = zip(*CHARTED)
        for hadm in sorted(stays):
            for text in rng.choices(texts, weights, k=rng.randrange(2, 12)):
                add(text, 0, EHR, hadm, signed("visit", hadm))

    def _procedures(
        self, rng: random.Random, person: int, stays: dict, made: Patient, found: dict
    ) -> None:
        rows = found["procedure_occurrence"]
        for _, hadm, _, date, code, version in made.rows["procedures_icd"]:
            visit, time = signed("visit", hadm), f"{date} 00:00:00"
            if (code, version) in self.diagnostic:
                found["measurement"].append(
                    [signed("measurement", person, len(found["measurement"])), person, 0, date]
                    + [time, "", BILLING, 0, "", "", "", "", "", "", visit, "", code, 0, "", ""]
                )
                continue
            rows.append(
                [signed("procedure", person, len(rows)), person]
                + [concept_id("ICD10PCS", version, code), date, time]
                + [BILLING, 0, 1, "", visit, "", code, 0, ""]
            )
        for hadm in sorted(stays):
            for text in rng.choices(CHARTED_PROCEDURES, k=rng.randrange(4)):
                time = stays[hadm][2]
                kind = CHARTED_PROCEDURE if text in CHARTED_PROCEDURES[:2] else EHR
                rows.append(
                    [signed("procedure", person, len(rows)), person, 0, time.date(), time]
                    + [kind, 0, 1, "", signed("visit", hadm), "", text, 0, ""]
                )

    def _drugs(self, rng: random.Random, person: int, made: Patient, found: dict) -> None:
        rows = found["drug_exposure"]
        for order in made.rows["prescriptions"]:
            hadm, start, end = order[1], order[6], order[7]
            text, ndc, route = order[9], order[12], order[20]
            coded = ndc and len(ndc) == 11 and rng.random() < 0.9
            source = ndc if coded else text
            number = concept_id("RxNorm", source) if coded else 0
            last = end or start
            visit: int | str = signed("visit", hadm)
            if rng.random() < 0.002:
                visit = signed("no visit", hadm)
            row = [signed("drug", person, len(rows)), person, number, start.date(), start]
            row += [last.date(), last, "", PRESCRIPTION, "", "", "", "", "", 0, "", "", visit, ""]
            rows.append([*row, source, number, route, ""])


# ---------- files


def _write_rows(path: Path, header: str, rows: list, upper: bool = False) -> int:
    with plain_text(path) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow((header.upper() if upper else header).split(","))
        writer.writerows(rows)
    return len(rows)


def write_harbor(
    maker: Maker, seed: int, patients: int, raw: Path, plant: Callable[[str, list[list]], None]
) -> dict[str, int]:
    """Write the clean site and hand its planted facts on; returns row counts by path."""
    base = f"omop/{HARBOR}"
    folder = raw / base
    harbor = Harbor(maker, seed)
    table = concepts(maker.catalogue)
    counts = {f"{base}/concept.csv": _write_rows(folder / "concept.csv", CONCEPT, table)}
    about = ["Harbor synthetic site", "harbor", "Synthetic data", "Synthetic data", "", ""]
    about += ["2024-01-01", "2024-01-01", "5.4"]
    counts[f"{base}/cdm_source.csv"] = _write_rows(folder / "cdm_source.csv", CDM_SOURCE, [about])
    with ExitStack() as stack:
        writers = {}
        for name, header in HARBOR_HEADERS.items():
            out = stack.enter_context(plain_text(folder / f"{name}.csv"))
            writers[name] = csv.writer(out, lineterminator="\n")
            writers[name].writerow(header.split(","))
            counts[f"{base}/{name}.csv"] = 0
        for number in blocks(patients, seed):
            course = harbor.course(number)
            for name, rows in harbor.rows(course).items():
                writers[name].writerows(rows)
                counts[f"{base}/{name}.csv"] += len(rows)
            plant(
                HARBOR,
                [
                    [FIRST_PERSON + number, visit.hadm_id, target.hadm_id if target else None]
                    + rest
                    for visit, target, *rest in course.planted
                ],
            )
    return counts


class OverlapFiles:
    """The open files of the overlapping site: a context manager that takes patients."""

    def __init__(
        self, catalogue: Catalogue, raw: Path, plant: Callable[[str, list[list]], None]
    ) -> None:
        self.base = f"omop/{OVERLAP}"
        self.folder = raw / self.base
        self.site = Overlap(catalogue)
        self.plant = plant
        self.counts: dict[str, int] = {}
        self.persons = 0
        self._stack = ExitStack()
        self._writers: dict = {}

    def __enter__(self) -> OverlapFiles:
        for name, header in OVERLAP_HEADERS.items():
            file = f"{name.upper()}.csv"
            out = self._stack.enter_context(plain_text(self.folder / file))
            self._writers[name] = csv.writer(out, lineterminator="\n")
            self._writers[name].writerow(header.upper().split(","))
            self.counts[f"{self.base}/{file}"] = 0
        for name, header in HEADER_ONLY.items():
            file = f"{name.upper()}.csv"
            row = header.upper().split(",")
            count = _write_rows(self.folder / file, header, [row], upper=True)
            self.counts[f"{self.base}/{file}"] = count
        # The export of one table was appended to another one with its header.
        name = "condition_occurrence"
        self._writers[name].writerow(OVERLAP_HEADERS[name].upper().split(","))
        self.counts[f"{self.base}/{name.upper()}.csv"] += 1
        named = [
            [number, kind, "Visit", "mimiciv_vis_admission_type", "Visit", "", kind]
            + ["1970-01-01", "2099-12-31", ""]
            for kind, number in VISIT_TYPES.items()
        ]
        file = "2B_CONCEPT.csv"
        count = _write_rows(self.folder / file, CONCEPT, named, upper=True)
        self.counts[f"{self.base}/{file}"] = count
        about = ["MIMIC IV synthetic", "mimiciv", "Synthetic data", "Synthetic data", "", ""]
        about += ["2020-09-01", "2021-05-03", "5.3.1"]
        file = "CDM_SOURCE.csv"
        count = _write_rows(self.folder / file, CDM_SOURCE, [about], upper=True)
        self.counts[f"{self.base}/{file}"] = count
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def add(self, number: int, made: Patient) -> None:
        """Write MIMIC-IV patient ``number`` if the site holds it."""
        if not self.site.holds(number):
            return
        self.persons += 1
        for name, rows in self.site.rows(number, made).items():
            self._writers[name].writerows(rows)
            self.counts[f"{self.base}/{name.upper()}.csv"] += len(rows)
        self.plant(OVERLAP, self.site.planted(made))
