"""Runs an exported task in a process of its own, on answers that are given or on a real model.

    python run_harness.py lm-eval FOLDER RUNS.json RESULT.json
    python run_harness.py inspect-ai FOLDER RUNS.json RESULT.json

A run of lm-eval is {model, group, chat, samples, limit, answers}: `model` is recorded, dummy or a
folder of weights; answers map a prompt (chat: the messages as JSON) to the log-probability of each
letter. A run of inspect-ai is {only, ids, answers, replies}: answers map the user's message to the
reply, and replies are texts with a number of options, to be read as the task reads them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def run_lm_eval(folder: Path, runs: list[dict]) -> list[dict]:
    """Accuracy per task and group, and what each item was asked and answered."""
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Recorded(LM):
        """Knows the log-probability of each letter, of no other text and after no other prompt."""

        tokenizer_name = "none"

        def __init__(self, answers: dict, chat: bool):
            super().__init__()
            self.answers, self.before = answers, "" if chat else "\n"

        def apply_chat_template(self, chat_history, add_generation_prompt=True):
            assert add_generation_prompt
            return json.dumps(chat_history)

        def loglikelihood(self, requests):
            found = []
            for context, continuation in (request.args for request in requests):
                assert continuation.startswith(self.before), continuation
                letter = continuation.removeprefix(self.before)
                found.append((self.answers[context][letter], False))
            return found

        def loglikelihood_rolling(self, requests):
            raise AssertionError("not asked")

        def generate_until(self, requests):
            raise AssertionError("not asked")

    def model(run: dict) -> object:
        if run["model"] == "recorded":
            return Recorded(run["answers"], run["chat"])
        if run["model"] == "dummy":
            return "dummy"
        from lm_eval.models.huggingface import HFLM

        return HFLM(pretrained=run["model"], dtype="float32", device="cpu", batch_size=8)

    # Of nothing but the exported folder: lm-eval's own tasks take seconds to find.
    tasks = TaskManager(include_path=str(folder / "lm-eval"), include_defaults=False)
    results = []
    for run in runs:
        done = lm_eval.simple_evaluate(
            model=model(run),
            tasks=[run["group"]],
            task_manager=tasks,
            samples=run.get("samples"),
            limit=run.get("limit"),
            apply_chat_template=run["chat"],
            bootstrap_iters=0,
            log_samples=True,
        )
        results.append(
            {
                "accuracy": {name: row["acc,none"] for name, row in done["results"].items()},
                "n": {name: row["original"] for name, row in done["n-samples"].items()},
                "version": sorted(set(map(str, done["versions"].values()))),
                "items": [
                    {
                        "item_id": sample["doc"]["item_id"],
                        "task": task,
                        "accuracy": sample["acc"],
                        "letters": sample["doc"]["letters"],
                        "logprobs": [float(reply[0][0]) for reply in sample["resps"]],
                    }
                    for task, samples in sorted(done["samples"].items())
                    for sample in samples
                ],
            }
        )
    return results


def run_inspect(folder: Path, runs: list[dict]) -> list[dict]:
    """Status, metrics and number of samples of each run, and the letters read in its replies."""
    import importlib.util
    import os

    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    # inspect_ai looks for task files below the working folder only.
    os.chdir(folder)
    file = "inspect-ai/ehrbench_task.py"
    spec = importlib.util.spec_from_file_location("exported_task", folder / file)
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    results = []
    for run in runs:

        def reply(messages, *_, answers=run["answers"]):
            output = ModelOutput.from_content("mockllm", answers[messages[-1].text])
            # Else mockllm downloads a tokenizer to count with.
            output.usage = ModelUsage()
            return output

        (log,) = evaluate(
            file,
            model=get_model("mockllm/model", custom_outputs=reply),
            task_args={"only": run["only"]},
            sample_id=run["ids"],
            log_dir=os.environ["INSPECT_LOG_DIR"],
            log_samples=False,
            log_realtime=False,
            display="none",
        )
        metrics = log.results.scores[0].metrics if log.results else {}
        results.append(
            {
                "status": log.status,
                "error": log.error and log.error.message,
                "n": log.results.completed_samples if log.results else 0,
                "version": log.eval.task_version,
                "letters": [task.read_letter(text, n) for text, n in run["replies"]],
                "metrics": {name: metric.value for name, metric in metrics.items()},
            }
        )
    return results


if __name__ == "__main__":
    harness, exported, given, result = sys.argv[1], *map(Path, sys.argv[2:])
    found = {"lm-eval": run_lm_eval, "inspect-ai": run_inspect}[harness](
        exported.resolve(), json.loads(given.read_text(encoding="utf-8"))
    )
    result.write_text(json.dumps(found), encoding="utf-8")
