"""Drug and literature references: DrugBank, ATC-like groups and PubMed titles, all made up.

The layouts are those that users hold: DrugBank's open vocabulary, the Parquet files that
``ehrbench convert drugbank`` and ``convert pubmed`` write, the two ATC tables. Identifiers lie
where the real ones have none (DB99..., X01AA01).
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ehrbench.convert.common import WRITE_OPTIONS
from ehrbench.convert.drugbank import ATC_LEVELS
from ehrbench.convert.drugbank import SCHEMAS as DRUGBANK_SCHEMAS
from ehrbench.convert.pubmed import SCHEMAS as PUBMED_SCHEMAS
from ehrbench.synth.catalogue import Catalogue, split
from ehrbench.synth.facts import digest
from ehrbench.synth.files import write_csv

# Effects that are watched in standard care (bleeding, potassium, sedation) are none of them.
SEVERE_EFFECTS = ("torsade de pointes", "serotonin syndrome")
VOCABULARY = [
    "DrugBank ID",
    "Accession Numbers",
    "Common name",
    "CAS",
    "UNII",
    "Synonyms",
    "Standard InChI Key",
]


def substances(catalogue: Catalogue) -> list[dict]:
    """Single substances (no combinations): key, drugbank_id, cui, name, synonyms, unii, drug."""
    found = []
    for row in catalogue.drugs.values():
        if row["tty"] == "IN":
            found.append((row["key"], row["cui"], row["name"], split(row["synonyms"])))
    parts = {row["cui"]: row["name"] for row in catalogue.tables["drug_parts"]}
    found += [("", cui, name, ()) for cui, name in parts.items()]
    return [
        {
            "key": key,
            "drugbank_id": f"DB99{number:03d}",
            "cui": cui,
            "name": name,
            "synonyms": synonyms,
            "unii": f"SYN{digest('unii', cui) % 10_000_000:07d}",
        }
        for number, (key, cui, name, synonyms) in enumerate(found, start=1)
    ]


def severe_pairs(catalogue: Catalogue) -> list[tuple[str, str]]:
    """Keys of drugs that interact severely, both orders."""
    found = set()
    for row in catalogue.tables["interactions"]:
        if row["effect"] in SEVERE_EFFECTS:
            found |= {(row["a"], row["b"]), (row["b"], row["a"])}
    return sorted(found)


def _interaction(first: str, second: str, effect: str) -> str:
    if effect:
        return f"Synthetic: {first} together with {second} raises the risk or severity of {effect}."
    return f"Synthetic: {first} may change the serum concentration of {second}."


def atc(catalogue: Catalogue) -> tuple[list[list[str]], dict[str, str]]:
    """ATC-like codes: rows (code, level, parent, name) and the code of each drug key.

    A pharmacologic family of the catalogue is a group of level 4.
    """
    families: dict[str, list[dict]] = defaultdict(list)
    for row in catalogue.drugs.values():
        families[row["family"]].append(row)
    groups = {"X": ["X", "1", "", "synthetic drugs"]}
    code_of = {}
    for place, family in enumerate(families):
        section, rest = divmod(place, 16)
        subsection, letter = divmod(rest, 4)
        code = f"X{section + 1:02d}"
        for level, parent in ((2, "X"), (3, code), (4, code + "ABCD"[subsection])):
            whole = (code, code + "ABCD"[subsection], code + "ABCD"[subsection] + "ABCD"[letter])
            found = whole[level - 2]
            name = f"synthetic drugs, {family}" if level == 4 else f"synthetic group {found}"
            groups.setdefault(found, [found, str(level), parent, name])
        for number, row in enumerate(families[family], start=1):
            code_of[row["key"]] = f"{found}{number:02d}"
            leaf = code_of[row["key"]]
            groups[leaf] = [leaf, "5", found, row["name"]]
    return [groups[code] for code in sorted(groups)], code_of


def _write_parquet(path: Path, schema: pa.Schema, rows: list[tuple]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = [pa.array(column, type=kind) for column, kind in zip(zip(*rows), schema.types)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, **WRITE_OPTIONS)
    return len(rows)


def write_drugbank(catalogue: Catalogue, folder: Path) -> dict[str, int]:
    """Write the vocabulary and the tables of the full database; returns row counts by name."""
    drugs = substances(catalogue)
    counts = {}
    vocabulary = [
        [d["drugbank_id"], "", d["name"].capitalize(), "", d["unii"]]
        + [" | ".join(name.capitalize() for name in d["synonyms"]), ""]
        for d in drugs
    ]
    counts["drugbank vocabulary.csv"] = write_csv(
        folder / "drugbank vocabulary.csv", VOCABULARY, vocabulary
    )
    treated: dict[str, list[str]] = defaultdict(list)
    for row in catalogue.tables["treats"]:
        treated[row["treatment"]].append(catalogue.concepts[row["disease"]].name)
    code_of = atc(catalogue)[1]
    by_key = {d["key"]: d for d in drugs if d["key"]}
    # What a combination does is stated of a substance in it.
    by_cui = {d["cui"]: d for d in drugs}
    by_key |= {row["drug"]: by_cui[row["cui"]] for row in catalogue.tables["drug_parts"]}
    interactions = []
    for row in catalogue.tables["interactions"]:
        for one, other in ((row["a"], row["b"]), (row["b"], row["a"])):
            first, second = by_key[one], by_key[other]
            said = _interaction(first["name"], second["name"], row["effect"])
            interactions.append(
                (first["drugbank_id"], second["drugbank_id"], second["name"].capitalize(), said)
            )
    tables = {
        "drugs": [
            (d["drugbank_id"], d["name"].capitalize(), "small molecule", None, d["unii"])
            + ("approved", _indication(treated.get(d["key"], [])))
            for d in drugs
        ],
        "synonyms": [(d["drugbank_id"], name, "english") for d in drugs for name in d["synonyms"]],
        "atc_codes": [
            (d["drugbank_id"], code_of[d["key"]], ATC_LEVELS[len(code_of[d["key"]])])
            for d in drugs
            if d["key"]
        ],
        "interactions": sorted(interactions),
        "external_identifiers": [
            (d["drugbank_id"], "RxCUI", catalogue.drugs[d["key"]]["rxcui"])
            for d in drugs
            if d["key"]
        ],
    }
    for name, rows in tables.items():
        file = f"{name}.parquet"
        counts[file] = _write_parquet(folder / file, DRUGBANK_SCHEMAS[name], rows)
    return counts


def _indication(diseases: list[str]) -> str | None:
    return f"Synthetic: used for {', '.join(diseases)}." if diseases else None


def write_atc(catalogue: Catalogue, folder: Path) -> dict[str, int]:
    """Write the two ATC tables; returns row counts by name."""
    groups, code_of = atc(catalogue)
    ingredients = []
    for key, code in code_of.items():
        name = catalogue.drugs[key]["name"]
        ingredients.append([catalogue.drugs[key]["cui"], name, code, name, "name", name])
    return {
        "atc_codes.csv": write_csv(
            folder / "atc_codes.csv", ["atc_code", "level", "parent_code", "name"], groups
        ),
        "ingredient_atc.csv": write_csv(
            folder / "ingredient_atc.csv",
            ["cui", "ingredient_name", "atc_code", "atc_name", "matched_by", "matched_name"],
            sorted(ingredients),
        ),
    }


def write_pubmed(titles: dict[int, str], years: dict[int, int], folder: Path) -> dict[str, int]:
    """Write articles.parquet (pmid, title, pub_year) from dicts by PMID; returns row counts."""
    rows = [(str(pmid), titles[pmid], years.get(pmid)) for pmid in sorted(titles)]
    schema = PUBMED_SCHEMAS["articles"]
    return {"articles.parquet": _write_parquet(folder / "articles.parquet", schema, rows)}
