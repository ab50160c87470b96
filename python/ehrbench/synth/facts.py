"""What the synthetic knowledge base says, and what follows from it.

``statements(seed)`` turns the catalogue's facts into statements: one per predicate and pair, each
with its nominal number of PMIDs. They are the truth and do not depend on patients or regime.
``claims`` closes them under the support rule of the design: exact concepts, one step up on one end
(never through a hub), one step down from a concept that an "unspecified" code maps to.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import defaultdict
from dataclasses import dataclass

from ehrbench.synth.catalogue import CODE_SYSTEMS, Catalogue

HUB_DESCENDANTS = 40

# Share of pairs with at least n PMIDs, treatment facts and all others.
TREATS_SURVIVAL = ((1, 1.0), (2, 0.88), (10, 0.20), (100, 0.05), (300, 0.02), (400, 0.0))
OTHER_SURVIVAL = ((1, 1.0), (2, 0.88), (10, 0.14), (100, 0.012), (300, 0.0))


@dataclass(frozen=True)
class Statement:
    """One predicate between two concepts.

    ``kb`` is semmeddb (``n_pmids`` rows of a predication) or umls (one curated relation).
    """

    subject: str
    predicate: str
    object: str
    negated: bool = False
    kb: str = "semmeddb"
    n_pmids: int = 0
    fact: str = ""  # the catalogue table that it comes from


def digest(*parts: object) -> int:
    """A stable integer of some parts (md5, with a separator)."""
    text = "|".join(str(part) for part in parts)
    return int.from_bytes(hashlib.md5(text.encode("utf-8")).digest(), "big")


def generator(*parts: object) -> random.Random:
    """A random generator that depends only on the parts."""
    return random.Random(digest(*parts))


def pmids_at(survival: tuple, share: float) -> int:
    """The number of PMIDs that a share (0 to 1] of all pairs reaches."""
    for (low, high_share), (high, low_share) in zip(survival, survival[1:]):
        if share > low_share:
            if high == 2:
                return 1
            part = (high_share - share) / (high_share - low_share)
            return min(high - 1, max(low, int(low * (high / low) ** part)))
    return survival[-1][0]


def _with_pmids(seed: int, rows: list[Statement], survival: tuple) -> list[Statement]:
    """Give each row its number of PMIDs: the k-th in md5 order gets the k-th quantile."""
    order = sorted(rows, key=lambda r: digest(seed, "pmids", r.subject, r.predicate, r.object))
    sized = {}
    for rank, row in enumerate(order):
        sized[row] = pmids_at(survival, (rank + 0.5) / len(order))
    return [
        Statement(r.subject, r.predicate, r.object, r.negated, r.kb, sized[r], r.fact) for r in rows
    ]


def statements(catalogue: Catalogue, seed: int) -> list[Statement]:
    """Every true statement, in a stable order."""
    tables = catalogue.tables
    treats, other, extra, curated = [], [], [], []
    for row in tables["treats"]:
        if row["source"] in ("semmed", "both"):
            treats.append(Statement(row["treatment"], "TREATS", row["disease"], fact="treats"))
        if row["source"] in ("curated", "both"):
            curated.append(
                Statement(
                    row["treatment"], "may_treat", row["disease"], kb="umls", fact="treats"
                )
            )
    treats = _with_pmids(seed, treats, TREATS_SURVIVAL)
    positive = {(r.subject, r.object): r.n_pmids for r in treats}
    for row in tables["treats"]:
        pair = (row["treatment"], row["disease"])
        count = positive.get(pair, 4)
        rng = generator(seed, "case", *pair)
        if row["case"] == "contradicted":
            # Some contradictions are a single sentence, others a tenth or more of all evidence.
            negative = 1 if rng.random() < 0.3 else max(2, count // rng.choice((3, 6)))
            extra.append(Statement(pair[0], "TREATS", pair[1], True, n_pmids=negative))
        if row["case"] == "ambiguous":
            hazard = max(2, int(count * rng.choice((0.6, 1.0, 1.6))))
            extra.append(Statement(pair[0], row["hazard"], pair[1], n_pmids=hazard))
    for row in tables["coexists"]:
        pair = (row["a"], row["b"])
        if digest(seed, "side", *pair) % 2:
            pair = pair[::-1]
        other.append(Statement(pair[0], "COEXISTS_WITH", pair[1], fact="coexists"))
        if row["case"] == "contradicted":
            extra.append(Statement(pair[1], "COEXISTS_WITH", pair[0], True, n_pmids=2))
    for table in ("causes", "adverse"):
        for row in tables[table]:
            cause = row["cause"] if table == "causes" else row["treatment"]
            pair, predicate = (cause, row["effect"]), row["written_as"]
            turned = predicate in ("COMPLICATES", "MANIFESTATION_OF")
            used = pair[::-1] if turned else pair
            other.append(Statement(used[0], predicate, used[1], fact=table))
            if row["case"] == "contradicted":
                extra.append(Statement(used[0], predicate, used[1], True, n_pmids=2))
            if row["case"] == "ambiguous":
                extra.append(Statement(pair[1], "CAUSES", pair[0], n_pmids=2))
    for row in tables["other_facts"]:
        other.append(Statement(row["subject"], row["predicate"], row["object"], fact="other"))
    for row in tables["contraindicated"]:
        curated.append(
            Statement(
                row["treatment"],
                "contraindicated_with_disease",
                row["disease"],
                kb="umls",
                fact="contraindicated",
            )
        )
    for row in tables["curated"]:
        fact = "adverse" if row["rela"] == "induces" else "prevents"
        curated.append(
            Statement(row["treatment"], row["rela"], row["disease"], kb="umls", fact=fact)
        )
    found = treats + _with_pmids(seed, other, OTHER_SURVIVAL) + extra + curated
    merged: dict[tuple, Statement] = {}
    for row in found:
        key = (row.kb, row.subject, row.predicate, row.negated, row.object)
        if key not in merged or merged[key].n_pmids < row.n_pmids:
            merged[key] = row
    return [merged[key] for key in sorted(merged)]


def hubs(catalogue: Catalogue) -> set[str]:
    """Concepts that no evidence may pass through."""
    wide = {k for k in catalogue.children if len(catalogue.descendants(k)) > HUB_DESCENDANTS}
    general = {r["key"] for r in catalogue.tables["concepts"] if r["too_general"] == "yes"}
    return wide | general


def unspecified(catalogue: Catalogue) -> set[str]:
    """Concepts to which some ICD code with an unspecified / NOS title maps exactly."""
    pattern = re.compile(r"\b(unspecified|nos)\b", re.IGNORECASE)
    found = set()
    for key, row in catalogue.diagnoses.items():
        for version in ("10", "9"):
            if row[f"level{version}"] == "exact" and pattern.search(row[f"title{version}"]):
                found.add(key)
    for row in catalogue.tables["icd_parents"]:
        if row["concept"] and pattern.search(row["title"]):
            found.add(row["concept"])
    return found


def tree_links(catalogue: Catalogue) -> set[tuple[str, str]]:
    """(child, parent) by the trees of the code systems: the concept of a code, and that of the
    nearest code above it that has one."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for key, row in catalogue.diagnoses.items():
        for version, system in CODE_SYSTEMS.items():
            if row[f"icd{version}"] and row[f"level{version}"] == "exact":
                found[(system, row[f"icd{version}"])].add(key)
    for row in catalogue.tables["icd_parents"]:
        if row["concept"]:
            found[(row["code_system"], row["code"])].add(row["concept"])
    links = set()
    for (system, code), keys in found.items():
        head, _, tail = code.partition(".")
        above = [f"{head}.{tail[:length]}".rstrip(".") for length in range(len(tail) - 1, -1, -1)]
        named = [found[(system, other)] for other in above if (system, other) in found]
        if named:
            links |= {(key, parent) for key in keys for parent in named[0] if key != parent}
    return links


class Reach:
    """From a concept of evidence to the concepts of claims that it supports, at most one step."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.hubs = hubs(catalogue)
        self.unspecified = unspecified(catalogue)
        self.parents = {key: set(found) for key, found in catalogue.parents.items()}
        self.children = {key: set(found) for key, found in catalogue.children.items()}
        for child, parent in tree_links(catalogue):
            self.parents.setdefault(child, set()).add(parent)
            self.children.setdefault(parent, set()).add(child)

    def steps(self, key: str) -> set[str]:
        """Claim concepts one step away from evidence about ``key``."""
        found = set()
        if key not in self.hubs:
            found |= self.children.get(key, set())
        for parent in self.parents.get(key, set()):
            if parent in self.unspecified and parent not in self.hubs:
                found.add(parent)
        return found

    def pairs(self, subject: str, obj: str) -> set[tuple[str, str]]:
        """Claims (subject, object) supported by one piece of evidence, one step on one end."""
        found = {(subject, obj)}
        found |= {(s, obj) for s in self.steps(subject)}
        found |= {(subject, o) for o in self.steps(obj)}
        return {(s, o) for s, o in found if s != o}


def _kinds(catalogue: Catalogue) -> tuple[set[str], set[str]]:
    """Keys that are conditions, and keys that are treatments."""
    conditions = set(catalogue.diagnoses)
    treatments = set(catalogue.drugs) | set(catalogue.procedures)
    drug_types = {"T121", "T061"}
    for key, concept in catalogue.concepts.items():
        if concept.kind == "other":
            (treatments if drug_types & set(concept.tuis) else conditions).add(key)
    return conditions - {"patients"}, treatments


def claims(catalogue: Catalogue, rows: list[Statement]) -> dict[tuple, dict[str, int]]:
    """Flags of every claim that the statements support, contradict or make ambiguous.

    Returns {(subject key, relation, object key): {supported, contradicted, ambiguous}}. A claim is
    ambiguous only where it is supported at all.
    """
    reach = Reach(catalogue)
    conditions, treatments = _kinds(catalogue)
    flags: dict[tuple, dict[str, int]] = defaultdict(
        lambda: {"supported": 0, "contradicted": 0, "ambiguous": 0}
    )

    def mark(flag: str, relation: str, pairs: set[tuple[str, str]]) -> None:
        for subject, obj in pairs:
            flags[(subject, relation, obj)][flag] = 1

    support: dict[str, set[tuple[str, str]]] = defaultdict(set)
    against: dict[str, set[tuple[str, str]]] = defaultdict(set)
    hazard: dict[str, set[tuple[str, str]]] = defaultdict(set)
    same_way = {"CAUSES", "PREDISPOSES", "PRECEDES"}
    turned = {"COMPLICATES", "MANIFESTATION_OF"}
    for row in rows:
        s, p, o = row.subject, row.predicate, row.object
        target = against if row.negated else support
        if s in treatments and o in conditions:
            if p in ("TREATS", "may_treat"):
                target["treat_with"].add((o, s))
                if not row.negated:
                    hazard["adverse_of"].add((s, o))
            if p == "PREVENTS" and not row.negated:
                hazard["adverse_of"].add((s, o))
            if p in ("CAUSES", "PREDISPOSES", "induces"):
                target["adverse_of"].add((s, o))
            if p in ("CAUSES", "COMPLICATES", "PREDISPOSES", "AUGMENTS") and not row.negated:
                hazard["treat_with"].add((o, s))
        if s in conditions and o in conditions:
            if p in {"COEXISTS_WITH"} | turned:
                target["coexists_with"] |= {(s, o), (o, s)}
            if p == "ASSOCIATED_WITH" and row.negated:
                against["coexists_with"] |= {(s, o), (o, s)}
            if p in same_way:
                target["causes"].add((s, o))
            if p in turned and not (row.negated and p == "MANIFESTATION_OF"):
                target["causes"].add((o, s))
            if p == "PREVENTS" and not row.negated:
                hazard["causes"].add((s, o))
    hazard["causes"] |= {(o, s) for s, o in support["causes"]}
    for relation, pairs in sorted(support.items()):
        for subject, obj in sorted(pairs):
            mark("supported", relation, reach.pairs(subject, obj))
    for relation, pairs in against.items():
        mark("contradicted", relation, pairs)
    for relation, pairs in hazard.items():
        mark("ambiguous", relation, {p for p in pairs if (p[0], relation, p[1]) in flags})
    for flag in flags.values():
        if flag["ambiguous"] and not flag["supported"]:
            flag["ambiguous"] = 0
    return {key: flag for key, flag in sorted(flags.items()) if any(flag.values())}


def dominant_hazards(catalogue: Catalogue, rows: list[Statement]) -> set[tuple[str, str]]:
    """(condition, treatment) pairs in which harm has more PMIDs than benefit."""
    conditions, treatments = _kinds(catalogue)
    harm: dict[tuple[str, str], int] = defaultdict(int)
    benefit: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        if row.negated or row.subject not in treatments or row.object not in conditions:
            continue
        if row.predicate in ("CAUSES", "COMPLICATES"):
            harm[(row.object, row.subject)] += row.n_pmids
        elif row.predicate == "TREATS":
            benefit[(row.object, row.subject)] += row.n_pmids
    return {pair for pair, count in harm.items() if count > benefit[pair]}
