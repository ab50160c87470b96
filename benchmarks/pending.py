"""A small database of pending requests, for the benchmarks of the engine.

Holds what `ehrbench generate` reads: the seed `models` and int_requests_pending, with the first
requests of the plan, as if none had been answered.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import common
import duckdb

from ehrbench import generate, paths

REQUESTS = """
create table int_requests_pending as
select
    requests.request_key, requests.stage, requests.model, requests.mode, requests.repetition,
    requests.prompt_key, requests.prefix_group, requests.messages, requests.json_schema,
    requests.n_options, requests.options, requests.sampling, 0 as n_attempts, 1 as max_attempts,
    requests.plan_rank, requests.arm, answers.item_id
from source.int_requests_planned as requests
left join source.int_answer_requests as answers on requests.request_key = answers.request_key
where requests.model = ?
    and requests.stage = ?
    and requests.mode = ?
    and coalesce(requests.arm, 'standard') = 'standard'
    and requests.repetition = 1
order by requests.plan_rank, requests.request_key
limit ?
"""


def options(parser: argparse.ArgumentParser, n: int) -> argparse.ArgumentParser:
    """Which requests of which built database."""
    parser.add_argument("--target", default="synthetic", help="target (%(default)s)")
    parser.add_argument("--database", type=Path, help="the built file (that of the target)")
    parser.add_argument("--model", default=paths.EMBEDDED_MODEL, help="model (%(default)s)")
    parser.add_argument("--requests", type=int, default=n, help="how many (%(default)s)")
    return parser


def database(asked: argparse.Namespace, folder: Path, stage: str, mode: str) -> Path:
    """The small database; ends the benchmark when the built one is not there."""
    source = asked.database or paths.database(asked.target)
    if not source.is_file():
        sys.exit(f"error: {source} is not there: run make demo first, or name one with --database")
    file = folder / f"{mode}.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"attach '{source}' as source (read_only)")
        connection.execute("create table models as select * from source.models")
        connection.execute(REQUESTS, [asked.model, stage, mode, asked.requests])
        connection.execute("detach source")
        if not common.rows(connection, "int_requests_pending"):
            sys.exit(f"error: no {stage} request of {asked.model} in mode {mode} is planned")
    return file


def engine(file: Path, model: str, arguments: str | None = None):
    """The engine of `generate` for a model, started; `arguments` as for --engine-args."""
    from ehrbench import engines

    with duckdb.connect(str(file), read_only=True) as connection:
        spec = generate.model_spec(connection, model)
    return engines.create("vllm", spec, {"engine_args": generate.parse_engine_args(arguments)})
