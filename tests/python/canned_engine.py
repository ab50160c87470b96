"""A test-only engine: answers by rule, slowly, and notes each request it was asked.

Run as a program it is `ehrbench` with that engine registered as `canned`:
    python canned_engine.py LOG DELAY_MS generate --engine canned ...
    python canned_engine.py LOG DELAY_MS generate --engine ray ...     in each worker of Ray
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from ehrbench import cli, engines
from ehrbench.errors import EngineUnavailable


class CannedEngine:
    """Answers `A`; prompts that say so fail, fail once, or take the whole engine down."""

    name = "canned"
    version = "0"
    window = 8
    default_batch = 4
    details = {"engine_version": "0", "device": "none", "parameters": {"rule": "A"}}

    def __init__(self, log: Path | None = None, delay_s: float = 0.0):
        self.log, self.delay_s = log, delay_s
        self.asked: list[tuple[str, int]] = []
        self.closed = False

    def stream(self, requests):
        for request in requests:
            time.sleep(self.delay_s)
            self.asked.append((request.request_key, request.attempt))
            if self.log:
                with self.log.open("a") as log:
                    log.write(f"{request.request_key} {request.attempt}\n")
            text = request.messages[0]["content"]
            if "kill the process" in text:
                os.kill(os.getpid(), signal.SIGKILL)
            if "engine down" in text:
                raise EngineUnavailable("the canned engine is down")
            yield request, self.answer(request, text)

    @staticmethod
    def answer(request, text):
        if "always fails" in text or ("fails once" in text and request.attempt == 1):
            return engines.failed("canned: asked to fail")
        return engines.Completion(
            text="A", finish_reason="stop", prompt_tokens=1, completion_tokens=1, latency_ms=1
        )

    def close(self):
        self.closed = True


def canned_worker(log: Path, delay_s: float) -> type:
    """A worker of Ray with that engine."""
    from ehrbench.engines import ray_data

    class CannedWorker(ray_data.Worker):
        def start(self):
            return CannedEngine(log, delay_s)

    return CannedWorker


if __name__ == "__main__":
    log, delay_ms, *arguments = sys.argv[1:]
    if "ray" in arguments:
        from ehrbench.engines import ray_data

        ray_data.Worker = canned_worker(Path(log), float(delay_ms) / 1000)
    engines.register(
        "canned", lambda spec, options: CannedEngine(Path(log), float(delay_ms) / 1000)
    )
    cli.main(arguments)
