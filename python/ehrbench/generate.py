"""`ehrbench generate`: take pending requests, have them completed, add them to the store.

SQL decides what is pending (int_requests_pending) and in which order; the store decides what is
already there. The DuckDB file is open only while that list is copied out.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from ehrbench import completions, engines, paths, runs, sql
from ehrbench.built import connect, data_class_of, find_relation
from ehrbench.engines import Completion, Engine, ModelSpec, Request, StoringEngine
from ehrbench.engines.openai_server import addresses, is_loopback
from ehrbench.errors import EhrbenchError, EngineUnavailable, one_line
from ehrbench.progress import Progress, say

PENDING = "int_requests_pending"
PENDING_COLUMNS = (
    "request_key",
    "stage",
    "model",
    "mode",
    "repetition",
    "prompt_key",
    "prefix_group",
    "messages",
    "json_schema",
    "n_options",
    "options",
    "sampling",
    "n_attempts",
    "max_attempts",
)


@dataclass
class Outcome:
    """What one call of `generate` did.

    `errors` counts failures by their first word, `unanswered` holds the requests whose last
    attempt failed, with that word.
    """

    asked: int = 0
    succeeded: int = 0
    failed: int = 0
    errors: Counter = field(default_factory=Counter)
    unanswered: dict[str, str] = field(default_factory=dict)

    def missing(self) -> str:
        """How many requests are without an answer and why; empty when all have one."""
        if not self.unanswered:
            return ""
        whys = Counter(self.unanswered.values())
        said = ", ".join(f"{n} x {why}" for why, n in sorted(whys.items()))
        return f"{len(self.unanswered)} without an answer ({said})"


def model_spec(connection: duckdb.DuckDBPyConnection, model: str) -> ModelSpec:
    """Engine settings of a model from the seed `models`."""
    relation = find_relation(connection, "models", ("model", "revision", "engine"))
    if relation is None:
        raise EhrbenchError("the seed models is not in the database: run dbt build first")
    result = connection.execute(f"select * from {relation} where model = ?", [model])
    names = [column[0] for column in result.description]
    rows = result.fetchall()
    if not rows:
        known = connection.execute(f"select model from {relation} order by 1").fetchall()
        raise EhrbenchError(
            f"model {model!r} is not in the seed models; known are "
            + ", ".join(name for (name,) in known)
        )
    row = {key: value for key, value in zip(names, rows[0], strict=True) if value is not None}
    defaults = ModelSpec(model=model)
    return ModelSpec(
        model=model,
        revision=str(row.get("revision", "")),
        engine=str(row.get("engine", defaults.engine)),
        weights=str(row.get("weights", "")),
        endpoint=str(row.get("endpoint", "")),
        chat_template=str(row.get("chat_template") or defaults.chat_template),
        thinking=bool(row.get("thinking", False)),
        max_model_len=int(row.get("max_model_len") or defaults.max_model_len),
        dtype=str(row.get("dtype") or defaults.dtype),
        pooling=str(row.get("pooling") or defaults.pooling),
    )


def pending_counts(database: Path, store: Path) -> list[tuple[str, str, str, int]]:
    """(stage, model, engine of the seed, n) that are pending and not in the store yet."""
    with connect(database) as connection:
        if find_relation(connection, PENDING, PENDING_COLUMNS) is None:
            return []
        counts = connection.execute(
            f"""
            select stage, model, count(*)
            from ({_pending_sql(connection, store, "true", payload=False)})
            group by all
            order by stage desc, model
            """
        ).fetchall()
        return [
            (stage, model, model_spec(connection, model).engine, n) for stage, model, n in counts
        ]


def _pending_sql(
    connection: duckdb.DuckDBPyConnection, store: Path, where: str, payload: bool = True
) -> str:
    """Pending requests without those that the store has answered since dbt looked."""
    relation = find_relation(connection, PENDING, PENDING_COLUMNS)
    if relation is None:
        raise EhrbenchError(f"{PENDING} is not in the database: run dbt build first")
    shards = completions.completion_shards(store)
    source = (
        f"read_parquet({sql.files(shards)}, union_by_name = true)"
        if shards
        else "(select '' as request_key, 0 as attempt, '' as error where false)"
    )
    wanted = PENDING_COLUMNS if payload else ("stage", "model", "request_key")
    columns = ", ".join(f"pending.{column}" for column in wanted)
    described = connection.execute(f"describe select * from {relation}").fetchall()
    rank = "pending.plan_rank" if "plan_rank" in {row[0] for row in described} else "0"
    return f"""
        with pending as (select * from {relation} where {where}),

        stored as (
            select
                request_key,
                max(attempt) as last_attempt,
                -- As in int_completions_latest.
                bool_or(
                    error is null or split_part(error, ':', 1) in ('too_long', 'server_died')
                ) as is_final,
            from {source}
            group by request_key
        )

        select
            {columns},
            {rank} as plan_rank,
            greatest(coalesce(stored.last_attempt, 0), pending.n_attempts) + 1 as attempt,
        from pending
        left join stored on pending.request_key = stored.request_key
        where not coalesce(stored.is_final, false)
            and greatest(coalesce(stored.last_attempt, 0), pending.n_attempts)
                < pending.max_attempts
    """


def copy_pending(
    database: Path, store: Path, stage: str, model: str, file: Path, limit: int | None
) -> tuple[int, ModelSpec]:
    """Copy what is to do into a Parquet file in order; returns (rows, the model's settings).

    `limit` takes the first of the plan; the order keeps prompts that begin alike together, so
    that the engine's prefix cache works.
    """
    with connect(database) as connection:
        spec = model_spec(connection, model)
        where = f"stage = '{sql.text(stage)}' and model = '{sql.text(model)}'"
        connection.execute(
            f"""
            copy (
                select * from (
                    {_pending_sql(connection, store, where)}
                    order by plan_rank, pending.request_key
                    {"limit " + str(int(limit)) if limit is not None else ""}
                )
                -- Prompts of one group that begin alike stand side by side.
                order by prefix_group, messages, request_key
            )
            to '{sql.text(file)}' (format parquet, compression zstd, row_group_size 10240)
            """
        )
    return pq.ParquetFile(file).metadata.num_rows, spec


def batches(file: Path, size: int) -> Iterator[list[dict]]:
    """Rows of the copied list, `size` at a time; memory does not grow with the list."""
    with pq.ParquetFile(file) as parquet:
        for batch in parquet.iter_batches(batch_size=size):
            yield batch.to_pylist()


def check_data_use(endpoint: str, target: str, database: Path, allow_remote: bool) -> None:
    """Refuse to send patient data off this machine unless a flag states the permission.

    The class is that of the folders a target reads or of what the database was built from,
    whichever is more protected; a database that does not say counts as patients'. `endpoint` may
    hold several addresses; all are looked at.
    """
    away = [address for address in addresses(endpoint) if not is_loopback(address)]
    if allow_remote or not away:
        return
    with connect(database) as connection:
        recorded = data_class_of(connection)
    data_class = max(paths.data_class(target), recorded, key=paths.DATA_CLASSES.index)
    if recorded == "none" or data_class != "synthetic":
        shown = data_class if data_class in ("demo", "credentialed") else "unknown"
        raise EhrbenchError(
            f"{away[0]!r} is not on this machine and the data of target {target} are {shown}: "
            "use a server on loopback, or state with --allow-remote that the data use agreement "
            "permits it"
        )


def generate(
    target: str,
    stage: str,
    model: str,
    engine: str | None = None,
    endpoint: str | None = None,
    limit: int | None = None,
    batch: int | None = None,
    allow_remote: bool = False,
    options: dict | None = None,
    database: Path | None = None,
    store: Path | None = None,
) -> Outcome:
    """Complete the pending requests of a stage x model; returns what was done.

    `endpoint` is the address of a server, or of several with blanks between. `limit` caps the
    number of requests, `batch` the requests per shard; `options` go to the engine. A request that
    fails is tried again while it has attempts left, except one whose prompt is too long or takes
    servers down. Raises EhrbenchError with one line when nothing can be done at all, and
    EngineUnavailable, with the number of requests that are left, when the engine goes away: what it
    gave is kept, and the next call asks only the rest.
    """
    database = database or paths.database(target)
    store = store or paths.completions_dir(target)
    if stage not in completions.STAGES:
        raise EhrbenchError(f"unknown stage {stage!r}: {' or '.join(completions.STAGES)}")
    outcome = Outcome()
    with completions.lock(store, stage, model) as folder:
        work = folder / ".pending.tmp"
        runner: Engine | None = None
        run: runs.Run | None = None
        left = limit
        try:
            while left is None or left > 0:
                todo, spec = copy_pending(database, store, stage, model, work, left)
                if todo == 0:
                    break
                if runner is None:
                    name = engine or ("openai" if endpoint else spec.engine)
                    given = {**(options or {}), "endpoint": endpoint or spec.endpoint}
                    if name == "openai":
                        check_data_use(given["endpoint"], target, database, allow_remote)
                    say(f"starting engine {name} for {spec.model}")
                    started_at, started = runs.now(), time.monotonic()
                    runner = engines.create(name, spec, given)
                    if isinstance(runner, StoringEngine):
                        check_data_use(runner.nodes, target, database, allow_remote)
                    start_s = time.monotonic() - started
                    run = runs.Run(store, folder, stage, spec, runner, started_at, start_s)
                label = f"{stage} {model}" + (" (again)" if outcome.asked else "")
                before, answered = outcome.asked, outcome.succeeded
                try:
                    _work_off(run, folder, work, todo, batch, label, outcome)
                except EngineUnavailable as error:
                    rest = todo - (outcome.asked - before)
                    raise EngineUnavailable(
                        f"{error} ({outcome.succeeded} answers are kept, {rest} requests are left: "
                        "the same command asks only those)"
                    ) from error
                if outcome.succeeded - answered == todo:
                    break
                left = None if left is None else left - (outcome.asked - before)
        finally:
            work.unlink(missing_ok=True)
            if runner is not None:
                runner.close()
    for error, n in sorted(outcome.errors.items()):
        say(f"  {n} x {error}")
    return outcome


def _work_off(
    run: runs.Run,
    folder: Path,
    work: Path,
    todo: int,
    batch: int | None,
    label: str,
    outcome: Outcome,
) -> None:
    """One pass over the copied list: `batch` finished requests are a shard."""
    runner = run.runner
    size = batch or runner.default_batch
    with Progress(label, todo) as progress:
        for stream in _streams(runner, folder, work, todo, size):
            finished: list[tuple[Request, Completion]] = []
            try:
                for pair in run.follow(stream):
                    finished.append(pair)
                    progress.advance(1, pair[1].error is not None)
                    if len(finished) == size:
                        _record(run, folder, finished, outcome)
                        finished = []
            finally:
                # Also when the engine has gone or a person has stopped it.
                _record(run, folder, finished, outcome)


def _streams(
    runner: Engine | StoringEngine, folder: Path, work: Path, todo: int, size: int
) -> Iterator[Iterator[tuple[Request, Completion]]]:
    """What the engine gives back for the copied list, a window after the other."""
    if isinstance(runner, StoringEngine):
        yield runner.work_off(work, folder, todo, size)
        return
    for rows in batches(work, max(size, runner.window)):
        yield runner.stream([engines.parse_request(row) for row in rows])


def _record(
    run: runs.Run, folder: Path, pairs: list[tuple[Request, Completion]], outcome: Outcome
) -> None:
    """Write completions as one shard (unless workers have), count them, renew the manifest."""
    if not pairs:
        return
    rows = engines.rows_of(run.spec, run.runner.name, pairs)
    if not isinstance(run.runner, StoringEngine):
        completions.write_shard(folder, rows)
    run.write()
    errors = [row["error"] for row in rows if row["error"] is not None]
    outcome.asked += len(rows)
    outcome.failed += len(errors)
    outcome.succeeded += len(rows) - len(errors)
    outcome.errors.update(error.split(":")[0] for error in errors)
    for row in rows:
        if row["error"] is None:
            outcome.unanswered.pop(row["request_key"], None)
        else:
            outcome.unanswered[row["request_key"]] = row["error"].split(":")[0]


def parse_engine_args(text: str | None) -> dict:
    """The JSON object of --engine-args."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EhrbenchError(f"--engine-args is not JSON: {one_line(error)}") from error
    if not isinstance(value, dict):
        raise EhrbenchError('--engine-args must be a JSON object like {"tensor_parallel_size": 2}')
    return value
