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
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq

from ehrbench.errors import EhrbenchError

TARGETS = ("synthetic", "demo", "full")
EMBEDDED_MODEL = "SmolLM2-135M-Instruct"

# Layout of the shared test data, used by target demo when no variable names a folder.
SHARED_LAYOUT = {
    "mimic_iv": "mimic-iv-demo",
    "mimic_iii": "mimic-iii-demo",
    "omop": "",
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
    "mimic_iii": ("PATIENTS.csv.gz", "PATIENTS.csv"),
    "omop": ("person.csv.gz", "person.csv", "person.parquet"),
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
    """The DuckDB file that dbt builds for a target; EhrbenchError for a name that cannot be one."""
    file = _from_root(os.environ.get("EHRBENCH_DB") or f"build/{target}.duckdb")
    # dbt does not double quotes in a name and cuts the path as it would an address; DuckDB reads a
    # question mark and a backslash as other files.
    if set("\"';") & set(file.name) or set("?#\\") & set(str(file)):
        raise EhrbenchError(
            f"{file}: a database cannot have a quote or a semicolon in its name, nor a question "
            "mark, a number sign or a backslash in its path: rename it (EHRBENCH_DB)"
        )
    return file


def completions_dir(target: str) -> Path:
    """Folder of the completions store of a target."""
    given = os.environ.get("EHRBENCH_COMPLETIONS_DIR")
    return _from_root(given or f"build/{target}/completions")


def spark_dir(target: str) -> Path:
    """Folder that DuckDB and Spark share: absolute, and under one name on every machine."""
    return _from_root(os.environ.get("EHRBENCH_SPARK_DIR") or f"build/{target}/spark")


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
    given = os.environ.get(variable(source))
    if given:
        return _from_root(given)
    if target == "demo" and source in SHARED_LAYOUT:
        return shared_dir() / "data" / SHARED_LAYOUT[source]
    return None


def shared_dir() -> Path:
    """Folder whose `data` target demo reads where no variable names a source.

    EHRBENCH_SHARED_DIR, else ../shared where that has data, else the build folder, which
    `ehrbench fetch` fills.
    """
    given = os.environ.get("EHRBENCH_SHARED_DIR")
    if given:
        return _from_root(given)
    shared = _from_root("../shared")
    has_data = any(path.is_file() for path in shared.glob("data/*/*"))
    return shared if has_data else _from_root("build")


def fetched_dir() -> Path:
    """Folder that `ehrbench fetch` fills, one folder per data set, laid out as SHARED_LAYOUT."""
    return _from_root("build/data")


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
        if not folder or not folder.is_dir():
            continue
        found = [one for site in sites(source, folder) if (one := site_class(source, site))]
        # The folder of all shared test data is named by nobody: it may hold no site.
        is_shared = SHARED_LAYOUT[source] == "" and not os.environ.get(variable(source))
        if not found and any(folder.iterdir()) and not (is_shared and target == "demo"):
            found = ["credentialed"]
        classes += found
    return max(classes, key=DATA_CLASSES.index)


def variable(source: str) -> str:
    """Name of the variable that names a source's folder."""
    return f"EHRBENCH_{source.upper()}_DIR"


def sites(source: str, folder: Path) -> list[Path]:
    """A source's folder and, for a folder of OMOP sites, the folders in it.

    Folders that archives leave behind (__MACOSX, .git) are no sites, as in source_files().
    """
    if source != "omop":
        return [folder]
    children = [
        child for child in folder.iterdir() if child.is_dir() and child.name[:1] not in "_."
    ]
    return [folder, *sorted(children)]


def site_name(folder: Path) -> str:
    """Name of a site as the column _site of raw() has it."""
    return re.sub(r"[^a-z0-9]+", "_", Path(os.path.abspath(folder)).name.lower())


def any_case(pattern: str) -> str:
    """A glob pattern that matches in upper and lower case (macro any_case)."""
    return "".join(
        f"[{letter.lower()}{letter.upper()}]" if letter.lower() != letter.upper() else letter
        for letter in pattern
    )


def matching_files(folder: Path, patterns: Iterable[str]) -> list[Path]:
    """Files of the first pattern that matches any, names in upper or lower case."""
    for pattern in patterns:
        found = sorted(path for path in folder.glob(any_case(pattern)) if path.is_file())
        if found:
            return found
    return []


def site_class(source: str, site: Path) -> str | None:
    """Class of the people in one folder of files; None when it holds no file of people.

    `hosp` is a part of the path that a MIMIC-IV folder may have or not.
    """
    classes = [
        classify_patients(source, file, site)
        for pattern in PATIENT_FILES[source]
        for file in matching_files(site, [pattern])
    ]
    return max(classes, key=DATA_CLASSES.index) if classes else None


def classify_patients(source: str, file: Path, raw: Path) -> str:
    """Class of one file of patients: synthetic, demo or credentialed (when in doubt).

    `raw` is the source's (or site's) folder. The marker of synth lies in it or above, and counts
    only while its number of patients is the file's.
    """
    for marker in (raw / MARKER, raw.parent.parent / MARKER, raw.parent.parent.parent / MARKER):
        if _is_synthetic(marker, file):
            return "synthetic"
    return "demo" if _is_known_demo(source, raw) else "credentialed"


def _is_known_demo(source: str, raw: Path) -> bool:
    """Whether every file of people below `raw` is, byte for byte, one of the open demos'.

    Looked at are the demos' tables in every form that is read (CSV, CSV.gz, Parquet, any case).
    """
    hashes = set().union(*known_demos(source).values())
    tables = {re.sub(r"(\.csv)?(\.gz)?$", "", name) for name in known_demos(source)}
    tables |= {name.removeprefix("hosp/") for name in tables}
    files = [
        file
        for table in sorted(tables)
        for ending in (".csv", ".csv.gz", ".parquet")
        for file in matching_files(raw, [table + ending])
    ]
    # The demos' files are small: a whole credentialed table is never read to hash it.
    return bool(files) and all(
        file.stat().st_size <= 2**24 and sha256(file) in hashes for file in files
    )


def _is_synthetic(marker: Path, file: Path) -> bool:
    try:
        manifest = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(manifest, dict) or manifest.get("data_class") != "synthetic":
        return False
    counts = [manifest.get("patients")]
    sources = manifest.get("sources")
    if isinstance(sources, dict):
        counts += [one.get("patients") for one in sources.values() if isinstance(one, dict)]
    return _count_rows(file) in counts


def _count_rows(file: Path) -> int:
    """Rows of a table of people; a header that is repeated among the data is none."""
    if file.suffix.lower() == ".parquet":
        return pq.read_metadata(file).num_rows
    opener = gzip.open if file.suffix.lower() == ".gz" else open
    with opener(file, "rt", encoding="utf-8", newline="") as handle:
        rows = csv.reader(handle)
        header = next(rows, None)
        return sum(1 for row in rows if row != header)


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
