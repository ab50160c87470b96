"""How much the true statements say about every claim, so that each evidence policy has a truth.

Counts are worked out from the statements alone, not from the files: articles as sets of PMIDs (one
article counts once, whatever it says), curated relations as rows. What is inherited takes one step
(``facts.Reach``); what speaks against a claim is read at the exact pair.
"""

from __future__ import annotations

from collections import defaultdict

from ehrbench.synth import facts
from ehrbench.synth.catalogue import Catalogue
from ehrbench.synth.facts import Statement, generator

HEADER = [
    "subject_cui",
    "relation",
    "object_cui",
    "n_supporting_pmids",
    "n_supporting_pmids_exact",
    "n_supporting_curated",
    "n_supporting_curated_exact",
    "n_contradicting_pmids",
    "n_hazard_pmids",
    "n_reverse_pmids",
]

_SAME_WAY = ("CAUSES", "PREDISPOSES", "PRECEDES")
_TURNED = ("COMPLICATES", "MANIFESTATION_OF")
_HARMS = ("CAUSES", "COMPLICATES", "PREDISPOSES", "AUGMENTS")


def _readings(row: Statement, conditions: set[str], treatments: set[str]) -> list[tuple]:
    """(role, relation, subject key, object key) of every claim that a statement is about."""
    s, p, o = row.subject, row.predicate, row.object
    role = "contradict" if row.negated else "support"
    found = []
    if s in treatments and o in conditions:
        if p in ("TREATS", "may_treat"):
            found.append((role, "treat_with", o, s))
        if p in ("CAUSES", "PREDISPOSES", "induces"):
            found.append((role, "adverse_of", s, o))
        if not row.negated and row.kb == "semmeddb":
            if p in _HARMS:
                found.append(("hazard", "treat_with", o, s))
            if p in ("PREVENTS", "TREATS"):
                found.append(("hazard", "adverse_of", s, o))
    if s in conditions and o in conditions:
        if p == "COEXISTS_WITH" or p in _TURNED or (row.negated and p == "ASSOCIATED_WITH"):
            found += [(role, "coexists_with", s, o), (role, "coexists_with", o, s)]
        if p in _SAME_WAY:
            found.append((role, "causes", s, o))
        if p in _TURNED and not (row.negated and p == "MANIFESTATION_OF"):
            found.append((role, "causes", o, s))
        if p == "PREVENTS" and not row.negated:
            found.append(("hazard", "causes", s, o))
    if not row.negated:
        found += [
            ("reverse", "causes", obj, subject)
            for kind, relation, subject, obj in found
            if kind == "support" and relation == "causes"
        ]
    return found


def _pmids(statements: list[Statement], seed: int) -> dict[Statement, set[int]]:
    """The articles of each statement, by the rule with which the knowledge base draws them."""
    semmed = [row for row in statements if row.kb == "semmeddb"]
    pool = max(500, int(sum(row.n_pmids for row in semmed) * 0.7))
    return {
        row: set(
            generator(
                seed, "pmids of", row.subject, row.predicate, row.negated, row.object
            ).sample(range(pool), row.n_pmids)
        )
        for row in semmed
    }


def rows(catalogue: Catalogue, statements: list[Statement], seed: int) -> list[list]:
    """One row per claim under ``HEADER``, sorted; claims about which nothing is said have none."""
    reach = facts.Reach(catalogue)
    conditions, treatments = facts._kinds(catalogue)
    pmids = _pmids(statements, seed)
    articles: dict[tuple, set[int]] = defaultdict(set)
    curated: dict[tuple, int] = defaultdict(int)
    for row in statements:
        for role, relation, subject, obj in _readings(row, conditions, treatments):
            pairs = {(subject, obj)}
            places = [(f"{role}_exact", pairs)]
            if role == "support":
                places.append(("support", reach.pairs(subject, obj)))
            for place, reached in places:
                for pair in reached:
                    claim = (pair[0], relation, pair[1], place)
                    if row.kb == "semmeddb":
                        articles[claim] |= pmids[row]
                    else:
                        curated[claim] += 1
    cui = {key: concept.cui for key, concept in catalogue.concepts.items()}
    claims = {claim[:3] for claim in [*articles, *curated]}

    def counted(claim: tuple) -> list:
        read = {place: len(articles.get((*claim, place), ())) for place in (
            "support", "support_exact", "contradict_exact", "hazard_exact", "reverse_exact"
        )}
        return [
            cui[claim[0]],
            claim[1],
            cui[claim[2]],
            read["support"],
            read["support_exact"],
            curated.get((*claim, "support"), 0),
            curated.get((*claim, "support_exact"), 0),
            read["contradict_exact"],
            read["hazard_exact"],
            read["reverse_exact"],
        ]

    return sorted(counted(claim) for claim in claims)


def literal_conflicts(catalogue: Catalogue, statements: list[Statement]) -> list[list]:
    """Rows of truth_conflicts for the literal reading: any negated statement, either direction."""
    cui = {key: concept.cui for key, concept in catalogue.concepts.items()}
    pairs = {(r.subject, r.object) for r in statements if r.negated and r.kb == "semmeddb"}
    pairs |= {pair[::-1] for pair in pairs}
    return sorted(["paper_literal", "", "", cui[a], "", "", cui[b]] for a, b in pairs)
