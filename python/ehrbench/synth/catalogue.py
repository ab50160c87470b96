"""The hand-written catalogue of diagnoses, drugs, procedures and clinical facts.

All content sits in ``catalogue/*.csv``. Diagnoses, drugs, procedures and broader concepts share one
space of short keys, so that the fact files read as pairs of keys. ``load()`` checks the files and
raises ``CatalogueError`` with file and key when a fact names something unknown.
"""

from __future__ import annotations

import csv
import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "catalogue"

# Semantic types in use: type -> (short name that SemMedDB prints, long name, tree number).
SEMANTIC_TYPES = {
    "T028": ("gngm", "Gene or Genome", "A1.2.3.5"),
    "T033": ("fndg", "Finding", "A2.2"),
    "T037": ("inpo", "Injury or Poisoning", "B2.3"),
    "T046": ("patf", "Pathologic Function", "B2.2.1.2"),
    "T047": ("dsyn", "Disease or Syndrome", "B2.2.1.2.1"),
    "T048": ("mobd", "Mental or Behavioral Dysfunction", "B2.2.1.2.1.1"),
    "T060": ("diap", "Diagnostic Procedure", "B1.3.1.2"),
    "T061": ("topp", "Therapeutic or Preventive Procedure", "B1.3.1.3"),
    "T101": ("podg", "Patient or Disabled Group", "A2.9.3"),
    "T109": ("orch", "Organic Chemical", "A1.4.1.2.1"),
    "T116": ("aapp", "Amino Acid, Peptide, or Protein", "A1.4.1.2.1.7"),
    "T121": ("phsu", "Pharmacologic Substance", "A1.4.1.1.1"),
    "T123": ("bacs", "Biologically Active Substance", "A1.4.1.1.3"),
    "T125": ("horm", "Hormone", "A1.4.1.1.3.2"),
    "T127": ("vita", "Vitamin", "A1.4.1.1.3.4"),
    "T129": ("imft", "Immunologic Factor", "A1.4.1.1.3.5"),
    "T184": ("sosy", "Sign or Symptom", "A2.2.2"),
    "T191": ("neop", "Neoplastic Process", "B2.2.1.2.1.2"),
    "T195": ("antb", "Antibiotic", "A1.4.1.1.1.1"),
    "T196": ("elii", "Element, Ion, or Isotope", "A1.4.2"),
    "T197": ("inch", "Inorganic Chemical", "A1.4.1.2.2"),
}

CODE_SYSTEMS = {"10": "ICD10CM", "9": "ICD9CM"}


class CatalogueError(ValueError):
    """A catalogue file holds something that the generator cannot use."""


@dataclass(frozen=True)
class Concept:
    """One concept: a diagnosis, drug, procedure or broader concept."""

    key: str
    cui: str
    name: str
    tuis: tuple[str, ...]
    kind: str  # diagnosis | drug | procedure | other
    synonyms: tuple[str, ...] = ()

    @property
    def semtype(self) -> str:
        """The short semantic type as SemMedDB prints it (the last, most specific one)."""
        return SEMANTIC_TYPES[self.tuis[-1]][0]


@dataclass
class Catalogue:
    """All tables of the catalogue; rows are dicts of text, facts name concepts by key."""

    concepts: dict[str, Concept]
    diagnoses: dict[str, dict]
    drugs: dict[str, dict]
    procedures: dict[str, dict]
    tables: dict[str, list[dict]]
    parents: dict[str, set[str]] = field(default_factory=dict)
    children: dict[str, set[str]] = field(default_factory=dict)

    def descendants(self, key: str) -> set[str]:
        """Every concept below ``key``, any number of steps."""
        found: set[str] = set()
        todo = list(self.children.get(key, ()))
        while todo:
            child = todo.pop()
            if child not in found:
                found.add(child)
                todo.extend(self.children.get(child, ()))
        return found


def read_table(name: str) -> list[dict]:
    """Rows of ``catalogue/<name>.csv`` as dicts of text."""
    with open(FOLDER / f"{name}.csv", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def split(text: str) -> tuple[str, ...]:
    """The parts of a ``;`` list; blanks inside a part are kept."""
    return tuple(part for part in text.split(";") if part.strip())


def _check(catalogue: Catalogue) -> None:
    seen: dict[str, str] = {}
    for concept in catalogue.concepts.values():
        if not re.fullmatch(r"C\d{7}", concept.cui):
            raise CatalogueError(f"{concept.key}: {concept.cui!r} is no CUI")
        if concept.cui in seen:
            raise CatalogueError(f"{concept.key} and {seen[concept.cui]} share {concept.cui}")
        seen[concept.cui] = concept.key
        for tui in concept.tuis:
            if tui not in SEMANTIC_TYPES:
                raise CatalogueError(f"{concept.key}: unknown semantic type {tui!r}")
    named = {
        "treats": ("treatment", "disease"),
        "coexists": ("a", "b"),
        "causes": ("cause", "effect"),
        "adverse": ("treatment", "effect"),
        "contraindicated": ("treatment", "disease"),
        "curated": ("treatment", "disease"),
        "interactions": ("a", "b"),
        "hierarchy": ("child", "parent"),
        "other_facts": ("subject", "object"),
        "definitions": ("concept",),
        "drug_forms": ("drug",),
        "drug_parts": ("drug",),
        "order_set": ("drug",),
    }
    for table, columns in named.items():
        pairs = set()
        for number, row in enumerate(catalogue.tables[table], start=2):
            for column in columns:
                if row[column] not in catalogue.concepts:
                    raise CatalogueError(
                        f"{table}.csv row {number} column {column}: unknown key {row[column]!r}"
                    )
            pair = tuple(row[column] for column in columns)
            if table in ("coexists", "interactions"):
                pair = tuple(sorted(pair))
            if table in ("drug_forms", "drug_parts", "order_set"):
                pair += tuple(row.values())
            if table == "other_facts":
                pair += (row["predicate"],)
            if pair in pairs:
                raise CatalogueError(f"{table}.csv row {number}: {pair} is there twice")
            pairs.add(pair)


@functools.lru_cache(maxsize=1)
def load() -> Catalogue:
    """Read and check the catalogue once.

    Raises CatalogueError when a key is unknown, a CUI malformed or used twice, or a fact repeated.
    """
    tables = {path.stem: read_table(path.stem) for path in sorted(FOLDER.glob("*.csv"))}
    concepts: dict[str, Concept] = {}
    for table, kind in (
        ("diagnoses", "diagnosis"),
        ("drugs", "drug"),
        ("procedures", "procedure"),
        ("concepts", "other"),
    ):
        for row in tables[table]:
            if row["key"] in concepts:
                raise CatalogueError(f"{table}.csv: key {row['key']!r} is there twice")
            concepts[row["key"]] = Concept(
                key=row["key"],
                cui=row["cui"],
                name=row["name"],
                tuis=split(row["tui"]),
                kind=kind,
                synonyms=split(row.get("synonyms", "")),
            )
    catalogue = Catalogue(
        concepts=concepts,
        diagnoses={row["key"]: row for row in tables["diagnoses"]},
        drugs={row["key"]: row for row in tables["drugs"]},
        procedures={row["key"]: row for row in tables["procedures"]},
        tables=tables,
    )
    _check(catalogue)
    for row in tables["hierarchy"]:
        catalogue.parents.setdefault(row["child"], set()).add(row["parent"])
        catalogue.children.setdefault(row["parent"], set()).add(row["child"])
    return catalogue


def category(code: str) -> str:
    """The three-character category of an ICD code (four for an ICD-9 E code)."""
    plain = code.replace(".", "")
    return plain[:4] if re.fullmatch(r"E\d{3}.*", plain) and "." in code[4:5] else plain[:3]
