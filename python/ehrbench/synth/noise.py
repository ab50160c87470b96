"""The noisy regime: what a text-mined knowledge base makes of the truth.

Facts go missing, false pairs come in, and the best-studied treatments gather negated sentences.
Shares are met by quota in md5 order, so a small catalogue shows them too.
"""

from __future__ import annotations

from ehrbench.synth.catalogue import Catalogue
from ehrbench.synth.facts import Statement, claims, digest, generator

RECALL = 0.42
PRECISION = 0.68
# Share of TREATS pairs with n PMIDs or more that also have NEG_TREATS.
NEGATED_SHARE = ((300, 0.93), (100, 0.74), (10, 0.28), (1, 0.08))
FALSE_PMIDS = ((1, 0.5), (2, 0.2), (5, 0.15), (10, 0.1), (40, 0.05))


def _kept(seed: int, rows: list[Statement]) -> set[tuple[str, str, str]]:
    """Facts (table, subject, object) that keep their support: a fixed share of each table."""
    kept = set()
    for table in ("treats", "coexists", "causes", "adverse"):
        facts = sorted({(table, r.subject, r.object) for r in rows if r.fact == table})
        facts.sort(key=lambda fact: digest(seed, "kept", *fact))
        kept |= set(facts[: round(RECALL * len(facts))])
    return kept


def _false_pairs(
    catalogue: Catalogue, seed: int, rows: list[Statement], wanted_rows: int
) -> list[Statement]:
    """Pairs that the truth does not support, until they hold the wanted number of rows."""
    rng = generator(seed, "false pairs")
    truth = set(claims(catalogue, rows))
    diagnoses = sorted(catalogue.diagnoses)
    treatments = sorted(catalogue.drugs) + sorted(catalogue.procedures)
    sizes, weights = zip(*FALSE_PMIDS)
    used, found, total = set(), [], 0
    while total < wanted_rows:
        kind = rng.choices(("treat", "coexist", "cause", "adverse"), (0.5, 0.2, 0.2, 0.1))[0]
        disease = rng.choice(diagnoses)
        partner = rng.choice(diagnoses if kind in ("coexist", "cause") else treatments)
        if kind == "treat":
            statement, claim = (partner, "TREATS", disease), (disease, "treat_with", partner)
        elif kind == "adverse":
            statement, claim = (partner, "CAUSES", disease), (partner, "adverse_of", disease)
        elif kind == "coexist":
            statement = (disease, "COEXISTS_WITH", partner)
            claim = (disease, "coexists_with", partner)
        else:
            predicate = rng.choice(("CAUSES", "PREDISPOSES"))
            statement, claim = (disease, predicate, partner), (disease, "causes", partner)
        pair = frozenset(statement)
        if disease == partner or claim in truth or pair in used:
            continue
        used.add(pair)
        count = rng.choices(sizes, weights)[0]
        total += count
        found.append(Statement(*statement, n_pmids=count, fact="false"))
    return found


def _negated(seed: int, rows: list[Statement]) -> list[Statement]:
    """NEG_TREATS rows by quota: the share with a negation rises with the number of PMIDs."""
    treats = [r for r in rows if r.predicate == "TREATS" and not r.negated]
    have = {(r.subject, r.object) for r in rows if r.predicate == "TREATS" and r.negated}
    found: list[Statement] = []
    done = 0
    seen = 0
    ceiling = 10**9
    for low, share in NEGATED_SHARE:
        group = [r for r in treats if low <= r.n_pmids < ceiling]
        ceiling = low
        seen += len(group)
        given = [r for r in group if (r.subject, r.object) in have]
        wanted = max(0, round(share * seen) - done)
        done += max(wanted, len(given))
        free = [r for r in group if (r.subject, r.object) not in have]
        free.sort(key=lambda r: digest(seed, "negated", r.subject, r.object))
        for row in free[: max(0, wanted - len(given))]:
            rng = generator(seed, "n negated", row.subject, row.object)
            count = max(1, int(row.n_pmids * rng.choice((0.01, 0.03, 0.08, 0.2))))
            found.append(Statement(row.subject, "TREATS", row.object, True, n_pmids=count))
    return found


def noisy(catalogue: Catalogue, seed: int, rows: list[Statement]) -> list[Statement]:
    """The statements of the noisy knowledge base.

    Contraindications, negations and hazards of the truth stay; supporting facts are thinned.
    """
    kept = _kept(seed, rows)
    tables = ("treats", "coexists", "causes", "adverse")
    left = [r for r in rows if r.fact not in tables or (r.fact, r.subject, r.object) in kept]
    true_rows = sum(r.n_pmids for r in left if r.fact in tables)
    false_rows = round(true_rows * (1 - PRECISION) / PRECISION)
    left += _false_pairs(catalogue, seed, rows, false_rows)
    left += _negated(seed, left)
    return sorted(left, key=lambda r: (r.kb, r.subject, r.predicate, r.negated, r.object))
