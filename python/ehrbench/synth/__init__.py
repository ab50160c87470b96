"""The synthetic data set: cohorts with planted relations and a knowledge base in real formats.

``write(out, patients, seed, regime)`` is the entry point. Equal arguments give equal bytes.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

from ehrbench.synth import catalogue as _catalogue
from ehrbench.synth import (
    codes,
    cohort,
    evidence,
    facts,
    kb,
    mimic_iii,
    noise,
    omop,
    references,
)
from ehrbench.synth.files import plain_text, write_csv

REGIMES = ("clean", "noisy")
MAX_PATIENTS = 2_000_000
DEFAULT_PATIENTS = 200
DEFAULT_SEED = 20260530
MANIFEST = "MANIFEST.json"

__all__ = ["DEFAULT_PATIENTS", "DEFAULT_SEED", "MAX_PATIENTS", "REGIMES", "n_made", "write"]


def _write_truth(loaded, rows, seed: int, folder: Path) -> dict[str, int]:
    cui = {key: concept.cui for key, concept in loaded.concepts.items()}
    flags = [
        [cui[s], relation, cui[o], flag["supported"], flag["contradicted"], flag["ambiguous"]]
        for (s, relation, o), flag in facts.claims(loaded, rows).items()
    ]
    conflicts = [
        ["contraindicated", "", "", cui[row["disease"]], "", "", cui[row["treatment"]]]
        for row in loaded.tables["contraindicated"]
    ]
    conflicts += [
        ["dominant_hazard", "", "", cui[disease], "", "", cui[treatment]]
        for disease, treatment in facts.dominant_hazards(loaded, rows)
    ]
    conflicts += [
        ["severe_interaction", "", "", cui[context], "", "", cui[answer]]
        for context, answer in references.severe_pairs(loaded)
    ]
    conflicts += [
        ["excludes1", "ICD10CM", a["code"], a["cui"], "ICD10CM", b["code"], b["cui"]]
        for a, b in codes.excludes1_pairs(loaded)
    ]
    conflicts += evidence.literal_conflicts(loaded, rows)
    tables = {
        "truth_claims": (
            ["subject_cui", "relation", "object_cui", "supported", "contradicted", "ambiguous"],
            sorted(flags),
        ),
        "truth_evidence": (evidence.HEADER, evidence.rows(loaded, rows, seed)),
        "truth_conflicts": (
            ["rule", "context_code_system", "context_code", "context_cui"]
            + ["answer_code_system", "answer_code", "answer_cui"],
            sorted(conflicts),
        ),
        "truth_codes": (
            ["code_system", "code", "cui", "level"],
            codes.truth_codes(loaded),
        ),
    }
    return {
        f"truth/{name}.csv": write_csv(folder / f"{name}.csv", header, content)
        for name, (header, content) in tables.items()
    }


def _write_patients(
    loaded, seed: int, patients: int, raw: Path, truth: Path, made: Callable[[int], None]
) -> tuple[dict[str, int], dict[str, int]]:
    """Write every source of patients and truth_planted.csv; returns patients by source and row
    counts by path."""
    maker = cohort.Maker(loaded, seed)
    own = _beside(patients)
    name = "truth/truth_planted.csv"
    counts = {name: 0}
    with plain_text(truth / "truth_planted.csv") as out:
        planted = csv.writer(out, lineterminator="\n")
        planted.writerow(cohort.PLANTED_HEADER.split(","))

        def plant(source: str, rows: list[list]) -> None:
            planted.writerows([source, *row] for row in rows)
            counts[name] += len(rows)
            if source != omop.OVERLAP:
                made(1)

        with omop.OverlapFiles(loaded, raw, plant) as overlap:
            parts = [cohort.write(maker, seed, patients, raw, plant, overlap.add)]
        parts.append(overlap.counts)
        parts.append(mimic_iii.write(maker, seed, own, raw, plant))
        parts.append(omop.write_harbor(maker, seed, own, raw, plant))
    for part in parts:
        counts.update({f"raw/{path}": count for path, count in part.items()})
    persons = {
        cohort.SOURCE: patients,
        mimic_iii.SOURCE: own,
        omop.HARBOR: own,
        omop.OVERLAP: overlap.persons,
    }
    return persons, counts


def _beside(patients: int) -> int:
    """Patients of each source beside MIMIC-IV that has its own."""
    return max(1, patients * 3 // 10)


def n_made(patients: int) -> int:
    """How many patients are made in all sources together (those that two share once).

    Raises ValueError with one clear line for a number of MIMIC-IV patients that makes no sense.
    """
    if not isinstance(patients, int) or not 1 <= patients <= MAX_PATIENTS:
        raise ValueError(f"patients must be a whole number from 1 to {MAX_PATIENTS}")
    return patients + 2 * _beside(patients)


def write(
    out: Path | str,
    patients: int = DEFAULT_PATIENTS,
    seed: int = DEFAULT_SEED,
    regime: str = "clean",
    made: Callable[[int], None] = lambda n: None,
) -> dict:
    """Write the synthetic data set under ``out`` and return its manifest.

    out: folder (made when missing) that receives raw/, truth/ and MANIFEST.json.
    patients: number of MIMIC-IV patients, 1 to 2,000,000; patient i does not depend on it.
        MIMIC-III and the clean OMOP site get 0.3 times as many, the overlapping site holds 0.15
        of them.
    seed: any whole number; the truth of the knowledge base keeps its facts under every seed.
    regime: "clean" (the knowledge base says the truth) or "noisy" (facts missing, false pairs,
        negated sentences about well-studied treatments).
    made: called with 1 for every patient that is written; ``n_made`` says how many come.

    Raises ValueError with one clear line for arguments that make no sense.
    """
    if regime not in REGIMES:
        raise ValueError(f"regime must be one of {', '.join(REGIMES)}, not {regime!r}")
    n_made(patients)
    out = Path(out)
    loaded = _catalogue.load()
    rows = facts.statements(loaded, seed)
    said = rows if regime == "clean" else noise.noisy(loaded, seed, rows)
    raw, truth = out / "raw", out / "truth"
    # It says that all is there, so it goes first and comes last.
    (out / MANIFEST).unlink(missing_ok=True)
    counts = {f"raw/{name}": count for name, count in kb.write(loaded, said, seed, raw).items()}
    counts.update(_write_truth(loaded, rows, seed, truth))
    persons, written = _write_patients(loaded, seed, patients, raw, truth, made)
    counts.update(written)
    manifest = {
        "data_class": "synthetic",
        "generator": "ehrbench synth",
        "patients": patients,
        "regime": regime,
        "rows": dict(sorted(counts.items())),
        "schema_version": 2,
        "seed": seed,
        "sources": {source: {"patients": count} for source, count in persons.items()},
    }
    text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
    part = out / f".ehrbench-part-{MANIFEST}"
    part.write_text(text, encoding="utf-8")
    part.replace(out / MANIFEST)
    return manifest
