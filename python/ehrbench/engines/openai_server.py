"""Engine `openai`: any server with the OpenAI chat API, vLLM's own or a provider's."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from urllib.parse import urlsplit

import requests

from ehrbench.engines.base import (
    CONSTRAINED,
    LETTERED,
    Completion,
    ModelSpec,
    Request,
    cloze,
    failed,
    shared_length,
    too_long,
)
from ehrbench.errors import EhrbenchError, EngineUnavailable, one_line

TRIES = 4
TOP_LOGPROBS = 20
# Words with which servers say that a prompt does not fit; they have no common error code.
TOO_LONG_WORDS = ("maximum context length", "context_length", "max_model_len", "too long")


def is_loopback(endpoint: str) -> bool:
    """Whether an endpoint's host is this machine: localhost, 127.0.0.0/8 or ::1, by its text."""
    host = (urlsplit(endpoint).hostname or "").lower()
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Busy(Exception):
    """The server did not take the request: not this request's fault."""


class OpenAIEngine:
    """Completes requests over HTTP, `concurrency` at a time.

    The key comes from EHRBENCH_API_KEY or OPENAI_API_KEY. Proxies of the environment are not
    used for loopback, and redirects are never followed: a prompt goes where the endpoint says.
    """

    name = "openai"
    window = 256
    default_batch = 32

    def __init__(
        self,
        spec: ModelSpec,
        endpoint: str = "",
        concurrency: int = 8,
        timeout_s: float = 600.0,
        backoff_s: float = 1.0,
        **_: object,
    ):
        base = (endpoint or spec.endpoint).rstrip("/")
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EhrbenchError(
                f"model {spec.model}: endpoint {base!r} is no http(s) address; "
                "give --endpoint http://127.0.0.1:8000/v1 or fill it in the seed models"
            )
        self.spec = spec
        self.base = base if base.endswith("/v1") else f"{base}/v1"
        self.timeout_s, self.backoff_s = timeout_s, backoff_s
        self.concurrency = max(1, concurrency)
        self._local = threading.local()
        self._letter_ids: dict[str, int | None] = {}
        self._pool = ThreadPoolExecutor(self.concurrency)
        entry = self._find_model()
        self.model_id = entry["id"]
        self.is_vllm = entry.get("owned_by") == "vllm"
        served = entry.get("max_model_len") or spec.max_model_len
        self.max_model_len = int(served)
        self.version = self._version() if self.is_vllm else ""
        where = "this machine" if is_loopback(self.base) else "another machine"
        self.details = {
            "engine_version": self.version,
            "vllm_version": self.version or None,
            "device": f"server on {where}",
            "parameters": {
                "concurrency": self.concurrency,
                "timeout_s": timeout_s,
                "max_model_len": self.max_model_len,
            },
        }

    # ------------------------------------------------------------------------------ HTTP

    def _session(self) -> requests.Session:
        session = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
            session.trust_env = not is_loopback(self.base)
            key = os.environ.get("EHRBENCH_API_KEY") or os.environ.get("OPENAI_API_KEY")
            if key:
                session.headers["Authorization"] = f"Bearer {key}"
        return session

    def _call(self, method: str, url: str, body: dict | None = None) -> requests.Response:
        """One exchange with retries; raises _Busy, EngineUnavailable or requests.Timeout."""
        reason, wait_s = "", self.backoff_s
        for turn in range(TRIES):
            if turn:
                time.sleep(min(wait_s, 60.0))
                wait_s *= 3
            try:
                reply = self._session().request(
                    method, url, json=body, timeout=self.timeout_s, allow_redirects=False
                )
            except requests.Timeout:
                raise
            except requests.RequestException as error:
                reason = f"cannot be reached ({type(error).__name__})"
                continue
            if reply.status_code in (401, 403):
                raise EngineUnavailable(
                    f"server {self.base} refuses the key (HTTP {reply.status_code}): "
                    "set EHRBENCH_API_KEY"
                )
            if 300 <= reply.status_code < 400 or reply.status_code in (404, 405):
                raise EngineUnavailable(
                    f"server {self.base} has no OpenAI API there "
                    f"(HTTP {reply.status_code}): check --endpoint"
                )
            if reply.status_code in (429, 503):
                reason = f"is too busy (HTTP {reply.status_code})"
                wait_s = max(wait_s, _seconds(reply.headers.get("Retry-After")))
                continue
            return reply
        raise _Busy(f"server {self.base} {reason}; start it, or try again later")

    def _find_model(self) -> dict:
        try:
            reply = self._call("GET", f"{self.base}/models")
            entries = reply.json()["data"]
        except (_Busy, requests.Timeout) as error:
            raise EngineUnavailable(one_line(error)) from error
        except (ValueError, KeyError, TypeError) as error:
            raise EngineUnavailable(
                f"server {self.base} lists no models: check --endpoint"
            ) from error
        wanted = {self.spec.model, self.spec.weights} - {""}
        wanted |= {name.rsplit("/", 1)[-1] for name in wanted}
        for entry in entries:
            served = str(entry.get("id", ""))
            if served in wanted or served.rstrip("/").rsplit("/", 1)[-1] in wanted:
                return entry
        found = ", ".join(str(entry.get("id")) for entry in entries[:5]) or "nothing"
        raise EngineUnavailable(
            f"server {self.base} serves {found}, not {self.spec.model}: "
            f"start it with --served-model-name {self.spec.model}"
        )

    def _version(self) -> str:
        try:
            reply = self._call("GET", self.base.removesuffix("/v1") + "/version")
            return str(reply.json().get("version", ""))
        except (EngineUnavailable, _Busy, requests.RequestException, ValueError):
            return ""

    # --------------------------------------------------------------------------- requests

    def stream(self, requests_: Sequence[Request]) -> Iterator[tuple[Request, Completion]]:
        """Complete requests, several at a time; see Engine."""
        futures = {self._pool.submit(self._complete_one, request): request for request in requests_}
        problem = None
        try:
            for future in as_completed(futures):
                if future.cancelled():
                    continue
                try:
                    completion = future.result()
                except (_Busy, EngineUnavailable) as error:
                    # What the others still give is kept; what has not begun is not asked.
                    problem = problem or error
                    for other in futures:
                        other.cancel()
                    continue
                yield futures[future], completion
        finally:
            for future in futures:
                future.cancel()
        if problem is not None:
            raise EngineUnavailable(str(problem)) from problem

    def _complete_one(self, request: Request) -> Completion:
        try:
            if request.mode == "cloze":
                return self._cloze(request)
            return self._chat(request)
        except requests.Timeout:
            return failed(f"timeout: no answer within {self.timeout_s:g} s")

    def _chat(self, request: Request) -> Completion:
        """One answer of the chat API."""
        started = time.monotonic()
        reply = self._call("POST", f"{self.base}/chat/completions", self.body(request))
        elapsed = round((time.monotonic() - started) * 1000)
        if reply.status_code != 200:
            return self._refused(request, reply)
        try:
            payload = reply.json()
            choice = payload["choices"][0]
            text = choice["message"].get("content") or ""
            usage = payload.get("usage") or {}
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            return failed("bad_response: the answer is not a chat completion")
        reason = choice.get("finish_reason") or "stop"
        fields = {
            "prompt_tokens": usage.get("prompt_tokens"),
            "completion_tokens": usage.get("completion_tokens"),
            "latency_ms": elapsed,
        }
        if reason not in ("stop", "length"):
            return failed(f"{reason}: the server ended the answer", **fields)
        if request.mode in LETTERED:
            return self._letter(request, choice, text, reason, fields)
        return Completion(text=text, finish_reason=reason, **fields)

    def _letter(
        self, request: Request, choice: dict, text: str, reason: str, fields: dict
    ) -> Completion:
        """The completion of a one-letter mode, with the letters' log-probabilities."""
        logprobs = _letter_logprobs(choice, request.letters)
        if request.mode == "logprobs":
            best = min(logprobs, key=lambda letter: (-logprobs[letter], letter), default="")
            return Completion(
                text=best or text, finish_reason="stop", option_logprobs=logprobs, **fields
            )
        if not self.is_vllm:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                text = json.loads(text)["answer"]
        letter = text.strip() if isinstance(text, str) else ""
        if letter not in request.letters:
            # A server that does not know the constraint answers freely and says nothing.
            return failed("constraint_ignored: the server did not keep to the letters", **fields)
        return Completion(
            text=letter, finish_reason="stop", option_logprobs=logprobs or None, **fields
        )

    def _cloze(self, request: Request) -> Completion:
        """Scores of the options as continuations, by the log-probabilities of prompt tokens."""
        if not self.is_vllm:
            return failed("bad_request: mode cloze needs a server of vLLM (prompt_logprobs)")
        started = time.monotonic()
        is_base = self.spec.chat_template == "none"
        text, chat = "\n\n".join(message["content"] for message in request.messages), None
        if not is_base:
            chat = self._tokens(messages=request.messages, **self._template())
            text = self._text(chat)
        # As in the offline engine: the template has put in the special tokens itself.
        prompt = self._tokens(prompt=text, add_special_tokens=is_base)
        if chat not in (None, prompt):
            return failed("bad_request: the tokens of the chat prompt do not give its text back")
        whole = {
            letter: self._tokens(
                prompt=f"{text}{' ' if is_base else ''}{option}", add_special_tokens=is_base
            )
            for letter, option in zip(request.letters, request.options, strict=True)
        }
        if not prompt or not all(whole.values()):
            return failed("bad_request: the server does not tell the tokens of a prompt")
        longest = max(map(len, whole.values()))
        if longest + request.max_tokens > self.max_model_len:
            return too_long(longest, request.max_tokens, self.max_model_len)
        reply = self._call(
            "POST",
            f"{self.base}/completions",
            {
                "model": self.model_id,
                "prompt": list(whole.values()),
                "max_tokens": request.max_tokens,
                "temperature": 0,
                "prompt_logprobs": 0,
            },
        )
        if reply.status_code != 200:
            return self._refused(request, reply)
        elapsed = round((time.monotonic() - started) * 1000)
        try:
            choices = sorted(reply.json()["choices"], key=lambda choice: choice["index"])
            scores = {
                letter: _scores(prompt, tokens, choice["prompt_logprobs"])
                for (letter, tokens), choice in zip(whole.items(), choices, strict=True)
            }
        except (ValueError, KeyError, TypeError, AttributeError):
            return failed(
                "bad_request: the server gives no prompt_logprobs", prompt_tokens=len(prompt)
            )
        return cloze(request, len(prompt), scores, elapsed)

    def _tokens(self, **asked: object) -> list[int]:
        """Token ids of a text or a conversation on a vLLM server; empty when it does not say."""
        url = self.base.removesuffix("/v1") + "/tokenize"
        try:
            reply = self._call("POST", url, {"model": self.model_id, **asked})
            return reply.json().get("tokens") or []
        except (EngineUnavailable, ValueError, AttributeError):
            return []

    def _text(self, tokens: list[int]) -> str:
        """Text of token ids, special ones included; empty when the server does not say."""
        url = self.base.removesuffix("/v1") + "/detokenize"
        try:
            reply = self._call("POST", url, {"model": self.model_id, "tokens": tokens})
            return reply.json().get("prompt") or ""
        except (EngineUnavailable, ValueError, AttributeError):
            return ""

    def _template(self) -> dict:
        """What the chat template is given on a vLLM server."""
        return {"chat_template_kwargs": {"enable_thinking": self.spec.thinking}}

    def _refused(self, request: Request, reply: requests.Response) -> Completion:
        text = reply.text.lower()
        if reply.status_code in (400, 413, 422) and any(word in text for word in TOO_LONG_WORDS):
            prompt = []
            if self.is_vllm:
                with contextlib.suppress(_Busy, requests.Timeout):
                    prompt = self._tokens(messages=request.messages, **self._template())
            return failed(
                f"too_long: the server refuses prompt + {request.max_tokens} tokens to generate"
                f" (max_model_len {self.max_model_len})",
                prompt_tokens=len(prompt) or None,
            )
        # The server's message may repeat the prompt: keep its code and type only.
        try:
            error = reply.json().get("error") or {}
            kind = f"{error.get('type') or ''} {error.get('code') or ''}".strip()
        except (ValueError, AttributeError):
            kind = ""
        return failed(f"http_{reply.status_code}: {kind or 'refused'}"[:120])

    def body(self, request: Request) -> dict:
        """The JSON body of a request."""
        sampling = {key: value for key, value in request.sampling.items() if key != "seed"}
        limit = "max_completion_tokens" if "max_completion_tokens" in sampling else "max_tokens"
        body = {
            "temperature": 0,
            **sampling,
            "model": self.model_id,
            "messages": request.messages,
            "seed": request.seed,
            limit: request.max_tokens,
        }
        if self.is_vllm:
            body.update(self._template())
        if request.mode == "json":
            body["response_format"] = _schema_format("extraction", request.json_schema)
        if request.mode in CONSTRAINED:
            if self.is_vllm:
                body["structured_outputs"] = {"choice": request.letters}
            else:
                body["response_format"] = _schema_format("answer", _letter_schema(request))
                # The letter arrives inside a small JSON object.
                body[limit] = 16
        if request.mode == "logprobs" or (request.mode in CONSTRAINED and self.is_vllm):
            body.update(logprobs=True, top_logprobs=TOP_LOGPROBS)
            ids = [self._letter_id(letter) for letter in request.letters] if self.is_vllm else []
            if ids and None not in ids:
                # Exactly the letters, however unlikely; others list their likeliest tokens.
                body["logprob_token_ids"] = ids
        return body

    def _letter_id(self, letter: str) -> int | None:
        """Token id of a letter on a vLLM server; None when it is no single token."""
        if letter not in self._letter_ids:
            try:
                tokens = self._tokens(prompt=letter, add_special_tokens=False)
            except requests.Timeout:
                tokens = []
            self._letter_ids[letter] = tokens[0] if len(tokens) == 1 else None
        return self._letter_ids[letter]

    def close(self) -> None:
        """Let the worker threads end."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _seconds(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def _schema_format(name: str, schema: dict | None) -> dict:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


def _letter_schema(request: Request) -> dict:
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": request.letters}},
        "required": ["answer"],
        "additionalProperties": False,
    }


def _letter_logprobs(choice: dict, letters: list[str]) -> dict[str, float]:
    """Log-probabilities of the letters among the first token's alternatives.

    A letter that the server does not list is missing, not zero.
    """
    try:
        first = choice["logprobs"]["content"][0]
        listed = [first, *(first.get("top_logprobs") or [])]
    except (KeyError, IndexError, TypeError):
        return {}
    found: dict[str, float] = {}
    for entry in listed:
        token = entry.get("token")
        if token in letters and isinstance(entry.get("logprob"), int | float):
            value = round(float(entry["logprob"]), 6)
            found[token] = max(value, found.get(token, value))
    return dict(sorted(found.items()))


def _scores(prompt: list[int], tokens: list[int], given: list[dict | None]) -> list[float]:
    """Log-probabilities of the tokens behind the prompt; `given` has one entry per token."""
    pairs = list(zip(tokens, given, strict=True))[shared_length(prompt, tokens) :]
    return [float(entry[str(token)]["logprob"]) for token, entry in pairs if entry]
