"""Engine `openai`: servers with the OpenAI chat API, vLLM's own or a provider's."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import requests
import urllib3

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
from ehrbench.errors import EhrbenchError, EngineUnavailable
from ehrbench.progress import say
from ehrbench.text import visible

# Tries of one exchange: while connections break or the server fails, and while it asks to wait.
TRIES, BUSY_TRIES = 4, 8
# Waits between tries grow threefold up to the first; no try begins later than the second after
# the first try. A server that asks to wait longer is not waited for.
LONGEST_WAIT_S, PATIENCE_S = 60.0, 300.0
CONNECT_S = 10.0
# Requests in a row that end in a fault of the server: then it is gone, whatever it says.
FAULTS_IN_A_ROW = 20
LARGEST_REPLY = 64 * 2**20
# A server that went away while there are others is asked again after so many times `backoff_s`,
# then three times as long, and so on; after so many losses in a row no more.
REST, LOSSES = 30, 5
# Servers that may die while they have a request; from the first on they have nothing else then.
DEATHS = 2
# Seconds in which a server lists its models when it is there.
PROBE_S = 30.0
BUSY_CODES = (429, 503, 529)
RETRIED_CODES = (408, 425, 500, 502, 504, 520, 521, 522, 523, 524)
# What reading a reply of the wrong shape raises.
MALFORMED = (
    *(ValueError, KeyError, IndexError, TypeError, AttributeError),
    *(OverflowError, RecursionError),
)
# A code or type that a server gives may stand in an error; anything longer may be a prompt.
CODE = re.compile(r"[A-Za-z0-9_.-]{1,40}")
TOP_LOGPROBS = 20
# Failures that may be the server's fault: where there is another one, it is asked as well.
SUSPECT = {"timeout", "dropped", "bad_response", *(f"http_{code}" for code in RETRIED_CODES)}
# Words with which servers say that a prompt does not fit; they have no common error code.
TOO_LONG_WORDS = ("maximum context length", "context_length", "max_model_len", "too long")


def host_of(endpoint: str) -> str:
    """Host of an address, in lower case; empty where it has none, or where it is read in two ways.

    In `http://a\\@b` the standard library sees the host b, and requests connects to a.
    """
    try:
        host = urlsplit(endpoint).hostname or ""
        connected = urllib3.util.parse_url(endpoint).host or ""
    except ValueError:
        return ""
    return host if host == connected.strip("[]").lower() else ""


def is_loopback(endpoint: str) -> bool:
    """Whether an endpoint's host is this machine: localhost, 127.0.0.0/8 or ::1, by its text."""
    host = host_of(endpoint)
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def addresses(endpoint: str) -> list[str]:
    """Addresses of an endpoint, which are one or several with blanks between; '' if it is empty."""
    return endpoint.split() or [""]


class _Busy(Exception):
    """The server did not take the request: not this request's fault.

    `wait_s` are the seconds that it asks to wait; `had_it`: it is gone and had the request before.
    """

    wait_s, had_it = 0.0, False


class _Dropped(Exception):
    """No try gave a whole reply, yet the server answers others: this request's fault."""


@dataclass(frozen=True)
class _Reply:
    """A whole reply of a server."""

    status_code: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> object:
        """The body as JSON; one of MALFORMED when it is none."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The body as text, whatever its bytes."""
        return self.body.decode("utf-8", "replace")


class _Server:
    """One server: how to ask it, and how it fares; OpenAIEngine says how long it is waited for.

    `elsewhere` tells whether another server is there to ask. `is_away`, `back_at` (the time from
    which it may be asked again), `losses` and `n_open` (places that are taken) are the engine's.
    """

    def __init__(
        self,
        spec: ModelSpec,
        base: str,
        timeout_s: float,
        backoff_s: float,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
        elsewhere: Callable[[_Server], bool],
    ):
        if not base.lower().startswith(("http://", "https://")) or not host_of(base):
            raise EhrbenchError(
                f"model {spec.model}: endpoint {base!r} is no http(s) address; "
                "give --endpoint http://127.0.0.1:8000/v1 or fill it in the seed models"
            )
        self.spec = spec
        self.base = f"{base}/v1"
        self.timeout_s, self.backoff_s = timeout_s, backoff_s
        self._sleep, self._clock, self._elsewhere = sleep, clock, elsewhere
        self._faults, self._guard = 0, threading.Lock()
        self._local = threading.local()
        self._letter_ids: dict[str, int | None] = {}
        self.model_id, self.is_vllm, self.version = "", False, ""
        # Its own limit once it has said it, and the least of all servers, which counts.
        self.own_max_model_len = self.max_model_len = spec.max_model_len
        self.is_away, self.back_at, self.losses, self.n_open = False, 0.0, 0, 0

    def look(self) -> None:
        """See that it serves the model; raises _Busy or EngineUnavailable."""
        entry = self._find_model()
        self.model_id = entry["id"]
        self.is_vllm = entry.get("owned_by") == "vllm"
        self.own_max_model_len = _count(entry.get("max_model_len")) or self.spec.max_model_len
        self.version = self._version() if self.is_vllm else ""

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

    def _exchange(self, method: str, url: str, body: dict | None) -> _Reply:
        """One try, read to the end; raises requests.RequestException (Timeout when too slow)."""
        timeout_s = self.timeout_s if body else min(PROBE_S, self.timeout_s)
        ends, parts, size = self._clock() + timeout_s, [], 0
        limits = (min(CONNECT_S, timeout_s), timeout_s)
        try:
            with self._session().request(
                method, url, json=body, timeout=limits, allow_redirects=False, stream=True
            ) as reply:
                while part := reply.raw.read1(65536, decode_content=True):
                    parts.append(part)
                    size += len(part)
                    if self._clock() > ends:
                        raise requests.Timeout
                    if size > LARGEST_REPLY:
                        raise requests.exceptions.ContentDecodingError
                if reply.status_code == 200 and not parts:
                    # So end heads that are cut off before they say the length.
                    raise requests.ConnectionError
                return _Reply(reply.status_code, reply.headers, b"".join(parts))
        except (urllib3.exceptions.HTTPError, OSError) as error:
            # What may still come in on this connection is no reply to the next request.
            self._session().close()
            if isinstance(error, requests.RequestException):
                raise
            if isinstance(error, urllib3.exceptions.TimeoutError):
                raise requests.Timeout from error
            raise requests.ConnectionError(type(error).__name__) from error

    def _call(self, method: str, url: str, body: dict | None = None) -> _Reply:
        """One exchange with retries.

        Raises _Busy, _Dropped, EngineUnavailable or requests.Timeout. A reply with a code of
        RETRIED_CODES is given back when it still comes after all tries. A server that is busy or
        not there is not waited for while another one is.
        """
        started, wait_s, faults, busy = self._clock(), self.backoff_s, 0, 0
        had_it = False
        while True:
            reply, asked_s, is_last = None, 0.0, False
            try:
                reply = self._exchange(method, url, body)
            except requests.RequestException as error:
                is_slow = isinstance(error, requests.Timeout)
                if is_slow and not isinstance(error, requests.ConnectionError):
                    self._count_fault("gives no answer in time")
                    raise
                reason = f"cannot be reached ({type(error).__name__})"
                faults += 1
                had_it = had_it or _was_sent(error)
                is_last = self._elsewhere(self) and not self._is_there()
            else:
                self._check_access(reply)
                if reply.status_code in BUSY_CODES:
                    reason = f"is too busy (HTTP {reply.status_code})"
                    asked_s = _retry_after(reply.headers)
                    busy += 1
                    is_last = self._elsewhere(self)
                elif reply.status_code in RETRIED_CODES:
                    reason = f"fails (HTTP {reply.status_code})"
                    faults += 1
                    had_it = True
                else:
                    self._faults = 0
                    return reply
            wait_now_s = max(min(wait_s, LONGEST_WAIT_S), asked_s)
            is_last = is_last or faults >= TRIES or busy >= BUSY_TRIES
            if is_last or self._clock() - started + wait_now_s > PATIENCE_S:
                break
            self._sleep(wait_now_s)
            wait_s *= 3
        if asked_s > PATIENCE_S:
            reason += f" and asks to wait {asked_s:.0f} s"
        if reply is not None and reply.status_code in RETRIED_CODES:
            self._count_fault(reason)
            return reply
        if reply is None and method == "POST" and self._is_there():
            self._count_fault(reason)
            raise _Dropped
        gone = _Busy(f"server {self.base} {reason}; start it, or try again later")
        gone.wait_s, gone.had_it = asked_s, had_it and reply is None and method == "POST"
        raise gone

    def _check_access(self, reply: _Reply) -> None:
        """Raise EngineUnavailable for what no other request would be spared either."""
        code = reply.status_code
        if code in (401, 403):
            raise EngineUnavailable(
                f"server {self.base} refuses the key (HTTP {code}): set EHRBENCH_API_KEY"
            )
        if 300 <= code < 400 or code in (404, 405):
            raise EngineUnavailable(
                f"server {self.base} has no OpenAI API there, or no longer the model "
                f"(HTTP {code}): check --endpoint and what is served"
            )

    def _is_there(self) -> bool:
        """Whether the server still lists its models, asked twice at most."""
        for _ in range(2):
            with contextlib.suppress(requests.RequestException):
                return self._exchange("GET", f"{self.base}/models", None).status_code == 200
        return False

    def _count_fault(self, reason: str) -> None:
        """Count one more request without an answer; _Busy when there are too many in a row."""
        with self._guard:
            self._faults += 1
            too_many = self._faults >= FAULTS_IN_A_ROW
        if too_many:
            raise _Busy(
                f"server {self.base} {reason}, {FAULTS_IN_A_ROW} requests in a row; start it, or "
                "try again later"
            )

    def _find_model(self) -> dict:
        try:
            listed = self._call("GET", f"{self.base}/models").json()["data"]
            entries = [entry for entry in listed if isinstance(entry.get("id"), str)]
        except requests.Timeout as error:
            raise _Busy(
                f"server {self.base} gives no answer in time; start it, or "
                "try again later"
            ) from error
        except MALFORMED as error:
            raise EngineUnavailable(
                f"server {self.base} lists no models: check --endpoint"
            ) from error
        wanted = {self.spec.model, self.spec.weights} - {""}
        wanted |= {name.rsplit("/", 1)[-1] for name in wanted}
        for entry in entries:
            served = entry["id"]
            if served in wanted or served.rstrip("/").rsplit("/", 1)[-1] in wanted:
                return entry
        found = ", ".join(visible(entry["id"])[:60] for entry in entries[:5]) or "nothing"
        raise EngineUnavailable(
            f"server {self.base} serves {found}, not {self.spec.model}: "
            f"start it with --served-model-name {self.spec.model}"
        )

    def _version(self) -> str:
        try:
            reply = self._call("GET", self.base.removesuffix("/v1") + "/version")
            return visible(str(reply.json().get("version", "")))[:60]
        except (EngineUnavailable, _Busy, requests.RequestException, *MALFORMED):
            return ""

    # --------------------------------------------------------------------------- requests

    def complete(self, request: Request) -> Completion:
        """The answer to one request; raises _Busy or EngineUnavailable when the server is gone."""
        try:
            if request.mode == "cloze":
                return self._cloze(request)
            return self._chat(request)
        except requests.Timeout:
            return failed(f"timeout: no answer within {self.timeout_s:g} s")
        except _Dropped:
            return failed("dropped: no try gave a whole reply, though the server is there")
        except MALFORMED:
            return failed("bad_response: the answer is not what this API gives")

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
            text = choice["message"].get("content")
            usage = payload.get("usage") or {}
            fields = {
                "prompt_tokens": _count(usage.get("prompt_tokens")),
                "completion_tokens": _count(usage.get("completion_tokens")),
                "latency_ms": elapsed,
            }
        except MALFORMED:
            return failed("bad_response: the answer is not a chat completion")
        n_tokens = (fields["prompt_tokens"] or 0) + request.max_tokens
        if self.max_model_len < min(n_tokens, self.own_max_model_len):
            # Another server would have refused it; an answer does not hang on who was asked.
            return too_long(fields["prompt_tokens"], request.max_tokens, self.max_model_len)
        reason = choice.get("finish_reason") or "stop"
        if reason not in ("stop", "length"):
            why = _code(reason) or "bad_response"
            return failed(f"{why}: the server ended the answer", **fields)
        if text is None and fields["completion_tokens"]:
            # The model spent its tokens on what the server keeps apart, as a chain of thought.
            text = ""
        if not isinstance(text, str):
            return failed("bad_response: the answer has no text", **fields)
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
            with contextlib.suppress(*MALFORMED):
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
        except MALFORMED:
            return failed(
                "bad_request: the server gives no prompt_logprobs", prompt_tokens=len(prompt)
            )
        return cloze(request, len(prompt), scores, elapsed)

    def _tokens(self, **asked: object) -> list[int]:
        """Token ids of a text or a conversation on a vLLM server; empty when it does not say."""
        url = self.base.removesuffix("/v1") + "/tokenize"
        try:
            reply = self._call("POST", url, {"model": self.model_id, **asked})
            tokens = reply.json().get("tokens")
        except (EngineUnavailable, *MALFORMED):
            return []
        is_list = isinstance(tokens, list) and all(type(token) is int for token in tokens)
        return tokens if is_list else []

    def _text(self, tokens: list[int]) -> str:
        """Text of token ids, special ones included; empty when the server does not say."""
        url = self.base.removesuffix("/v1") + "/detokenize"
        try:
            reply = self._call("POST", url, {"model": self.model_id, "tokens": tokens})
            text = reply.json().get("prompt")
        except (EngineUnavailable, *MALFORMED):
            return ""
        return text if isinstance(text, str) else ""

    def _template(self) -> dict:
        """What the chat template is given on a vLLM server."""
        return {"chat_template_kwargs": {"enable_thinking": self.spec.thinking}}

    def _refused(self, request: Request, reply: _Reply) -> Completion:
        text = reply.text.lower()
        if reply.status_code in (400, 413, 422) and any(word in text for word in TOO_LONG_WORDS):
            prompt = []
            if self.is_vllm:
                with contextlib.suppress(_Busy, _Dropped, requests.Timeout):
                    prompt = self._tokens(messages=request.messages, **self._template())
            return failed(
                f"too_long: the server refuses prompt + {request.max_tokens} tokens to generate"
                f" (max_model_len {self.max_model_len})",
                prompt_tokens=len(prompt) or None,
            )
        # The server's message may repeat the prompt: keep its code and type only.
        try:
            error = reply.json().get("error") or {}
            kind = f"{_code(error.get('type'))} {_code(error.get('code'))}".strip()
        except MALFORMED:
            kind = ""
        return failed(f"http_{reply.status_code}: {kind or 'refused'}")

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
            except (_Dropped, requests.Timeout):
                tokens = []
            self._letter_ids[letter] = tokens[0] if len(tokens) == 1 else None
        return self._letter_ids[letter]


class OpenAIEngine:
    """Completes requests over HTTP on one server or several, `concurrency` at a time on each.

    `endpoint` is an address, or several with blanks between. A request goes to the server that
    has the fewest. What a server cannot take goes to another one, and a failure that may be the
    server's fault is asked of one more; the engine is gone when all servers are. What a server had
    when it died is asked of a server that has nothing else, so when others are done; a request
    that DEATHS servers died with fails.

    A try ends after `timeout_s`, however slowly the reply comes in. A busy, broken or unreachable
    server is asked again after `backoff_s`, then three times as long, and so on; see TRIES,
    PATIENCE_S and REST for the bounds. `sleep` and `clock` (seconds) are for tests.

    The key comes from EHRBENCH_API_KEY or OPENAI_API_KEY. Proxies of the environment are not
    used for loopback, and redirects are never followed: a prompt goes where the endpoint says.
    """

    name = "openai"

    def __init__(
        self,
        spec: ModelSpec,
        endpoint: str = "",
        concurrency: int = 8,
        timeout_s: float = 600.0,
        backoff_s: float = 1.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        **_: object,
    ):
        settings = (timeout_s, backoff_s, sleep, clock, self._is_elsewhere)
        self.servers = [
            _Server(spec, base, *settings)
            for base in dict.fromkeys(
                address.rstrip("/").removesuffix("/v1")
                for address in addresses(endpoint or spec.endpoint)
            )
        ]
        self.concurrency, self.timeout_s = max(1, concurrency), timeout_s
        self.window, self.default_batch = 256 * len(self.servers), 32
        self._backoff_s, self._clock = backoff_s, clock
        self._turn = threading.Condition()
        self._gone: str | None = None
        problem = None
        for server in self.servers:
            try:
                server.look()
            except _Busy as error:
                problem = error
                self._lose(server, error, is_probe=False)
        if all(server.is_away for server in self.servers):
            raise EngineUnavailable(str(problem)) from problem
        self._level()
        self._pool = ThreadPoolExecutor(self.concurrency * len(self.servers))

    @property
    def version(self) -> str:
        """Version of vLLM on the servers; several when they differ, empty without any."""
        return ", ".join(sorted({server.version for server in self.servers} - {""}))

    @property
    def details(self) -> dict[str, object]:
        """What the servers run on, none by its name."""
        n, here = len(self.servers), sum(is_loopback(server.base) for server in self.servers)
        where = {n: "this machine", 0: "another machine" if n == 1 else "other machines"}
        servers = "server" if n == 1 else f"{n} servers"
        return {
            "engine_version": self.version,
            "vllm_version": self.version or None,
            "device": f"{servers} on {where.get(here, 'this machine and others')}",
            "parameters": {
                "concurrency": self.concurrency,
                "timeout_s": self.timeout_s,
                "max_model_len": self.servers[0].max_model_len,
            },
        }

    def stream(self, requests_: Sequence[Request]) -> Iterator[tuple[Request, Completion]]:
        """Complete requests, several at a time; see Engine."""
        self._gone = None
        futures = {self._pool.submit(self._complete_one, request): request for request in requests_}
        problem = None
        try:
            for future in as_completed(futures):
                if future.cancelled():
                    continue
                try:
                    completion = future.result()
                except EngineUnavailable as error:
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

    def _complete_one(self, request: Request, deaths: int = 0) -> Completion:
        """Ask one server after the other until one has the answer.

        `deaths` are servers that have died with it. Raises EngineUnavailable when all are away.
        """
        asked: list[_Server] = []
        failure, problem = None, ""
        while taken := self._take(asked, places := self.concurrency if deaths else 1):
            server, is_probe = taken
            asked.append(server)
            try:
                if is_probe:
                    server.look()
                    self._level()
                completion = server.complete(request)
            except (_Busy, EngineUnavailable) as error:
                self._lose(server, error, is_probe)
                problem = str(error)
                deaths += getattr(error, "had_it", False)
                if deaths == DEATHS:
                    return failed(
                        f"server_died: {DEATHS} servers died while they had it, the last one "
                        "nothing else"
                    )
                continue
            finally:
                self._give_back(server, places)
            is_suspect = (completion.error or "").split(":")[0] in SUSPECT
            if is_probe:
                self._judge(server, not is_suspect)
            if failure or not is_suspect:
                return completion
            failure = completion
        if failure:
            return failure
        with self._turn:
            is_over = self._gone or all(server.is_away for server in self.servers)
            if is_over:
                self._gone = self._gone or problem
                self._turn.notify_all()
        if is_over:
            raise EngineUnavailable(self._gone)
        # One that was lost has come back meanwhile.
        return self._complete_one(request, deaths)

    # ---------------------------------------------------------------------------- servers

    def _take(self, asked: list[_Server], places: int = 1) -> tuple[_Server, bool] | None:
        """A server that was not asked yet and has so many `places` free, waited for, and whether it
        is on probation.

        One that is away gets one request, when its rest is over or no other is left. None when
        there is no server for this request.
        """
        with self._turn:
            while self._gone is None:
                left = [server for server in self.servers if server not in asked]
                up = [server for server in left if not server.is_away]
                is_last = all(server.is_away for server in self.servers)
                due = [
                    server
                    for server in left
                    if server.is_away
                    and server.n_open == 0
                    and (is_last or self._clock() >= server.back_at)
                ]
                free = due or [one for one in up if one.n_open + places <= self.concurrency]
                if free:
                    server = min(free, key=lambda one: one.n_open)
                    server.n_open += places
                    return server, server.is_away
                if not up and not (is_last and left):
                    break
                self._turn.wait(self._backoff_s)
        return None

    def _give_back(self, server: _Server, places: int) -> None:
        with self._turn:
            server.n_open -= places
            self._turn.notify_all()

    def _lose(self, server: _Server, error: Exception, is_probe: bool) -> None:
        """Leave a server out for a while; the first of the requests that it had says so."""
        with self._turn:
            if is_probe:
                self._rest(server, 0.0)
            elif not server.is_away:
                server.is_away = True
                self._rest(server, getattr(error, "wait_s", 0.0))
                n_up = sum(not one.is_away for one in self.servers)
                if n_up:
                    say(f"{error}: {n_up} of {len(self.servers)} servers go on")

    def _rest(self, server: _Server, least_s: float) -> None:
        server.losses += 1
        rest_s = max(least_s, REST * self._backoff_s * 3 ** (server.losses - 1))
        server.back_at = self._clock() + (rest_s if server.losses < LOSSES else math.inf)
        self._turn.notify_all()

    def _judge(self, server: _Server, is_good: bool) -> None:
        """What becomes of a server that was away and has answered."""
        with self._turn:
            if is_good:
                server.is_away, server.losses = False, 0
                say(f"server {server.base} is back")
            else:
                self._rest(server, 0.0)
            self._turn.notify_all()

    def _is_elsewhere(self, server: _Server) -> bool:
        """Whether another server is there to ask."""
        return any(not one.is_away for one in self.servers if one is not server)

    def _level(self) -> None:
        """Have all servers take what the one with the least max_model_len takes."""
        least = min(one.own_max_model_len for one in self.servers if one.model_id)
        for server in self.servers:
            server.max_model_len = least

    def close(self) -> None:
        """Let the worker threads end."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _was_sent(error: requests.RequestException) -> bool:
    """Whether a connection broke that stood, so that the server may have had the request."""
    cause = error.args[0] if error.args else None
    return not isinstance(cause, urllib3.exceptions.MaxRetryError)


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that a server asks to wait: a number, or a date against its own; 0 without any."""
    text = headers.get("Retry-After") or ""
    try:
        if not re.search("[A-Za-z]{3}", text):
            seconds = float(text or 0)
        else:
            told = headers.get("Date")
            now = parsedate_to_datetime(told) if told else datetime.datetime.now(datetime.UTC)
            seconds = (parsedate_to_datetime(text) - now).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0


def _count(value: object) -> int | None:
    """A number of tokens as the store can hold it; None for anything else."""
    return value if type(value) is int and 0 <= value < 2**31 else None


def _code(value: object) -> str:
    """A code that a server gives, as an error may show it; empty for anything else."""
    text = str(value) if isinstance(value, str | int) else ""
    return text if CODE.fullmatch(text) else ""


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
        given = [
            (entry["token"], float(entry["logprob"]))
            for entry in listed
            if entry.get("token") in letters and isinstance(entry.get("logprob"), int | float)
        ]
    except MALFORMED:
        return {}
    found: dict[str, float] = {}
    for token, value in given:
        # JSON has no NaN and no infinity, and a log-probability is neither.
        if math.isfinite(value):
            value = round(value, 6)
            found[token] = max(value, found.get(token, value))
    return dict(sorted(found.items()))


def _scores(prompt: list[int], tokens: list[int], given: list[dict | None]) -> list[float]:
    """Log-probabilities of the tokens behind the prompt; `given` has one entry per token."""
    pairs = list(zip(tokens, given, strict=True))[shared_length(prompt, tokens) :]
    return [float(entry[str(token)]["logprob"]) for token, entry in pairs if entry]
