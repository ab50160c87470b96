"""Stream DrugBank's full database (XML, licensed) into the Parquet files that dbt reads."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from ehrbench.convert.common import Line, Table, elements, opened, space_in
from ehrbench.errors import EhrbenchError

NAMESPACE = "http://www.drugbank.ca"
ROOT = f"{{{NAMESPACE}}}drugbank"
KNOWN_ID = re.compile(r"DB[0-9]{5}")
# Length of an ATC code -> its level.
ATC_LEVELS = {1: 1, 3: 2, 4: 3, 5: 4, 7: 5}

TEXT = pa.string()
SCHEMAS = {
    "drugs": pa.schema(
        [
            ("drugbank_id", TEXT),
            ("name", TEXT),
            ("drug_type", TEXT),
            ("cas_number", TEXT),
            ("unii", TEXT),
            ("groups", TEXT),
            ("indication", TEXT),
        ]
    ),
    "synonyms": pa.schema([("drugbank_id", TEXT), ("synonym", TEXT), ("language", TEXT)]),
    "atc_codes": pa.schema([("drugbank_id", TEXT), ("atc_code", TEXT), ("level", pa.int32())]),
    "interactions": pa.schema(
        [
            ("drugbank_id", TEXT),
            ("other_drugbank_id", TEXT),
            ("other_name", TEXT),
            ("description", TEXT),
        ]
    ),
    "external_identifiers": pa.schema(
        [("drugbank_id", TEXT), ("resource", TEXT), ("identifier", TEXT)]
    ),
}


def convert_drugbank(file: Path, out: Path) -> dict[str, int]:
    """Write one Parquet file per table of SCHEMAS below `out`; returns rows by table.

    `file` is the full database, plain, gzipped or zipped. The files appear together, when all of
    it was read. Raises EhrbenchError when it is not DrugBank's XML, or cut off.
    """
    out.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Table] = {}
    with space_in(out), opened(file) as (text, raw, size):
        line = Line("drugbank", "drugs")
        try:
            for name, schema in SCHEMAS.items():
                tables[name] = Table(out / f"{name}.parquet", schema, 20_000)
            known = 0
            for drug, count in elements(file, text, ROOT, "DrugBank's full database"):
                known += add_drug(drug, tables)
                line.show(count, raw.tell() / size)
            if not known:
                raise EhrbenchError(
                    f"{file} holds no drug with a primary drugbank-id: fetch the full database"
                )
            for table in tables.values():
                table.finish()
            # A call that is killed in between leaves no drugs, so no tables that do not belong
            # together are taken for a whole conversion.
            tables["drugs"].file.unlink(missing_ok=True)
            for table in reversed(tables.values()):
                table.publish()
        except BaseException:
            for table in tables.values():
                table.discard()
            raise
    counts = {name: table.count for name, table in tables.items()}
    others = ", ".join(f"{n:,} {name}" for name, n in counts.items() if name != "drugs")
    line.close(counts["drugs"], f"; {others}")
    return counts


def add_drug(drug: ElementTree.Element, tables: dict[str, Table]) -> bool:
    """Add the rows of one <drug>; whether it has a well-formed primary identifier.

    Only the drug's own children count: salts, interactions and pathways hold further drugbank-id
    elements, pathways even further drug elements. Other entries of the root are passed over.
    """
    if drug.tag != tag("drug"):
        return False
    drug_id = own_id(drug)
    groups = [said(group) for group in drug.iterfind(path("groups", "group"))]
    tables["drugs"].add(
        drug_id,
        child(drug, "name"),
        drug.get("type"),
        child(drug, "cas-number"),
        child(drug, "unii"),
        "; ".join(group for group in groups if group) or None,
        child(drug, "indication"),
    )
    for synonym in drug.iterfind(path("synonyms", "synonym")):
        if said(synonym):
            tables["synonyms"].add(drug_id, said(synonym), synonym.get("language") or None)
    for code in drug.iterfind(path("atc-codes", "atc-code")):
        value = (code.get("code") or "").strip()
        if value:
            tables["atc_codes"].add(drug_id, value, ATC_LEVELS.get(len(value)))
    for other in drug.iterfind(path("drug-interactions", "drug-interaction")):
        tables["interactions"].add(
            drug_id, child(other, "drugbank-id"), child(other, "name"), child(other, "description")
        )
    for resource, identifier in identifiers(drug):
        tables["external_identifiers"].add(drug_id, resource, identifier)
    return bool(drug_id and KNOWN_ID.fullmatch(drug_id))


def own_id(drug: ElementTree.Element) -> str | None:
    """The primary drugbank-id among the drug's own children, else the first of them."""
    own = drug.findall(tag("drugbank-id"))
    primary = [element for element in own if element.get("primary") == "true"]
    chosen = (primary or own)[:1]
    return said(chosen[0]) if chosen else None


def identifiers(drug: ElementTree.Element) -> Iterator[tuple[str | None, str]]:
    """(resource, identifier) of the drug itself; its targets have external identifiers too."""
    for element in drug.iterfind(path("external-identifiers", "external-identifier")):
        identifier = child(element, "identifier")
        if identifier:
            yield child(element, "resource"), identifier


def tag(name: str) -> str:
    """Name of an element with DrugBank's namespace."""
    return f"{{{NAMESPACE}}}{name}"


def path(*names: str) -> str:
    """Path of elements below a drug."""
    return "/".join(tag(name) for name in names)


def child(element: ElementTree.Element, name: str) -> str | None:
    """Trimmed text of a child; None when it is missing or empty."""
    found = element.find(tag(name))
    return None if found is None else said(found)


def said(element: ElementTree.Element) -> str | None:
    """Trimmed text of an element; None when it is empty."""
    return (element.text or "").strip() or None
