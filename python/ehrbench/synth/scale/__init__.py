"""Cohort and knowledge base at the size of the real releases, for measuring and not for the truth.

``write(out, profile)`` streams the raw files of a profile of profiles.csv out of DuckDB: every row
is a pure function of its number and the seed, so chunks are made side by side, memory does not
grow, equal arguments give equal bytes, and a share of a profile is its first rows. The cohort
follows relations that the knowledge base states; truth tables and traps are in the small data set
of ``ehrbench synth --patients`` only.
"""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from itertools import islice
from pathlib import Path

import duckdb

from ehrbench import sql
from ehrbench.synth import DEFAULT_SEED

MANIFEST = "MANIFEST.json"
ASIDE = f".ehrbench-aside-{MANIFEST}"
WORKERS = 2
MEMORY_LIMIT = "1GB"  # of each worker
# Rows of a unit that are made at once. Those of admissions hold whole patients (49 to a cycle).
CHUNKS = {
    "patients": 200_000,
    "admissions": 49 * 500,
    "concepts": 100_000,
    "pmids": 1_000_000,
    "predications": 500_000,
    "sentences": 1_000_000,
}
# What a share makes smaller; the vocabulary keeps its size.
SIZES = ("patients", "admissions", "predications", "sentences", "pmids")
# What is drawn first: for each chunk of a unit, and once for a whole knowledge base.
DRAWN_FOR_UNIT = {"admissions": "admissions_drawn"}
DRAWN_ONCE = {"knowledge": "concepts"}
COPY = {
    "csv": "format csv, header {header}",
    "lines": "format csv, header false, delimiter '\x01', quote '', escape ''",
}

_package = resources.files(__package__)


def _table(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((_package / name).read_text(encoding="utf-8").splitlines()))


def _query(name: str) -> str:
    return (_package / "queries" / f"{name}.sql").read_text(encoding="utf-8")


def profiles() -> dict[str, dict]:
    """The profiles by name: what each writes and its numbers of units (profiles.csv)."""
    return {
        row["profile"]: {
            name: value if name in ("profile", "writes", "comment") else int(value)
            for name, value in row.items()
        }
        for row in _table("profiles.csv")
    }


@dataclass(frozen=True)
class _Chunk:
    """Rows first to beyond of a unit, and the files of which it is a part."""

    unit: str
    first: int
    beyond: int
    files: tuple[dict[str, str], ...]

    def bytes(self) -> int:
        """Packed bytes that are expected."""
        per_unit = sum(int(file["bytes_per_unit"] or 0) for file in self.files)
        return per_unit * (self.beyond - self.first)


def _chunks(asked: dict) -> Iterator[_Chunk]:
    """Every chunk of a profile, those of a file in order."""
    files = [file for file in _table("files.csv") if file["writes"] == asked["writes"]]
    for file in files:
        if not file["unit"]:
            yield _Chunk("", 0, 1, (file,))
    for unit, step in CHUNKS.items():
        members = tuple(file for file in files if file["unit"] == unit)
        for first in range(0, asked[unit] if members else 0, step):
            yield _Chunk(unit, first, min(first + step, asked[unit]), members)


def _part(whole: int, share: float) -> int:
    """A share of a number, by the share's decimals; nothing stays nothing and all else is some."""
    return min(whole, max(1, int(whole * Fraction(str(share)))))


def _asked(profile: str, seed: int, share: float, sentences_share: float) -> dict:
    known = profiles()
    if profile not in known:
        raise ValueError(f"profile must be one of {', '.join(known)}, not {profile!r}")
    for name, value in (("share", share), ("share of sentences", sentences_share)):
        if not 0 < value <= 1:
            raise ValueError(f"the {name} must be above 0 and at most 1, not {value}")
    asked = known[profile] | {"seed": seed, "profile_share": share}
    asked |= {name: _part(asked[name], share) for name in SIZES}
    asked["sentences"] = _part(asked["sentences"], sentences_share)
    return asked


def expected_bytes(profile: str, share: float = 1.0, sentences_share: float = 1.0) -> int:
    """Bytes on disk that a share of a profile needs, about.

    Raises ValueError with one clear line for arguments that make no sense.
    """
    return sum(chunk.bytes() for chunk in _chunks(_asked(profile, 0, share, sentences_share)))


def _check_disk(folder: Path, needed: int) -> None:
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ValueError(
            f"the profile needs about {needed / 1e9:.1f} GB and {free / 1e9:.1f} GB are free: "
            "name another disk with --out, or write less with --share"
        )


class _Maker:
    """Makes chunks; every thread has a database of its own."""

    def __init__(self, asked: dict, raw: Path) -> None:
        self.asked, self.raw = asked, raw
        self._own = threading.local()

    def _connection(self) -> duckdb.DuckDBPyConnection:
        if not hasattr(self._own, "connection"):
            connection = duckdb.connect()
            connection.execute("set threads = 1")
            connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
            connection.execute("set temp_directory = ''")
            for name, value in self.asked.items():
                if isinstance(value, int):
                    connection.execute(f"set variable {name} = {value}")
            connection.execute(_query("known"))
            connection.execute(_query("macros"))
            if self.asked["writes"] in DRAWN_ONCE:
                connection.execute(_query(DRAWN_ONCE[self.asked["writes"]]))
            self._own.connection = connection
        return self._own.connection

    def make(self, chunk: _Chunk) -> list[tuple[str, Path, int]]:
        """Write the parts of a chunk: (path of the file, part of it, rows)."""
        connection = self._connection()
        connection.execute(f"set variable first = {chunk.first}")
        connection.execute(f"set variable beyond = {chunk.beyond}")
        if chunk.unit in DRAWN_FOR_UNIT:
            connection.execute(_query(DRAWN_FOR_UNIT[chunk.unit]))
        made = []
        for file in chunk.files:
            path = self.raw / file["path"]
            part = path.with_name(f".ehrbench-part-{chunk.first}-{path.name}")
            options = COPY[file["format"]].format(header=str(chunk.first == 0).lower())
            if path.suffix == ".gz":
                options += ", compression gzip"
            rows = connection.execute(
                f"copy (\n{_query(file['query'])}\n) to '{sql.text(part)}' ({options})"
            ).fetchone()[0]
            made.append((file["path"], part, rows))
        return made


def write(
    out: Path | str,
    profile: str,
    seed: int = DEFAULT_SEED,
    share: float = 1.0,
    sentences_share: float = 1.0,
    made: Callable[[int], None] = lambda n: None,
) -> dict:
    """Write the raw files of a profile under ``out`` and return the manifest.

    out: folder that receives raw/ and MANIFEST.json; a cohort and a knowledge base may share it.
    profile: a name of ``profiles()``.
    share: share (0 to 1] of the profile's rows that are written, the first ones.
    sentences_share: share (0 to 1] of these sentences that are written, the first ones.
    made: called with the expected packed bytes of every chunk that was written.

    Raises ValueError with one clear line for arguments that make no sense, a damaged manifest or too
    little disk.
    """
    asked = _asked(profile, seed, share, sentences_share)
    out = Path(out)
    _manifest(out)
    _check_disk(out, expected_bytes(profile, share, sentences_share))
    maker = _Maker(asked, out / "raw")
    counts: dict[str, int] = {}

    def take(chunk: _Chunk, parts: list[tuple[str, Path, int]]) -> None:
        """Append the parts of a chunk to their files: packed parts are a packed file."""
        for path, part, rows in parts:
            whole = part.parent / f".ehrbench-part-{Path(path).name}"
            with open(whole, "ab" if chunk.first else "wb") as target, open(part, "rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
            part.unlink()
            counts[path] = counts.get(path, 0) + rows
        made(chunk.bytes())

    chunks = _chunks(asked)
    for file in _table("files.csv"):
        if file["writes"] == asked["writes"]:
            final = out / "raw" / file["path"]
            final.parent.mkdir(parents=True, exist_ok=True)
            for leftover in final.parent.glob(f".ehrbench-part-*{final.name}"):
                leftover.unlink()  # of a killed call
    with ThreadPoolExecutor(WORKERS) as pool:
        waiting: list[tuple[_Chunk, Future]] = [
            (chunk, pool.submit(maker.make, chunk)) for chunk in islice(chunks, WORKERS * 2)
        ]
        while waiting:
            chunk, future = waiting.pop(0)
            take(chunk, future.result())
            waiting += [(new, pool.submit(maker.make, new)) for new in islice(chunks, 1)]
    earlier = _set_aside(out, asked, counts)
    for path in counts:
        final = out / "raw" / path
        (final.parent / f".ehrbench-part-{final.name}").replace(final)
    return _write_manifest(out, asked, counts, earlier)


def _set_aside(out: Path, asked: dict, counts: dict[str, int]) -> dict:
    """Take the manifest away while files are swapped; returns what it says of another profile."""
    manifest = _manifest(out)
    gone = {f"raw/{path}" for path in counts}
    earlier = {
        "patients": 0 if asked["patients"] else manifest.get("patients", 0),
        "profiles": {
            name: part
            for name, part in manifest.get("profiles", {}).items()
            if name != asked["profile"]
        },
        "rows": {path: n for path, n in manifest.get("rows", {}).items() if path not in gone},
    }
    _put(out / ASIDE, earlier)
    (out / MANIFEST).unlink(missing_ok=True)
    return earlier


def _manifest(out: Path) -> dict:
    """The manifest of what lies in the folder, or what a killed call set aside; {} without one."""
    for file in (out / MANIFEST, out / ASIDE):
        if file.exists():
            with contextlib.suppress(ValueError, AttributeError):
                found = json.loads(file.read_text(encoding="utf-8"))
                if all(isinstance(found.get(key, {}), dict) for key in ("profiles", "rows")):
                    return found
            raise ValueError(f"{file}: damaged or of another version: remove it and its folder raw")
    return {}


def _put(path: Path, content: dict) -> None:
    """Write JSON that is there as a whole or not at all."""
    part = path.with_name(f".ehrbench-part-{path.name}")
    part.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    part.replace(path)


def _write_manifest(out: Path, asked: dict, counts: dict[str, int], earlier: dict) -> dict:
    """MANIFEST.json marks the data as synthetic; a second profile adds to it."""
    rows = {f"raw/{name}": count for name, count in counts.items()}
    manifest = {
        "data_class": "synthetic",
        "generator": "ehrbench synth",
        "patients": asked["patients"] or earlier["patients"],
        "profiles": earlier["profiles"] | {asked["profile"]: asked["profile_share"]},
        "rows": dict(sorted((earlier["rows"] | rows).items())),
        "schema_version": 2,
        "seed": asked["seed"],
    }
    _put(out / MANIFEST, manifest)
    (out / ASIDE).unlink()
    return manifest
