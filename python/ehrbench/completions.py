"""The completions store: append-only Parquet shards, one folder per stage x model.

    <store>/<stage>/<model>/part-<20 hex>.parquet     one row per (request_key, attempt)
    <store>/embeddings/<model>/part-<20 hex>.parquet  one row per (text_key, revision)
    <store>/text_scores/<model>/part-<20 hex>.parquet  one row per (pair_key, revision)
    <store>/runs/<model>/<run_id>.parquet             one row per (run_id, mode), see runs.py

A shard appears whole or not at all (temporary file, fsync, rename), its name is a function of
the keys in it, and one lock per stage x model keeps writers apart. So a killed run loses at most
the batch it was waiting for, and nothing is ever written twice. The lock's file names the process
that writes; a name that is still there at the next call is one of a process that was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ehrbench import sql
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.paths import safe_name, sha256
from ehrbench.progress import say

SCHEMA_VERSION = 1
SCHEMA = pa.schema(
    [
        ("request_key", pa.string()),
        ("attempt", pa.int32()),
        ("stage", pa.string()),
        ("model", pa.string()),
        ("revision", pa.string()),
        ("engine", pa.string()),
        ("text", pa.string()),
        ("finish_reason", pa.string()),
        ("prompt_tokens", pa.int32()),
        ("completion_tokens", pa.int32()),
        ("option_logprobs", pa.string()),
        ("latency_ms", pa.int64()),
        ("error", pa.string()),
        ("schema_version", pa.int32()),
    ]
)
VECTOR_SCHEMA = pa.schema(
    [
        ("text_key", pa.string()),
        ("model", pa.string()),
        ("revision", pa.string()),
        ("vector", pa.list_(pa.int8())),
        ("schema_version", pa.int32()),
    ]
)
TEXT_SCORE_SCHEMA = pa.schema(
    [
        ("pair_key", pa.string()),
        ("model", pa.string()),
        ("revision", pa.string()),
        ("layer", pa.int32()),
        ("rouge_1", pa.float64()),
        ("rouge_l", pa.float64()),
        ("bertscore", pa.float64()),
        ("schema_version", pa.int32()),
    ]
)
RUN_SCHEMA = pa.schema(
    [
        ("run_id", pa.string()),
        ("mode", pa.string()),
        ("stage", pa.string()),
        ("model", pa.string()),
        ("revision", pa.string()),
        ("engine", pa.string()),
        ("engine_version", pa.string()),
        ("vllm_version", pa.string()),
        ("torch_version", pa.string()),
        ("transformers_version", pa.string()),
        ("python_version", pa.string()),
        ("ehrbench_version", pa.string()),
        ("device", pa.string()),
        ("parameters", pa.string()),
        ("started_at", pa.timestamp("ms")),
        ("ended_at", pa.timestamp("ms")),
        ("start_ms", pa.int64()),
        ("wall_ms", pa.int64()),
        ("n_asked", pa.int64()),
        ("n_failed", pa.int64()),
        ("prompt_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("schema_version", pa.int32()),
    ]
)
STAGES = ("extraction", "answers")
LOCK = ".lock"
EMBEDDINGS = "embeddings"
RUNS = "runs"
TEXT_SCORES = "text_scores"


@dataclass(frozen=True)
class Kind:
    """What a shard holds; `keys` are the two columns that a row is known by.

    `best` orders rows of the same keys (SQL), the one that stands first.
    """

    name: str
    schema: pa.Schema
    keys: tuple[str, str]
    best: str = "shard"


COMPLETION = Kind("completions", SCHEMA, ("request_key", "attempt"))
# A text without a vector and a pair without a BERTScore are asked for again.
VECTOR = Kind(
    "embeddings", VECTOR_SCHEMA, ("text_key", "revision"), "coalesce(len(vector), 0) = 0, shard"
)
TEXT_SCORE = Kind(
    "text_scores", TEXT_SCORE_SCHEMA, ("pair_key", "revision"), "bertscore is null, shard"
)
RUN = Kind(RUNS, RUN_SCHEMA, ("run_id", "mode"))
# Shard metadata: the shards whose rows this one holds, name -> sha256 (see compact).
REPLACES = "ehrbench.replaces_sha256"


def kind_of(stage: str) -> Kind:
    """What the shards of a stage hold."""
    kinds = {EMBEDDINGS: VECTOR, RUNS: RUN, TEXT_SCORES: TEXT_SCORE}
    return kinds.get(stage, COMPLETION)


def model_dir(store: Path, stage: str, model: str) -> Path:
    """Folder of one stage x model."""
    return store / stage / safe_name(model)


def shards(folder: Path) -> list[Path]:
    """Finished shards of a folder (and below), in name order."""
    return sorted(folder.rglob("*.parquet")) if folder.is_dir() else []


def completion_shards(store: Path) -> list[Path]:
    """Finished shards of a store that hold completions."""
    others = (EMBEDDINGS, RUNS, TEXT_SCORES)
    return [path for path in shards(store) if path.relative_to(store).parts[0] not in others]


def shard_name(rows: Iterable[tuple[str, int | str]]) -> str:
    """File name for a set of keys (the two columns of a Kind): same keys, same name."""
    digest = hashlib.md5()
    for first, second in sorted(rows):
        digest.update(f"{first}|{second}\n".encode())
    return f"part-{digest.hexdigest()[:20]}.parquet"


def storable(value: object) -> object:
    """A value as Parquet can hold it: text as it is, but U+FFFD for half of a surrogate pair."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def to_table(rows: list[dict], kind: Kind = COMPLETION) -> pa.Table:
    """Rows as a table of the kind; missing columns are null, option_logprobs may be a dict.

    Text is stored as it came, whatever is in it; see storable for the one exception.
    """
    full = []
    for row in rows:
        row = {**row, "schema_version": SCHEMA_VERSION}
        logprobs = row.get("option_logprobs")
        if isinstance(logprobs, dict):
            row["option_logprobs"] = json.dumps(logprobs, sort_keys=True)
        full.append({name: storable(row.get(name)) for name in kind.schema.names})
    return pa.Table.from_pylist(full, schema=kind.schema)


def write_shard(
    folder: Path, rows: list[dict], kind: Kind = COMPLETION, holder: str = ""
) -> Path:
    """Write one batch as one shard and return its path; the caller holds the folder's lock.

    Or it works for another process, `holder` (as its lock's file has it): raises EhrbenchError,
    and writes nothing, when that one holds the lock no more.
    """
    first, second = kind.keys
    name = shard_name((row[first], row[second]) for row in rows)
    return write_table(folder / name, to_table(rows, kind), holder=holder)


def write_table(
    path: Path, table: pa.Table, temporary: Path | None = None, holder: str = ""
) -> Path:
    """Write a Parquet file so that it appears whole or not at all.

    `temporary`, on the same disk, is where it grows: beside the path, hidden, if not given.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary or path.with_name(f".{path.name}.tmp")
    pq.write_table(table, temporary, compression="zstd")
    return publish(temporary, path, holder)


def publish(temporary: Path, path: Path, holder: str = "") -> Path:
    """Give a finished file its name; the bytes and the name are on disk before this returns."""
    _sync(temporary)
    # The next holder names itself before it removes temporary files: no rename can follow that.
    if holder and (path.parent / LOCK).read_text(encoding="utf-8") != holder:
        temporary.unlink(missing_ok=True)
        raise EhrbenchError(f"process {holder} writes here no more")
    os.replace(temporary, path)
    _sync(path.parent)
    return path


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_shard(path: Path, kind: Kind = COMPLETION) -> pa.Table:
    """One shard as a table of its kind; EhrbenchError names a file that is not one."""
    check_shard(path, kind)
    return pq.read_table(path, columns=kind.schema.names).cast(kind.schema)


def check_shard(path: Path, kind: Kind = COMPLETION) -> int:
    """Number of rows of a shard, looking at its footer and versions only.

    Raises EhrbenchError for a file that is no shard, or one of a newer ehrbench.
    """
    try:
        with pq.ParquetFile(path) as shard:
            found, rows = set(shard.schema_arrow.names), shard.metadata.num_rows
            missing = [name for name in kind.schema.names if name not in found]
            if not missing:
                versions = shard.read(columns=["schema_version"]).column(0).unique().to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise EhrbenchError(
            f"{path} is not a readable Parquet file ({one_line(error, 120)}); "
            "move it away and generate again"
        ) from error
    if missing:
        raise EhrbenchError(
            f"{path} is no {kind.name} shard: column {missing[0]} is missing; move it away"
        )
    for version in versions:
        if version is None or version > SCHEMA_VERSION:
            raise EhrbenchError(
                f"{path} has schema version {version}, this ehrbench knows {SCHEMA_VERSION}: "
                "update ehrbench"
            )
    return rows


def check_store(store: Path) -> int:
    """Heal every folder, check that every shard can be read, return the number of rows."""
    for folder in sorted({shard.parent for shard in shards(store)}):
        heal(folder)
    return sum(
        check_shard(shard, kind_of(shard.relative_to(store).parts[0])) for shard in shards(store)
    )


@contextlib.contextmanager
def lock(store: Path, stage: str, model: str) -> Iterator[Path]:
    """Hold the one writer's lock of a stage x model; yields its folder.

    The lock ends with the process, however that ends. Raises EhrbenchError when it is taken.
    """
    folder = model_dir(store, stage, model)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a+", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            raise EhrbenchError(
                f"another ehrbench (process {holder}) writes {stage} of {model}: "
                "wait for it, or end it"
            ) from error
        handle.seek(0)
        killed = handle.read().strip()
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        if killed:
            say(f"process {killed} was cut off at {stage} of {model}: what it stored is kept")
        for leftover in folder.glob(".*.tmp"):
            leftover.unlink()
        heal(folder)
        try:
            yield folder
        finally:
            handle.truncate(0)


def heal(folder: Path) -> None:
    """Finish a compaction that was cut off: drop the shards that another one replaces.

    Known by their content too: the same keys written anew make a shard of the same name.
    """
    for shard in sorted(folder.glob("*.parquet")):
        if not shard.exists():
            continue
        try:
            metadata = pq.read_schema(shard).metadata or {}
        except (OSError, pa.ArrowInvalid):
            continue  # reading the rows will name the file
        for name, digest in json.loads(metadata.get(REPLACES.encode(), b"{}")).items():
            replaced = folder / name
            if replaced.exists() and sha256(replaced) == digest:
                replaced.unlink()


def compact(store: Path, stage: str, model: str) -> tuple[int, int]:
    """Merge the shards of a stage x model into one; returns (shards before, rows after).

    The merged shard lists those it replaces, so a crash between its appearance and their removal
    is mended by the next writer (or by check_store).
    """
    kind = kind_of(stage)
    keys = ", ".join(kind.keys)
    with lock(store, stage, model) as folder:
        old = sorted(folder.glob("*.parquet"))
        for shard in old:
            check_shard(shard, kind)
        if not old:
            return 0, 0
        with duckdb.connect() as connection:
            connection.execute(
                f"""
                create view rows as
                select {", ".join(kind.schema.names)}
                from read_parquet({sql.files(old)}, union_by_name = true, filename = 'shard')
                qualify row_number() over (partition by {keys} order by {kind.best}) = 1
                """
            )
            n_rows, digest = connection.execute(
                f"""
                select
                    count(*),
                    md5(string_agg(
                        concat({kind.keys[0]}, '|', {kind.keys[1]}, chr(10)), '' order by {keys}))
                from rows
                """
            ).fetchall()[0]
            path = folder / f"part-{(digest or '0' * 20)[:20]}.parquet"
            replaced = {shard.name: sha256(shard) for shard in old if shard.name != path.name}
            temporary = path.with_name(f".{path.name}.tmp")
            connection.execute(
                f"""
                copy (select * from rows order by {keys})
                to '{sql.text(temporary)}'
                (format parquet, compression zstd,
                    kv_metadata {{'{REPLACES}': '{json.dumps(replaced)}'}})
                """
            )
        publish(temporary, path)
        heal(folder)
        return len(old), n_rows


def stage_models(store: Path) -> list[tuple[str, str]]:
    """(stage, folder of the model) pairs that hold at least one shard to compact."""
    found = {(shard.parent.parent.name, shard.parent.name) for shard in shards(store)}
    return sorted(pair for pair in found if pair[0] != RUNS)


def ensure_store(store: Path) -> None:
    """Make the store hold at least a zero-row shard, so that readers of the glob find a file."""
    if not completion_shards(store):
        write_table(store / "empty" / "none" / f"part-{'0' * 20}.parquet", SCHEMA.empty_table())
