"""What `ehrbench generate` costs beside plain vllm.LLM on the same prompts, and what it caches.

One engine serves both, its prefix cache emptied in between; starting it is left out. Plain means
one call of LLM.generate with all prompts in the order given. Modes: logprobs (the probabilities of
all options from one prefill), choice (a constrained letter) and json (extraction).
"""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path
from unittest import mock

import common
import duckdb
import pending

from ehrbench.engines.base import shared_length

STAGES = {"logprobs": "answers", "choice": "answers", "json": "extraction"}
GOAL = 1.05


def counters(llm) -> tuple[float, float]:
    """Tokens looked up in the prefix cache, and found there."""
    found = {metric.name: getattr(metric, "value", 0) for metric in llm.get_metrics()}
    return found["vllm:prefix_cache_queries"], found["vllm:prefix_cache_hits"]


def plain(runner, requests) -> list:
    """LLM.generate on the prompts of requests, as one writes it by hand."""
    texts = [runner._text(request) for request in requests]
    prompts = [{"prompt_token_ids": runner._tokens(text)} for text in texts]
    pairs = zip(requests, texts, strict=True)
    parameters = [runner._parameters(request, text) for request, text in pairs]
    return runner._llm.generate(prompts, parameters, use_tqdm=False)


def best_letters(runner, requests, outputs) -> dict[str, str]:
    """request_key -> the most probable letter by the plain call."""
    found = {}
    for request, output in zip(requests, outputs, strict=True):
        given = output.outputs[0].logprobs[0]
        scores = {
            letter: round(given[runner._letter_ids[letter]].logprob, 6)
            for letter in request.letters
        }
        found[request.request_key] = min(scores, key=lambda one: (-scores[one], one))
    return found


def shared(runner, requests) -> list[int]:
    """Tokens with which a prompt begins as the one before it does."""
    prompts = [runner._tokens(runner._text(request)) for request in requests]
    return [shared_length(*pair) for pair in itertools.pairwise(prompts)] or [0]


class Kept:
    """The one engine, which `generate` may close as often as it likes."""

    def __init__(self, runner):
        self._runner = runner

    def __getattr__(self, name: str):
        return getattr(self._runner, name)

    def close(self) -> None:
        """Nothing: it is used again."""


def main(arguments: list[str] | None = None) -> None:
    parser = pending.options(common.parser(__doc__), 100)
    parser.add_argument("--mode", choices=STAGES, default="logprobs", help="mode (%(default)s)")
    parser.add_argument("--engine-args", help="JSON of arguments of vllm.LLM")
    asked = parser.parse_args(arguments)
    from ehrbench import completions, engines, generate

    report = common.Report(f"generate_{asked.mode}", asked)
    stage = STAGES[asked.mode]
    taken: dict[str, list[common.Spent]] = {"generate": [], "plain": [], "plain in plan order": []}
    hits: dict[str, list[float]] = {name: [] for name in taken}
    with common.work_folder(asked) as folder:
        file = pending.database(asked, folder, stage, asked.mode)
        runner = Kept(pending.engine(file, asked.model, asked.engine_args))
        llm = runner._llm
        in_order = ordered(file, folder, stage, asked.model)
        in_plan = planned(file, in_order)
        for name, order in (("generate", in_order), ("plain in plan order", in_plan)):
            report.add(f"tokens shared with the prompt before, {name}", shared(runner, order), "")
        # Once without looking at the clock: the first call compiles and fills tables.
        plain(runner, in_order[:4])

        def measure(name: str, work) -> None:
            llm.reset_prefix_cache()
            before = counters(llm)
            taken[name].append(common.spent(work))
            after = counters(llm)
            looked_up = after[0] - before[0]
            hits[name].append((after[1] - before[1]) / looked_up if looked_up else 0.0)

        for number in range(asked.repeats):
            common.say(f"run {number + 1} of {asked.repeats}")
            store = folder / f"store{number}"
            completions.ensure_store(store)
            outputs: list = []
            measure("plain", lambda outputs=outputs: outputs.extend(plain(runner, in_order)))
            with mock.patch.object(engines, "create", lambda *_: runner):
                measure(
                    "generate",
                    lambda store=store: generate.generate(
                        asked.target, stage, asked.model, database=file, store=store
                    ),
                )
            measure("plain in plan order", lambda: plain(runner, in_plan))
        answered = stored(store)
        n_failed = sum(row["error"] is not None for row in answered)
        report.notes["requests"], report.notes["failed"] = len(answered), n_failed
        if asked.mode == "logprobs":
            letters = best_letters(runner, in_order, outputs)
            same = sum(letters[row["request_key"]] == row["text"] for row in answered)
            report.notes["same letter as plain"] = same
            tokens = [row["completion_tokens"] for row in answered]
            report.add("tokens generated a request", sum(tokens) / len(tokens), "", goal=1)
    n = len(answered)
    for name, order in (("plain", "same order"), ("plain in plan order", "plan order")):
        pairs = list(zip(taken["generate"], taken[name], strict=True))
        goal = GOAL if name == "plain" else None
        ratio = f"generate / plain LLM, {order}"
        report.add(f"wall: {ratio}", (a.wall / b.wall for a, b in pairs), goal=goal)
        report.add(f"CPU: {ratio}", (a.cpu / b.cpu for a, b in pairs))
    for name, runs in taken.items():
        report.add(f"prefix-cache hits, {name}", hits[name], "share")
        report.add(f"requests a second, {name}", (n / one.wall for one in runs), "1/s")
    report.close()


def ordered(file: Path, folder: Path, stage: str, model: str) -> list:
    """The requests as `generate` sends them."""
    from ehrbench import engines, generate

    todo = folder / "todo.parquet"
    generate.copy_pending(file, folder / "nothing", stage, model, todo, None)
    rows = [row for batch in generate.batches(todo, 1000) for row in batch]
    return [engines.parse_request(row) for row in rows]


def planned(file: Path, requests: list) -> list:
    """The same requests as the plan ranks them."""
    by_key = {request.request_key: request for request in requests}
    with contextlib.closing(duckdb.connect(str(file), read_only=True)) as connection:
        keys = connection.execute(
            "select request_key from int_requests_pending order by plan_rank, request_key"
        ).fetchall()
    return [by_key[key] for (key,) in keys]


def stored(store: Path) -> list[dict]:
    """The completions of a store."""
    from ehrbench import completions

    shards = completions.completion_shards(store)
    return [row for shard in shards for row in completions.read_shard(shard).to_pylist()]


if __name__ == "__main__":
    main()
