"""Where things are, and whose data they hold.

The folders of sources follow macros/source_dir.sql: dbt decides what is read, this module only
looks at the same places for `ehrbench doctor` and for the data-use guard.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib.resources
import json
import os
import re
from pathlib import Path

from ehrbench.errors import EhrbenchError

TARGETS = ("synthetic", "demo", "full")
EMBEDDED_MODEL = "SmolLM2-135M-Instruct"

# Layout of the shared test data, used by target demo when no variable names a folder.
SHARED_LAYOUT = {
    "mimic_iv": "mimic-iv-demo",
    "mimic_iii": "mimic-iii-demo",
    "omop": "omop-mimic-iv-demo",
    "umls": "kb-open/umls",
    "semmeddb": "kb-open/semmeddb",
    "drugbank": "kb-open/drugbank",
    "icd": "kb-open/icd",
    "atc": "kb-open/atc",
}

# What `ehrbench synth` leaves beside its output.
MARKER = "MANIFEST.json"

# The tables that hold people, per source: what tells a demo or a synthetic cohort from the rest.
PATIENT_FILES = {
    "mimic_iv": ("hosp/patients.csv.gz", "hosp/patients.csv", "patients.csv.gz", "patients.csv"),
    "mimic_iii": ("PATIENTS.csv", "PATIENTS.csv.gz"),
    "omop": ("person.csv", "PERSON.csv", "person.csv.gz", "PERSON.csv.gz"),
}

# From least to most protected; `none` means that no source of patients was found.
DATA_CLASSES = ("none", "synthetic", "demo", "credentialed")


def project_root() -> Path:
    """Folder that holds dbt_project.yml.

    Looks at EHRBENCH_PROJECT_DIR, then upwards from the working folder, then upwards from this
    package (an editable install). Raises EhrbenchError when none of them has it.
    """
    given = os.environ.get("EHRBENCH_PROJECT_DIR")
    if given:
        starts = [Path(given)]
    else:
        starts = [*_with_parents(Path.cwd()), *_with_parents(Path(__file__).parent)]
    for folder in starts:
        if (folder / "dbt_project.yml").is_file():
            return folder.resolve()
    raise EhrbenchError(
        "no dbt_project.yml here or above: run ehrbench inside the project, "
        "or point EHRBENCH_PROJECT_DIR at it"
    )


def _with_parents(folder: Path) -> list[Path]:
    folder = folder.resolve()
    return [folder, *folder.parents]


def _from_root(text: str | Path) -> Path:
    path = Path(text).expanduser()
    return path if path.is_absolute() else project_root() / path


def default_target() -> str:
    """Target used when --target is not given."""
    return os.environ.get("EHRBENCH_TARGET", "synthetic")


def database(target: str) -> Path:
    """The DuckDB file that dbt builds for a target."""
    return _from_root(os.environ.get("EHRBENCH_DB") or f"build/{target}.duckdb")


def completions_dir(target: str) -> Path:
    """Folder of the completions store of a target."""
    given = os.environ.get("EHRBENCH_COMPLETIONS_DIR")
    return _from_root(given or f"build/{target}/completions")


def models_dir() -> Path:
    """Folder that holds model weights, one folder per model."""
    return _from_root(os.environ.get("EHRBENCH_MODELS_DIR") or "build/models")


def synth_dir() -> Path:
    """Folder that `ehrbench synth` writes and target synthetic reads."""
    return _from_root(os.environ.get("EHRBENCH_SYNTH_DIR") or "build/synthetic")


def source_dir(source: str, target: str) -> Path | None:
    """Folder of a source for a target; None when nothing names one."""
    if target == "synthetic":
        return synth_dir() / ("truth" if source == "truth" else f"raw/{source}")
    given = os.environ.get(f"EHRBENCH_{source.upper()}_DIR")
    if given:
        return _from_root(given)
    if target == "demo" and source in SHARED_LAYOUT:
        shared = _from_root(os.environ.get("EHRBENCH_SHARED_DIR") or "../shared")
        return shared / "data" / SHARED_LAYOUT[source]
    return None


def model_weights(weights: str, model: str) -> Path | None:
    """Folder of a model's weights, or None when it is not on this machine.

    `weights` is the registry's name of the folder or of the hub repository (`org/name`); looked
    up below models_dir() whole, by its last part, and by the model's own name.
    """
    names = [weights, weights.rsplit("/", 1)[-1] if weights else "", model]
    for name in filter(None, names):
        folder = models_dir() / name
        if (folder / "config.json").is_file():
            return folder
    return None


# ------------------------------------------------------------------------------ data class


def data_class(target: str) -> str:
    """The most protected class among the sources of patients that a target would read.

    A folder that is named and holds no known file of patients counts as credentialed.
    """
    classes = ["none"]
    for source in PATIENT_FILES:
        folder = source_dir(source, target)
        found = [
            classify_patients(source, site / name, name)
            for site in (_sites(source, folder) if folder else [])
            for name in PATIENT_FILES[source]
            if (site / name).is_file()
        ]
        if not found and folder and folder.is_dir() and any(folder.iterdir()):
            found = ["credentialed"]
        classes += found
    return max(classes, key=DATA_CLASSES.index)


def _sites(source: str, folder: Path) -> list[Path]:
    """A source's folder and, for a folder of OMOP sites, the folders in it."""
    if not folder.is_dir():
        return []
    if source != "omop":
        return [folder]
    return [folder, *sorted(child for child in folder.iterdir() if child.is_dir())]


def classify_patients(source: str, file: Path, name: str) -> str:
    """Class of one file of patients: synthetic, demo or credentialed (when in doubt).

    `name` is the file's path below the source's folder; the marker of synth lies above that
    folder and counts only while its number of patients is the file's.
    """
    raw = file
    for _ in Path(name).parts:
        raw = raw.parent
    for marker in (raw / MARKER, raw.parent.parent / MARKER):
        if _is_synthetic(marker, file):
            return "synthetic"
    return "demo" if _is_known_demo(source, raw, name) else "credentialed"


def _is_known_demo(source: str, raw: Path, name: str) -> bool:
    """Whether every file of people below `raw` is, byte for byte, one of the open demos'."""
    known = known_demos(source)
    if not name.startswith("hosp/"):
        known = {listed.removeprefix("hosp/"): hashes for listed, hashes in known.items()}
    if name not in known:
        return False
    for listed, hashes in known.items():
        file = raw / listed
        # The demos' files are small: a whole credentialed table is never read to hash it.
        if file.is_file() and (file.stat().st_size > 2**24 or sha256(file) not in hashes):
            return False
    return True


def _is_synthetic(marker: Path, file: Path) -> bool:
    try:
        manifest = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(manifest, dict) or manifest.get("data_class") != "synthetic":
        return False
    return manifest.get("patients") == _count_rows(file)


def _count_rows(file: Path) -> int:
    opener = gzip.open if file.suffix == ".gz" else open
    with opener(file, "rt", encoding="utf-8", newline="") as handle:
        return sum(1 for _ in csv.reader(handle)) - 1


def known_demos(source: str) -> dict[str, set[str]]:
    """File -> sha256 values of the open demos (bare facts, from the data sets' own lists)."""
    table = importlib.resources.files("ehrbench").joinpath("known_demos.csv")
    known: dict[str, set[str]] = {}
    with table.open("r", encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            if row["source"] == source:
                known.setdefault(row["file"], set()).add(row["sha256"])
    return known


def sha256(file: Path) -> str:
    """sha256 of a file, hexadecimal."""
    digest = hashlib.sha256()
    with file.open("rb") as handle:
        while block := handle.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def safe_name(name: str) -> str:
    """A model's name as a folder's name: letters, digits, dot, dash and underscore."""
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "_", name)
    if not cleaned.strip("."):
        raise EhrbenchError(f"model name {name!r} cannot name a folder: use letters and digits")
    return cleaned
