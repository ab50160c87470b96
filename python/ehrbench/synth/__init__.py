"""The synthetic data set: a cohort with planted relations and a knowledge base in real formats.

``write(out, patients, seed, regime)`` is the entry point. Equal arguments give equal bytes.
"""

from __future__ import annotations

import json
from pathlib import Path

from ehrbench.synth import catalogue as _catalogue
from ehrbench.synth import codes, cohort, facts, kb, noise
from ehrbench.synth.files import write_csv

REGIMES = ("clean", "noisy")
MAX_PATIENTS = 2_000_000
DEFAULT_SEED = 20260530

__all__ = ["DEFAULT_SEED", "MAX_PATIENTS", "REGIMES", "write"]


def _write_truth(loaded, rows, folder: Path) -> dict[str, int]:
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
        ["excludes1", "ICD10CM", a["code"], a["cui"], "ICD10CM", b["code"], b["cui"]]
        for a, b in codes.excludes1_pairs(loaded)
    ]
    tables = {
        "truth_claims": (
            ["subject_cui", "relation", "object_cui", "supported", "contradicted", "ambiguous"],
            sorted(flags),
        ),
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


def write(
    out: Path | str, patients: int = 200, seed: int = DEFAULT_SEED, regime: str = "clean"
) -> dict:
    """Write the synthetic data set under ``out`` and return its manifest.

    out: folder (made when missing) that receives raw/, truth/ and MANIFEST.json.
    patients: number of patients, 1 to 2,000,000; patient i does not depend on it.
    seed: any whole number; the truth of the knowledge base keeps its facts under every seed.
    regime: "clean" (the knowledge base says the truth) or "noisy" (facts missing, false pairs,
        negated sentences about well-studied treatments).

    Raises ValueError with one clear line for arguments that make no sense.
    """
    if regime not in REGIMES:
        raise ValueError(f"regime must be one of {', '.join(REGIMES)}, not {regime!r}")
    if not isinstance(patients, int) or not 1 <= patients <= MAX_PATIENTS:
        raise ValueError(f"patients must be a whole number from 1 to {MAX_PATIENTS}")
    out = Path(out)
    loaded = _catalogue.load()
    rows = facts.statements(loaded, seed)
    said = rows if regime == "clean" else noise.noisy(loaded, seed, rows)
    raw, truth = out / "raw", out / "truth"
    counts = {f"raw/{name}": count for name, count in kb.write(loaded, said, seed, raw).items()}
    for name, count in cohort.write(loaded, seed, patients, raw, truth).items():
        counts[name if name.startswith("truth/") else f"raw/{name}"] = count
    counts.update(_write_truth(loaded, rows, truth))
    manifest = {
        "data_class": "synthetic",
        "generator": "ehrbench synth",
        "patients": patients,
        "regime": regime,
        "rows": dict(sorted(counts.items())),
        "schema_version": 1,
        "seed": seed,
    }
    text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
    (out / "MANIFEST.json").write_text(text, encoding="utf-8")
    return manifest
