"""What every engine takes and gives."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ehrbench.errors import EhrbenchError

MODES = ("json", "choice", "logprobs", "free")
# Tokens to generate when the sampling text does not say. A constrained letter needs a second
# token for the end, the log-probabilities of the letters come from the prefill alone.
DEFAULT_MAX_TOKENS = {"json": 1024, "free": 1024, "choice": 2, "logprobs": 1}
SAMPLING_KEYS = frozenset(
    {
        "frequency_penalty",
        "max_completion_tokens",
        "max_tokens",
        "min_p",
        "presence_penalty",
        "reasoning_effort",
        "repetition_penalty",
        "seed",
        "stop",
        "temperature",
        "top_k",
        "top_p",
    }
)


@dataclass(frozen=True)
class ModelSpec:
    """A row of the seed `models`, as far as engines need it.

    `weights` names the folder (or hub repository) of the weights; `max_model_len` is in tokens
    and counts prompt and completion; `chat_template` is `tokenizer` (its own) or `none`;
    `pooling` (mean or cls) counts for embedding models only.
    """

    model: str
    revision: str = ""
    engine: str = "vllm"
    weights: str = ""
    endpoint: str = ""
    chat_template: str = "tokenizer"
    thinking: bool = False
    max_model_len: int = 4096
    dtype: str = "auto"
    pooling: str = "mean"


@dataclass(frozen=True)
class Request:
    """One planned request: what int_requests_pending holds, parsed.

    `messages` are chat messages (role, content); `json_schema` belongs to mode json and
    `n_options` (how many letters from A) to modes choice and logprobs.
    """

    request_key: str
    stage: str
    mode: str
    messages: list[dict]
    json_schema: dict | None = None
    n_options: int | None = None
    sampling: dict = field(default_factory=dict)
    repetition: int = 1
    attempt: int = 1

    @property
    def letters(self) -> list[str]:
        """The option letters, A first."""
        return list(string.ascii_uppercase[: self.n_options or 0])

    @property
    def max_tokens(self) -> int:
        """Tokens to generate at most."""
        if self.mode in ("choice", "logprobs"):
            return DEFAULT_MAX_TOKENS[self.mode]
        asked = self.sampling.get("max_tokens", self.sampling.get("max_completion_tokens"))
        return int(asked) if asked else DEFAULT_MAX_TOKENS[self.mode]

    @property
    def seed(self) -> int:
        """Sampling seed; repetitions (from 1) of one request differ in nothing else."""
        return int(self.sampling.get("seed", 0)) + max(self.repetition - 1, 0)


@dataclass(frozen=True)
class Completion:
    """One answer, good or failed; `error` is null on a good one.

    `option_logprobs` maps letters to natural log-probabilities; `latency_ms` is the wall time of
    the request, or of its batch where the engine only knows that.
    """

    text: str | None
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    option_logprobs: dict[str, float] | None = None
    latency_ms: int | None = None
    error: str | None = None


class Engine(Protocol):
    """A way to complete requests.

    `stream` gives each request back with its completion, in the order in which they are done.
    What is one request's fault becomes a Completion with an error; EngineUnavailable means that
    the engine is gone, and what it had not given back was not answered. `window` is the number
    of requests that suits one call, `default_batch` the number that suits one shard.
    """

    name: str
    version: str
    window: int
    default_batch: int

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Completion]]: ...

    def close(self) -> None: ...


def complete(engine: Engine, requests: Sequence[Request]) -> list[Completion]:
    """Completions in the order asked, once all are done."""
    done = {request.request_key: answer for request, answer in engine.stream(requests)}
    return [done[request.request_key] for request in requests]


def failed(error: str, **fields: object) -> Completion:
    """A completion that records why there is none."""
    return Completion(text=None, finish_reason="error", error=error, **fields)


def too_long(prompt_tokens: int, new_tokens: int, max_model_len: int) -> Completion:
    """The failure of a prompt that does not fit: nothing is ever cut off silently."""
    return failed(
        f"too_long: {prompt_tokens} prompt tokens + {new_tokens} to generate"
        f" > max_model_len {max_model_len}",
        prompt_tokens=prompt_tokens,
    )


def parse_request(row: dict) -> Request:
    """A row of int_requests_pending (plus `attempt`) as a Request.

    Raises EhrbenchError, naming the request, for texts that are not the JSON they should be.
    """
    key = row["request_key"]

    def loads(column: str, kind: type) -> object:
        try:
            value = json.loads(row[column])
        except (TypeError, ValueError):
            value = None
        if not isinstance(value, kind):
            raise EhrbenchError(f"request {key}: column {column} is not a JSON {kind.__name__}")
        return value

    mode = row["mode"]
    if mode not in MODES:
        raise EhrbenchError(f"request {key}: unknown mode {mode!r}, known are {', '.join(MODES)}")
    if mode in ("choice", "logprobs") and not 2 <= (row["n_options"] or 0) <= 26:
        raise EhrbenchError(f"request {key}: mode {mode} needs n_options from 2 to 26")
    sampling = loads("sampling", dict) if row["sampling"] else {}
    unknown = sorted(set(sampling) - SAMPLING_KEYS)
    if unknown:
        raise EhrbenchError(
            f"request {key}: unknown sampling setting {unknown[0]!r} (seed models); "
            f"known are {', '.join(sorted(SAMPLING_KEYS))}"
        )
    return Request(
        request_key=key,
        stage=row["stage"],
        mode=mode,
        messages=loads("messages", list),
        json_schema=loads("json_schema", dict) if mode == "json" else None,
        n_options=row["n_options"],
        sampling=sampling,
        repetition=row["repetition"] or 1,
        attempt=row["attempt"],
    )
