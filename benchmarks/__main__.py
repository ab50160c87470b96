"""Run the benchmarks one after the other: python benchmarks [NAME ...] [-- OPTIONS OF EACH]."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# Each with the package that it needs beside the project's own, if any.
BENCHMARKS = {
    "raw_to_events": None,
    "checks": None,
    "peer": "polars",
    "scaling": None,
    "incremental": None,
    "items": None,
    "profile_build": None,
    "generate": "vllm",
    "harness": "vllm",
}


def first_line(name: str) -> str:
    """What a benchmark is about."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    return ast.get_docstring(tree).splitlines()[0]


def main(arguments: list[str] | None = None) -> None:
    listed = "\n".join(f"  {name:<14} {first_line(name)}" for name in BENCHMARKS)
    parser = argparse.ArgumentParser(
        prog="python benchmarks",
        description=f"{__doc__}\n\nBenchmarks:\n{listed}",
        epilog="Each writes build/benchmarks/NAME.json. Options of one: python "
        "benchmarks/NAME.py --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run [all]")
    given = sys.argv[1:] if arguments is None else arguments
    split = given.index("--") if "--" in given else len(given)
    names = parser.parse_args(given[:split]).names or list(BENCHMARKS)
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark {unknown[0]}: there are {', '.join(BENCHMARKS)}")
    failed = []
    for name in names:
        needed = BENCHMARKS[name]
        if needed and importlib.util.find_spec(needed) is None:
            print(f"[{name}] left out: {needed} is not installed", flush=True)
            continue
        print(f"[{name}] {first_line(name)}", flush=True)
        command = [sys.executable, str(FOLDER / f"{name}.py"), *given[split + 1 :]]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"error: {', '.join(failed)} did not finish")


if __name__ == "__main__":
    main()
