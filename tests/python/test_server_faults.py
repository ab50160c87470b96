"""Engine `openai` on a server that breaks in every way: bounded retries, a row each, none lost."""

import json
import random
from collections import Counter

import duckdb
import pytest
from faulty_server import (
    FaultyServer,
    Patience,
    body,
    completion,
    drip,
    drop,
    flood,
    good,
    gzip_cut,
    gzip_garbage,
    half_body,
    half_chunk,
    half_head,
    no_http,
    reset,
    short_length,
    silent,
    status,
)

from ehrbench import cli, engines, generate
from ehrbench.engines import ModelSpec, Request, complete, openai_server
from ehrbench.engines.openai_server import (
    BUSY_TRIES,
    FAULTS_IN_A_ROW,
    PATIENCE_S,
    TRIES,
    OpenAIEngine,
)
from ehrbench.errors import EngineUnavailable

# Stands in every prompt and in what the server says of it; never in an error.
SECRET = "patient of 93 years"
DATES = {"Date": "Mon, 30 Nov 2026 12:00:00 GMT", "Retry_After": "Mon, 30 Nov 2026 12:01:30 GMT"}
DEEP = b'{"choices": ' + b"[" * 100_000
MANY_DIGITS = json.dumps(completion()).replace('"prompt_tokens": 3', f'"prompt_tokens": {10**30}')
NO_USAGE = {"choices": completion(None)["choices"]}

# What the server does on the first tries (the last for good), the error, how often it is asked.
FAULTS = [
    ("good", [good], None, 1),
    ("busy, then good", [status(429), status(503), good], None, 3),
    ("busy for long", [status(429)] * (BUSY_TRIES - 1) + [good], None, BUSY_TRIES),
    ("Retry-After of 7 s", [status(429, Retry_After="7"), good], None, 2),
    ("Retry-After a date", [status(429, **DATES), good], None, 2),
    ("Retry-After nonsense", [status(503, Retry_After="soon\tor nan"), good], None, 2),
    ("Retry-After nan", [status(503, Retry_After="nan"), good], None, 2),
    ("Retry-After without end", [status(503, Retry_After="1e999"), good], None, 2),
    ("500 once", [status(500), good], None, 2),
    ("each once", [status(502), drop, reset, good], None, 4),
    ("500", [status(500)], "http_500: refused", TRIES),
    ("502", [status(502)], "http_502: refused", TRIES),
    ("504", [status(504)], "http_504: refused", TRIES),
    ("408", [status(408)], "http_408: refused", TRIES),
    ("400", [status(400)], "http_400: refused", 1),
    ("413", [status(413)], "http_413: refused", 1),
    ("501", [status(501)], "http_501: refused", 1),
    ("204", [status(204)], "http_204: refused", 1),
    ("drop", [drop], "dropped: ", TRIES),
    ("reset", [reset], "dropped: ", TRIES),
    ("half a head", [half_head], "dropped: ", TRIES),
    ("half a body", [half_body], "dropped: ", TRIES),
    ("half a body once", [half_body, good], None, 2),
    ("half a chunk", [half_chunk], "dropped: ", TRIES),
    ("no http", [no_http], "dropped: ", TRIES),
    ("gzip garbage", [gzip_garbage], "dropped: ", TRIES),
    ("gzip cut", [gzip_cut], "dropped: ", TRIES),
    ("length too short", [short_length], "bad_response: ", 1),
    ("flood", [flood], "dropped: ", TRIES),
    ("empty", [body(b"")], "dropped: ", TRIES),
    ("html", [body(b"<html>502 Bad Gateway</html>")], "bad_response: ", 1),
    ("latin-1", [body(b'{"choices": "caf\xe9"}')], "bad_response: ", 1),
    ("deep", [body(DEEP)], "bad_response: ", 1),
    ("a list", [body([])], "bad_response: ", 1),
    ("null", [body(None)], "bad_response: ", 1),
    ("no choices", [body({})], "bad_response: ", 1),
    ("choices null", [body({"choices": None})], "bad_response: ", 1),
    ("no choice", [body({"choices": []})], "bad_response: ", 1),
    ("a choice of text", [body({"choices": ["A"]})], "bad_response: ", 1),
    ("message null", [body(completion(message=None))], "bad_response: ", 1),
    ("content a number", [body(completion(7))], "bad_response: ", 1),
    ("content a list", [body(completion([{"text": "A"}]))], "bad_response: ", 1),
    ("content null", [body(NO_USAGE)], "bad_response: ", 1),
    ("content null, but tokens", [body(completion(None))], None, 1),
    ("usage a text", [body({**completion(), "usage": "3"})], "bad_response: ", 1),
    ("tokens as text", [body({**completion(), "usage": {"prompt_tokens": "3"}})], None, 1),
    ("tokens without end", [body(MANY_DIGITS.encode())], None, 1),
    ("half a surrogate pair", [body(completion("\ud83d"))], None, 1),
    ("ended", [body(completion(finish_reason="content_filter"))], "content_filter: ", 1),
    ("ended for a prompt", [body(completion(finish_reason=f"{SECRET} !"))], "bad_response: ", 1),
    ("ended for a list", [body(completion(finish_reason=[1]))], "bad_response: ", 1),
]


def ask(text, mode="free", **fields):
    return Request(text, "answers", mode, [{"role": "user", "content": text}], **fields)


@pytest.fixture
def serve():
    """Starts a server on a script; all are closed at the end."""
    started = []

    def start(script):
        started.append(FaultyServer(script))
        return started[-1]

    yield start
    for server in started:
        server.close()


def engine_on(server, patience, **options):
    options = {"timeout_s": 30, "sleep": patience.sleep, "clock": patience.clock, **options}
    return OpenAIEngine(ModelSpec("m", max_model_len=99), endpoint=server.address, **options)


def test_every_fault_is_a_row_of_its_own_after_so_many_tries(serve, monkeypatch):
    monkeypatch.setattr(openai_server, "LARGEST_REPLY", 2**20)
    scripts = {f"{name} {SECRET}": steps for name, steps, _, _ in FAULTS}
    server = serve(lambda text, n: scripts[text][min(n, len(scripts[text])) - 1])
    patience = Patience()
    engine = engine_on(server, patience, concurrency=16)
    answers = complete(engine, [ask(text) for text in scripts])
    engine.close()
    wrong = [
        (text, answer.error, server.posts[text])
        for (_, _, error, tries), text, answer in zip(FAULTS, scripts, answers, strict=True)
        if server.posts[text] != tries
        or not (answer.error is None if error is None else (answer.error or "").startswith(error))
        or (answer.text is None) == (error is None)
    ]
    assert not wrong
    errors = [answer.error for answer in answers if answer.error]
    assert len(errors) > 35
    assert not [error for error in errors if SECRET in error or "\n" in error or len(error) > 90]
    # The server's own wish, in seconds and as a date; else 1 s, three times as long each time.
    assert {1.0, 3.0, 7.0, 9.0, 27.0, 60.0, 90.0} <= set(patience.waits)
    assert all(0 < wait <= 90 for wait in patience.waits)
    from_store = [answer for answer in answers if answer.error is None]
    assert {answer.prompt_tokens for answer in from_store} == {3, None}


@pytest.mark.parametrize("step", [silent, drip])
def test_a_reply_that_never_ends_is_a_timeout_and_is_not_waited_for_again(serve, step):
    server = serve(lambda text, n: step)
    engine = engine_on(server, Patience(), timeout_s=0.5)
    (answer,) = complete(engine, [ask(SECRET)])
    engine.close()
    assert answer.error == "timeout: no answer within 0.5 s" and server.posts[SECRET] == 1


GONE = [
    ([status(401)], "refuses the key (HTTP 401): set EHRBENCH_API_KEY", 1),
    ([status(403)], "refuses the key (HTTP 403)", 1),
    ([status(302, Location="http://127.0.0.1:9/")], "no OpenAI API there", 1),
    ([status(307, Location="/elsewhere")], "no OpenAI API there", 1),
    ([status(404)], "no longer the model (HTTP 404): check --endpoint", 1),
    ([status(405)], "(HTTP 405)", 1),
    ([status(429)], "is too busy (HTTP 429)", BUSY_TRIES),
    ([status(503)], "is too busy (HTTP 503)", BUSY_TRIES),
    ([status(429, Retry_After="3600")], "asks to wait 3600 s", 1),
    ([status(429, Retry_After="100")], "is too busy (HTTP 429)", 3),
]


@pytest.mark.parametrize(("steps", "said", "tries"), GONE)
def test_what_no_request_would_be_spared_ends_the_run_in_one_line(serve, steps, said, tries):
    server = serve(lambda text, n: steps[min(n, len(steps)) - 1])
    patience = Patience()
    engine = engine_on(server, patience, concurrency=1)
    with pytest.raises(EngineUnavailable) as raised:
        complete(engine, [ask(SECRET)])
    engine.close()
    line = str(raised.value)
    assert said in line and "\n" not in line and SECRET not in line
    assert server.posts[SECRET] == tries
    assert sum(patience.waits) <= PATIENCE_S


def test_a_server_that_goes_away_is_no_fault_of_a_request(serve):
    server = serve(lambda text, n: good)
    engine = engine_on(server, Patience(), concurrency=1)
    stream = engine.stream([ask("one"), ask("two")])
    assert next(stream)[1].error is None
    server.close()
    rest = []
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        rest += complete(engine, [ask(f"k{i}") for i in range(4)])
    assert rest == []
    engine.close()


def test_a_server_that_is_gone_for_a_moment_is_waited_for(serve):
    server, patience = serve(lambda text, n: good), Patience()
    back = []

    def sleep(seconds):
        patience.sleep(seconds)
        if len(patience.waits) == TRIES - 1:
            back.append(FaultyServer(server.script, port=server.port))

    engine = engine_on(server, patience, concurrency=1, sleep=sleep)
    server.close()
    (answer,) = complete(engine, [ask("one")])
    engine.close()
    back[0].close()
    assert answer.error is None and back[0].posts["one"] == 1


def test_a_server_that_fails_every_request_is_gone(serve):
    server = serve(lambda text, n: status(500))
    engine = engine_on(server, Patience(), concurrency=4)
    given = []
    with pytest.raises(EngineUnavailable, match="20 requests in a row"):
        for _, answer in engine.stream([ask(f"k{i}") for i in range(100)]):
            given.append(answer.error)
    engine.close()
    assert FAULTS_IN_A_ROW - 4 <= len(given) < FAULTS_IN_A_ROW + 4
    assert sum(server.posts.values()) <= TRIES * (FAULTS_IN_A_ROW + 4)


def logprobs_of(entries):
    return {"content": [entries]}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (logprobs_of({"token": "A", "logprob": -0.5, "top_logprobs": None}), {"A": -0.5}),
        (logprobs_of({"token": "A", "logprob": float("nan")}), {}),
        (logprobs_of({"token": "A", "logprob": float("-inf")}), {}),
        (logprobs_of({"token": "A", "logprob": 10**400}), {}),
        (logprobs_of({"token": "A", "logprob": "-1"}), {}),
        (logprobs_of({"token": ["A"], "logprob": -1}), {}),
        (logprobs_of({"token": "A", "logprob": -1, "top_logprobs": [3]}), {}),
        (logprobs_of({"token": "A", "logprob": -1, "top_logprobs": 3}), {}),
        ("text", {}),
        ({"content": []}, {}),
        (None, {}),
    ],
)
def test_logprobs_of_any_shape_are_numbers_or_nothing(given, kept):
    assert openai_server._letter_logprobs({"logprobs": given}, list("AB")) == kept


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (b"<html>", "lists no models"),
        (b"[" * 100_000, "lists no models"),
        (b'{"data": null}', "lists no models"),
        (b'{"data": ["m"]}', "lists no models"),
        (b'{"data": [{"id": 7}]}', "serves nothing, not m"),
        (b'{"data": [{"id": "x\\u001b[31m\\u202ey"}]}', "serves x⟨U+001B⟩[31m⟨U+202E⟩y, not m"),
    ],
)
def test_a_list_of_models_of_any_shape_is_one_clear_line(models, said, monkeypatch):
    reply = openai_server._Reply(200, {}, models)
    monkeypatch.setattr(openai_server._Server, "_exchange", lambda *_: reply)
    with pytest.raises(EngineUnavailable) as raised:
        OpenAIEngine(ModelSpec("m"), endpoint="http://127.0.0.1:9")
    assert said in str(raised.value) and str(raised.value).isprintable()


# ------------------------------------------------------------------------ faults come at random


def planned(plan, texts, max_attempts):
    plan.add_model("m", engine="openai")
    rows = [
        (text, json.dumps([{"role": "user", "content": text}]), max_attempts) for text in texts
    ]
    with duckdb.connect(str(plan.database)) as connection:
        connection.executemany(
            "insert into int_requests_pending (request_key, stage, model, mode, repetition, "
            "prompt_key, prefix_group, messages, sampling, n_attempts, max_attempts) "
            "values (?, 'answers', 'm', 'free', 1, 'p', 'g', ?, '{\"max_tokens\": 9}', 0, ?)",
            rows,
        )


def generated(plan, server, patience, **options):
    """Run generate until it ends by itself; returns how often the engine went away."""
    for n_gone in range(30):
        try:
            generate.generate(
                target="synthetic",
                stage="answers",
                model="m",
                endpoint=server.address,
                database=plan.database,
                store=plan.store,
                options={
                    **{"concurrency": 16, "timeout_s": 0.5, "sleep": patience.sleep},
                    **{"clock": patience.clock, **options},
                },
            )
        except EngineUnavailable as error:
            assert "the same command asks only those" in str(error)
            continue
        return n_gone
    raise AssertionError("it never ended")


AT_RANDOM = [
    *(drop, reset, half_body, half_chunk, half_head, no_http, gzip_garbage, gzip_cut, silent),
    *(status(429), status(503), status(500), status(502), body(b"<html>"), body({"choices": []})),
    *(status(400), body(DEEP), body(completion(7)), short_length, drip),
]


def check_random_faults(plan, serve, n, share, seed, max_attempts=3):
    """Runs `n` requests on a server that fails `share` of the posts; returns figures."""
    texts = [f"question {i:05}" for i in range(n)]
    poisoned = set(texts[:: n // 10])
    planned(plan, texts, max_attempts)

    def script(text, count):
        luck = random.Random(f"{seed}|{text}|{count}")
        if text in poisoned:
            return luck.choice([drop, half_body, status(500)])
        return luck.choice(AT_RANDOM) if luck.random() < share else good

    server, patience = serve(script), Patience()
    n_gone = generated(plan, server, patience)
    rows = plan.stored()
    tried = {text: [row for row in rows if row["request_key"] == text] for text in texts}
    assert sum(map(len, tried.values())) == len(rows)
    for text, attempts in tried.items():
        assert [row["attempt"] for row in attempts] == list(range(1, len(attempts) + 1))
        good_ones = [row for row in attempts if row["error"] is None]
        if good_ones:
            assert good_ones == attempts[-1:] and good_ones[0]["text"] == f"answer to {text}"
        else:
            assert len(attempts) == max_attempts
        # Tries of its attempts, and of those that ended with the engine.
        assert server.posts[text] <= (len(attempts) + n_gone) * (TRIES + BUSY_TRIES - 1)
    unanswered = {text for text, attempts in tried.items() if attempts[-1]["error"]}
    assert poisoned <= unanswered
    posts = sum(server.posts.values())
    assert generated(plan, server, patience) == 0 and sum(server.posts.values()) == posts
    assert not [path for path in plan.store.rglob("*.tmp")]
    errors = Counter(row["error"].split(":")[0] for row in rows if row["error"])
    return {
        "requests": n, "posts": posts, "attempts": len(rows), "unanswered": len(unanswered),
        "engine gone": n_gone, "waits s": round(sum(patience.waits)), **errors,
    }


def test_faults_at_random_lose_and_double_nothing(plan, serve):
    figures = check_random_faults(plan, serve, 200, 0.3, seed=7)
    assert figures["posts"] > 300 and len(figures) > 9, figures


@pytest.mark.soak
@pytest.mark.parametrize(("share", "seed"), [(0.1, 1), (0.5, 2), (0.7, 3)])
def test_faults_at_random_for_thousands(plan, serve, share, seed):
    print(share, check_random_faults(plan, serve, 3000, share, seed))


def test_the_command_says_what_is_missing_and_asks_only_that_next_time(
    plan, serve, monkeypatch, capsys
):
    texts = [f"{SECRET} {i}" for i in range(12)]
    planned(plan, texts, 2)
    mended, served = [], set()

    def script(text, n):
        if text == texts[0]:
            return body(b"<html>")
        if not mended and len(served) >= 5:
            return status(503)
        served.add(text)
        return good

    server, patience = serve(script), Patience()
    monkeypatch.setenv("EHRBENCH_DB", str(plan.database))
    monkeypatch.setenv("EHRBENCH_COMPLETIONS_DIR", str(plan.store))
    monkeypatch.setitem(
        engines._FACTORIES,
        "openai",
        lambda spec, options: OpenAIEngine(
            spec, **{**options, "sleep": patience.sleep, "clock": patience.clock}
        ),
    )
    command = ["generate", "--target", "synthetic", "--stage", "answers", "--model", "m"]
    command += ["--endpoint", server.address, "--concurrency", "1"]
    with pytest.raises(SystemExit) as stopped:
        cli.main(command)
    said = capsys.readouterr()
    assert stopped.value.code == 1 and said.err.count("\n") == 1
    assert "is too busy (HTTP 503)" in said.err
    assert "(5 answers are kept, 6 requests are left: the same command asks only those)" in said.err
    answered = [row["request_key"] for row in plan.stored() if row["error"] is None]
    asked = Counter(server.posts)
    mended.append(True)
    cli.main(command)
    last = capsys.readouterr()
    assert "answers m: 6 completed, 1 failed; 1 without an answer (1 x bad_response)" in last.out
    assert len(answered) == 5
    assert [server.posts[text] for text in answered] == [asked[text] for text in answered]
    assert SECRET not in said.out + said.err + last.out + last.err
    cli.main(command)
    assert "0 completed, 0 failed\n" in capsys.readouterr().out
