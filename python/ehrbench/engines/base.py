"""What every engine takes and gives."""

from __future__ import annotations

import json
import math
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from ehrbench.errors import EhrbenchError

# free_choice is choice on a conversation that holds the model's own free reply.
MODES = ("json", "choice", "logprobs", "free", "free_choice", "cloze")
CONSTRAINED = ("choice", "free_choice")
LETTERED = (*CONSTRAINED, "logprobs")
# Tokens to generate when the sampling text does not say. A constrained letter needs a second
# token for the end; the log-probabilities of letters and options come from the prefill alone, but
# an engine generates one token at least.
FIXED_MAX_TOKENS = {"choice": 2, "free_choice": 2, "logprobs": 1, "cloze": 1}
DEFAULT_MAX_TOKENS = 1024
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

    `messages` are chat messages (role, content); `json_schema` belongs to mode json, `n_options`
    (how many letters from A) to the modes of one letter and `options` (the texts to score, A
    first) to mode cloze.
    """

    request_key: str
    stage: str
    mode: str
    messages: list[dict]
    json_schema: dict | None = None
    n_options: int | None = None
    options: tuple[str, ...] = ()
    sampling: dict = field(default_factory=dict)
    repetition: int = 1
    attempt: int = 1

    @property
    def letters(self) -> list[str]:
        """The option letters, A first."""
        return list(string.ascii_uppercase[: len(self.options) or self.n_options or 0])

    @property
    def max_tokens(self) -> int:
        """Tokens to generate at most."""
        if self.mode in FIXED_MAX_TOKENS:
            return FIXED_MAX_TOKENS[self.mode]
        asked = self.sampling.get("max_tokens", self.sampling.get("max_completion_tokens"))
        return int(asked) if asked else DEFAULT_MAX_TOKENS

    @property
    def seed(self) -> int:
        """Sampling seed; repetitions (from 1) of one request differ in nothing else."""
        return int(self.sampling.get("seed", 0)) + max(self.repetition - 1, 0)


@dataclass(frozen=True)
class Completion:
    """One answer, good or failed; `error` is null on a good one.

    `option_logprobs` maps letters to natural log-probabilities (mode cloze: the mean per token of
    the option's text); `latency_ms` is the wall time of the request, or of its batch where the
    engine only knows that; `busy_s`, which no store keeps, the seconds that it was worked on
    (latency without the wait for a turn; of a cloze the sum over its options), null when that is
    the latency. In mode cloze `prompt_tokens` counts the prompt once and `completion_tokens` the
    scored tokens of all options.
    """

    text: str | None
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    option_logprobs: dict[str, float] | None = None
    latency_ms: int | None = None
    error: str | None = None
    busy_s: float | None = field(default=None, compare=False)


class Engine(Protocol):
    """A way to complete requests.

    `stream` gives each request back with its completion, in the order in which they are done.
    What is one request's fault becomes a Completion with an error; EngineUnavailable means that
    the engine is gone, and what it had not given back was not answered. `window` is the number
    of requests that suits one call, `default_batch` the number that suits one shard. `details`
    says what it runs on, as far as it knows: versions, device, parameters, under the names of the
    columns of completions.RUN.
    """

    name: str
    version: str
    window: int
    default_batch: int
    details: dict[str, object]

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Completion]]: ...

    def close(self) -> None: ...


@runtime_checkable
class StoringEngine(Protocol):
    """An engine whose workers read the copied list and write the shards: no Engine.stream.

    `work_off(todo, folder, n, size)` gives each of the `n` requests of the list `todo` back with
    its completion, without texts, once it stands in a shard of `size` below `folder`. `nodes` are
    the addresses of the machines that see prompts, with blanks between.
    """

    nodes: str

    def work_off(
        self, todo: Path, folder: Path, n: int, size: int
    ) -> Iterator[tuple[Request, Completion]]: ...


def complete(engine: Engine, requests: Sequence[Request]) -> list[Completion]:
    """Completions in the order asked, once all are done."""
    done = {request.request_key: answer for request, answer in engine.stream(requests)}
    return [done[request.request_key] for request in requests]


def rows_of(
    spec: ModelSpec, engine: str, pairs: Sequence[tuple[Request, Completion]]
) -> list[dict]:
    """Completions as rows of the store."""
    return [
        {
            "request_key": request.request_key,
            "attempt": request.attempt,
            "stage": request.stage,
            "model": spec.model,
            "revision": spec.revision,
            "engine": engine,
            **completion.__dict__,
        }
        for request, completion in pairs
    ]


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


def shared_length(prompt: Sequence[int], whole: Sequence[int]) -> int:
    """How many tokens a prompt and the same prompt with a continuation have in common.

    What follows in `whole` is the continuation: where its text melts into the prompt's last
    token, that token is scored with it.
    """
    pairs = enumerate(zip(prompt, whole, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(prompt), len(whole)))


def cloze(
    request: Request,
    prompt_tokens: int,
    scores: dict[str, list[float]],
    latency_ms: int,
    busy_s: float | None = None,
) -> Completion:
    """The completion of mode cloze, from the log-probabilities of each option's own tokens."""
    unscored = [
        letter
        for letter in request.letters
        if not scores.get(letter) or not all(map(math.isfinite, scores[letter]))
    ]
    if unscored:
        return failed(
            f"bad_request: option {unscored[0]} has no text that could be scored",
            prompt_tokens=prompt_tokens,
        )
    means = {
        letter: round(math.fsum(scores[letter]) / len(scores[letter]), 6)
        for letter in request.letters
    }
    return Completion(
        text=min(means, key=lambda letter: (-means[letter], letter)),
        finish_reason="stop",
        prompt_tokens=prompt_tokens,
        completion_tokens=sum(map(len, scores.values())),
        option_logprobs=means,
        latency_ms=latency_ms,
        busy_s=busy_s,
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
    if mode in LETTERED and not 2 <= (row["n_options"] or 0) <= 26:
        raise EhrbenchError(f"request {key}: mode {mode} needs n_options from 2 to 26")
    options = loads("options", list) if mode == "cloze" else []
    texts = [text for text in options if isinstance(text, str) and text.strip()]
    if mode == "cloze" and not (2 <= len(options) <= 26 and len(texts) == len(options)):
        raise EhrbenchError(f"request {key}: mode cloze needs 2 to 26 options, each with a text")
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
        options=tuple(text.strip() for text in texts),
        sampling=sampling,
        repetition=row["repetition"] or 1,
        attempt=row["attempt"],
    )
