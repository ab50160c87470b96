"""Which concept a code or an order text reaches, and the ICD files of the synthetic vocabulary."""

from __future__ import annotations

import re
from pathlib import Path

from ehrbench.synth.catalogue import CODE_SYSTEMS, Catalogue, split
from ehrbench.synth.files import write_csv, write_lines

# An order text as it may stand in the data; each kind of dirt as (share of rows, text -> text).
TEXT_DIRT = (
    (0.06, lambda text: text + " "),
    (0.004, lambda text: "*NF* " + text),
    (0.004, lambda text: text + "_"),
    (0.015, lambda text: text.replace(" ", "  ", 1) if " " in text.strip() else text + "  "),
)
BASE_TEXTS = (
    "0.9% Sodium Chloride",
    "5% Dextrose",
    "Bag",
    "Iso-Osmotic Dextrose",
    "Vial",
    "Sodium Chloride 0.9%",
    "Lactated Ringers",
    "Sterile Water",
    "SW",
    "NS",
    "D5W",
    "Soln",
)
ADDITIVE_BASE = "D5 1/2NS"


def dirty_texts(text: str) -> list[str]:
    """A text and all its dirty forms."""
    return [text] + [change(text) for _, change in TEXT_DIRT]


def plain(code: str) -> str:
    """A code without its dot."""
    return code.replace(".", "")


def snomed(cui: str) -> str:
    """A made-up SNOMED CT code of a concept; its length is right, its check digit is not."""
    digits = f"99{cui[1:]}10"
    return digits + ("1" if sum(map(int, digits)) % 2 else "2")


def chain(code: str) -> list[str]:
    """The shorter codes above a dotted ICD code, nearest first (I50.23 -> I50.2, I50)."""
    found = []
    head, _, tail = code.partition(".")
    for length in range(len(tail) - 1, -1, -1):
        found.append(f"{head}.{tail[:length]}" if length else head)
    return found


def diagnosis_codes(catalogue: Catalogue) -> list[dict]:
    """Every diagnosis, status and further code: system, code, title, cui, level, key."""
    rows = []
    for key, row in catalogue.diagnoses.items():
        for version, system in CODE_SYSTEMS.items():
            if row[f"icd{version}"]:
                rows.append(
                    {
                        "code_system": system,
                        "code": row[f"icd{version}"],
                        "title": row[f"title{version}"],
                        "cui": row["cui"],
                        "level": row[f"level{version}"],
                        "via": row[f"via{version}"],
                        "key": key,
                    }
                )
    for table in ("status_codes", "extra_codes", "newborn_codes"):
        for row in catalogue.tables[table]:
            for version, system in CODE_SYSTEMS.items():
                rows.append(
                    {
                        "code_system": system,
                        "code": row[f"icd{version}"],
                        "title": row[f"title{version}"],
                        "cui": "",
                        "level": "none",
                        "via": "",
                        "key": "",
                        "cuis": split(row.get("cuis", "")),
                    }
                )
    return rows


def truth_codes(catalogue: Catalogue) -> list[list[str]]:
    """Rows (code_system, code, cui, level) of every code and order text."""
    rows = [
        [row["code_system"], row["code"], row["cui"], row["level"]]
        for row in diagnosis_codes(catalogue)
    ]
    for row in catalogue.tables["icd_parents"]:
        if row["concept"]:
            cui = catalogue.concepts[row["concept"]].cui
            rows.append([row["code_system"], row["code"], cui, "exact"])
    for row in catalogue.procedures.values():
        rows.append(["ICD9PROC", row["icd9"], row["cui"], "exact"])
        level = "exact" if pcs_entry(row)[1] == "exact" else "ancestor"
        rows.append(["ICD10PCS", row["pcs"], row["cui"], level])
    texts: dict[str, tuple[str, str]] = {}
    for row in catalogue.drugs.values():
        for text in split(row["texts"]):
            for form in dirty_texts(text):
                texts[form] = (row["cui"], "exact")
    for row in catalogue.tables["order_set"]:
        cui = catalogue.concepts[row["drug"]].cui
        for form in dirty_texts(row["text"]):
            texts[form] = (cui, "exact") if row["mapped"] == "yes" else ("", "none")
    for text in (*BASE_TEXTS, ADDITIVE_BASE):
        texts[text] = ("", "none")
    for row in catalogue.drugs.values():
        # Names of standard concepts, and NDCs, which stand where a site keeps no text.
        texts.setdefault(row["name"], (row["cui"], "exact"))
        texts.setdefault(row["ndc"], (row["cui"], "exact"))
        if has_clinical_drug(row):
            texts.setdefault(clinical_drug(row), (row["cui"], "exact"))
    for table in ("diagnoses", "procedures"):
        for row in catalogue.tables[table]:
            rows.append(["SNOMEDCT_US", snomed(row["cui"]), row["cui"], "exact"])
    known = {(row[0], row[1]) for row in rows}
    for row in catalogue.tables["header_codes"]:
        if (row["code_system"], row["code"]) not in known:
            rows.append([row["code_system"], row["code"], "", "none"])
    rows += [["DRUG_TEXT", text, *found] for text, found in texts.items()]
    return sorted(rows)


def clinical_drug(drug: dict) -> str:
    """Name of a clinical drug with strength and form, as RxNorm writes it."""
    amount, unit, form = drug["strength"].split(" ")
    return f"{drug['name']} {amount} {unit.upper()} Oral {form}"


def has_clinical_drug(drug: dict) -> bool:
    """Whether the strength reads as a plain amount of a tablet or capsule."""
    return drug["tty"] == "IN" and bool(
        re.fullmatch(r"[\d.]+ mg (Tablet|Capsule)", drug["strength"])
    )


def general_equivalences(catalogue: Catalogue) -> tuple[list[str], list[str]]:
    """Lines of the ICD-9 -> ICD-10 and ICD-10 -> ICD-9 files (fixed width, five flags)."""
    forward, backward = [], []
    for row in catalogue.diagnoses.values():
        nine, ten = plain(row["icd9"]), plain(row["icd10"])
        if "ancestor" in (row["level9"], row["level10"]):
            continue
        if nine and ten:
            same = row["title9"].lower() == row["title10"].lower()
            exact = same or "equivalent" in (row["level9"], row["level10"])
            flags = "00000" if exact else "10000"
            forward.append(f"{nine:<6}{ten:<8}{flags}")
            backward.append(f"{ten:<8}{nine:<6}{flags}")
        elif nine:
            forward.append(f"{nine:<6}{'NoDx':<8}11000")
        elif ten:
            backward.append(f"{ten:<8}{'NoDx':<6}11000")
    for row in catalogue.tables["status_codes"]:
        nine, ten = plain(row["icd9"]), plain(row["icd10"])
        forward.append(f"{nine:<6}{ten:<8}10000")
        backward.append(f"{ten:<8}{nine:<6}10000")
    return sorted(forward), sorted(backward)


def pcs_entry(row: dict) -> tuple[str, str]:
    """Code or prefix and kind of match of a procedure: surgery and transfusion by prefix."""
    if row["role"] == "therapeutic" and row["pcs"][:2] in ("02", "30", "0S", "0Q"):
        return row["pcs"][:6], "prefix"
    return row["pcs"], "exact"


def _tree(catalogue: Catalogue, system: str) -> list[list[str]]:
    """Rows (code, parent_code, title) of one system; only categories carry a title."""
    titles = {
        row["code"]: row["title"]
        for row in catalogue.tables["icd_parents"]
        if row["code_system"] == system
    }
    codes: dict[str, str] = {}
    for code in [r["code"] for r in diagnosis_codes(catalogue) if r["code_system"] == system]:
        steps = [code, *chain(code)]
        for child, parent in zip(steps, [*steps[1:], ""]):
            codes[child] = parent
    for code in titles:
        steps = [code, *chain(code)]
        for child, parent in zip(steps, [*steps[1:], ""]):
            codes.setdefault(child, parent)
    return [[code, codes[code], titles.get(code, "")] for code in sorted(codes)]


def under(code: str, noted: str) -> bool:
    """Whether a dotted code is or lies under a noted code, a list (;) or a range (a-b)."""
    for part in filter(None, noted.split(";")):
        low, _, high = part.partition("-")
        if high:
            if low <= code[: len(low)] and code[: len(high)] <= high:
                return True
        elif code == low or code.startswith(low if "." in low else low + ".") or (
            "." in low and code.startswith(low)
        ):
            return True
    return False


def excludes1_pairs(catalogue: Catalogue) -> list[tuple[dict, dict]]:
    """Pairs of catalogue ICD-10-CM codes that an Excludes1 note keeps apart, both orders."""
    codes = [r for r in diagnosis_codes(catalogue) if r["code_system"] == "ICD10CM"]
    found = {}
    for note in catalogue.tables["excludes1"]:
        if not note["target_codes"]:
            continue
        for left in codes:
            if not under(left["code"], note["code"]):
                continue
            for right in codes:
                if right is not left and under(right["code"], note["target_codes"]):
                    found[(left["code"], right["code"])] = (left, right)
                    found[(right["code"], left["code"])] = (right, left)
    return [found[key] for key in sorted(found)]


def write_icd(catalogue: Catalogue, folder: Path) -> dict[str, int]:
    """Write the ICD folder in the layout of the open knowledge base and return row counts."""
    counts = {}
    rows = diagnosis_codes(catalogue)
    tens = sorted({(plain(r["code"]), r["title"]) for r in rows if r["code_system"] == "ICD10CM"})
    nines = sorted({(plain(r["code"]), r["title"]) for r in rows if r["code_system"] == "ICD9CM"})
    counts["icd10cm-codes-2024.txt"] = write_lines(
        folder / "icd10cm-codes-2024.txt", [f"{code:<8}{title}" for code, title in tens]
    )
    counts["CMS32_DESC_LONG_DX.txt"] = write_lines(
        folder / "CMS32_DESC_LONG_DX.txt",
        [f"{code:<6}{title}" for code, title in nines],
        encoding="latin-1",
    )
    forward, backward = general_equivalences(catalogue)
    for name, lines in (("2018_I9gem.txt", forward), ("2018_I10gem.txt", backward)):
        counts[name] = write_lines(folder / name, lines, end="\r\n")
    for name, system in (("icd10cm_tree.csv.gz", "ICD10CM"), ("icd9cm_tree.csv.gz", "ICD9CM")):
        counts[name] = write_csv(
            folder / name, ["code", "parent_code", "title"], _tree(catalogue, system)
        )
    notes = [
        [row["code"], "excludes1", row["note"], row["target_codes"]]
        for row in catalogue.tables["excludes1"]
    ]
    notes += [
        ["E11.21", "useAdditionalCode", "code to identify stage of kidney disease (N18.-)", "N18"],
        ["E11.621", "useAdditionalCode", "code to identify site of ulcer (L97.-)", "L97"],
        ["J44.1", "excludes2", "asthma (J45.-)", "J45"],
        ["D63", "codeFirst", "underlying disease, such as chronic kidney disease (N18.-)", "N18"],
    ]
    counts["icd10cm_tabular_notes.csv"] = write_csv(
        folder / "icd10cm_tabular_notes.csv",
        ["code", "note_type", "note", "target_codes"],
        sorted(notes),
    )
    concepts = []
    for row in catalogue.procedures.values():
        name = row["name"]
        concepts.append(
            ["ICD9PROC", plain(row["icd9"]), "exact", row["cui"], name, row["role"], "catalogue"]
        )
        code, match = pcs_entry(row)
        concepts.append(["ICD10PCS", code, match, row["cui"], name, row["role"], "catalogue"])
    counts["procedure_concepts.csv"] = write_csv(
        folder / "procedure_concepts.csv",
        ["code_system", "code_or_prefix", "match", "cui", "concept_name", "role", "origin"],
        sorted(concepts),
    )
    return counts
