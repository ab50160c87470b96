"""``python -m ehrbench.synth``: write the synthetic data set from the command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ehrbench.synth import DEFAULT_SEED, REGIMES, write


def main() -> int:
    """Parse the arguments, write, and print one line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ehrbench.synth", description=__doc__)
    parser.add_argument("--patients", type=int, default=200)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--regime", choices=REGIMES, default="clean")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        manifest = write(
            arguments.out, arguments.patients, arguments.seed, arguments.regime
        )
    except ValueError as error:
        print(f"synth: {error}", file=sys.stderr)
        return 2
    rows = sum(manifest["rows"].values())
    print(f"{manifest['patients']} synthetic patients, {rows} rows in all, under {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
