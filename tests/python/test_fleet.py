"""Engine `openai` on several servers: shared out, and what one cannot do another one does."""

import json
import os
import random
import signal
import threading
import time

import pytest
from faulty_server import FaultyServer, drop, good, status
from requests import ConnectionError as HTTPConnectionError
from test_engines import LABELS, SCHEMA, vllm_server
from test_generate import runs_of
from test_server_faults import AT_RANDOM, ask, planned

from ehrbench import cli, completions, generate
from ehrbench.engines import ModelSpec, complete
from ehrbench.engines.openai_server import (
    DEATHS,
    LOSSES,
    REST,
    TRIES,
    OpenAIEngine,
    _Busy,
    _Reply,
)
from ehrbench.errors import EhrbenchError, EngineUnavailable


def after(seconds, step=good):
    """A step that takes its time; a server that is closed meanwhile does not answer."""

    def slow(exchange):
        return None if exchange.server.over.wait(seconds) else step(exchange)

    return slow


@pytest.fixture
def serve():
    """Starts a server on a step for all posts, or on a script; all are closed at the end."""
    started = []

    def start(script=good, port=0, **entry):
        asked = {good, *AT_RANDOM}
        is_step = script in asked or getattr(script, "__code__", None).co_argcount == 1
        started.append(FaultyServer((lambda *_: script) if is_step else script, port, **entry))
        return started[-1]

    yield start
    for server in started:
        server.close()


def addresses(servers):
    return " ".join(server.address for server in servers)


@pytest.fixture
def fleet():
    """Starts the engine on servers; it is closed at the end."""
    made = []

    def start(*servers, **options):
        options = {"timeout_s": 30, "backoff_s": 0.01, "concurrency": 4, **options}
        spec = ModelSpec("m", max_model_len=99)
        made.append(OpenAIEngine(spec, endpoint=addresses(servers), **options))
        return made[-1]

    yield start
    for engine in made:
        engine.close()


def requests(n):
    return [ask(f"question {i:04}") for i in range(n)]


def generated(plan, servers, **options):
    return generate.generate(
        target="synthetic",
        stage="answers",
        model="m",
        endpoint=addresses(servers),
        database=plan.database,
        store=plan.store,
        options={"concurrency": 4, "timeout_s": 10, "backoff_s": 0.01, **options},
    )


def assert_each_once(plan, texts):
    """Every request has one row, a good one, of its first attempt."""
    rows = plan.stored()
    assert [row["request_key"] for row in rows] == sorted(texts)
    wrong = [r for r in rows if r["error"] or r["text"] != f"answer to {r['request_key']}"]
    assert wrong == [] and {row["attempt"] for row in rows} == {1}


def test_a_server_that_is_killed_midway_costs_nothing(plan, serve, capsys):
    texts = [request.request_key for request in requests(120)]
    planned(plan, texts, 3)
    servers = [serve(after(0.01)) for _ in range(3)]

    def kill():
        while sum(servers[1].posts.values()) < 20:
            time.sleep(0.001)
        servers[1].close()

    killer = threading.Thread(target=kill)
    killer.start()
    started = time.monotonic()
    outcome = generated(plan, servers, backoff_s=5.0)
    killer.join()
    # The dead one is not waited for: the tries of one server alone would be a minute.
    assert time.monotonic() - started < 30
    assert (outcome.succeeded, outcome.failed) == (120, 0)
    assert_each_once(plan, texts)
    posts = [sum(server.posts.values()) for server in servers]
    # Asked twice is only what the dead one had.
    assert 20 <= posts[1] < 40 and 120 <= sum(posts) <= 120 + 4 and min(posts[0], posts[2]) > 20
    said = capsys.readouterr().out
    assert said.count("2 of 3 servers go on") == 1
    assert f"server {servers[1].address} cannot be reached" in said and "is back" not in said


def test_a_server_that_comes_back_gets_its_share_again(serve, fleet, capsys):
    first, second, now = serve(after(0.005)), serve(), [0.0]
    engine = fleet(first, second, backoff_s=0.005, clock=lambda: now[0])
    second.close()
    assert {a.error for a in complete(engine, requests(40))} == {None}
    again = serve(after(0.005), port=second.port)
    assert {a.error for a in complete(engine, requests(40))} == {None}
    assert sum(first.posts.values()) == 80 and not again.posts
    # Its rest is over.
    now[0] = engine.servers[1].back_at
    assert {a.error for a in complete(engine, requests(250))} == {None}
    assert sum(again.posts.values()) > 20
    said = capsys.readouterr().out
    assert said.count("1 of 2 servers go on") == 1
    assert said.count(f"server {second.address} is back") == 1


def test_a_server_that_never_comes_back_is_asked_a_few_times_only(serve, fleet, capsys):
    first, second = serve(after(0.002)), serve()
    engine = fleet(first, second, backoff_s=0.0001)
    second.close()
    looks = []
    look = engine.servers[1].look
    engine.servers[1].look = lambda: (looks.append(1), look())
    assert {a.error for a in complete(engine, requests(300))} == {None}
    # The one that is left gets no more at once than before.
    assert first.most == 4
    assert len(looks) == 4 and capsys.readouterr().out.count("servers go on") == 1


def test_rests_grow_threefold_until_there_are_too_many(serve, fleet):
    first, second, now, rests = serve(after(0.05)), serve(), [0.0], []
    engine = fleet(first, second, backoff_s=1, clock=lambda: now[0])
    lost = engine.servers[1]

    def losses(n):
        for _ in range(n):
            assert {a.error for a in complete(engine, requests(8))} == {None}
            rests.append(lost.back_at - now[0])
            now[0] = lost.back_at

    second.close()
    losses(2)
    again = serve(port=second.port)
    assert {a.error for a in complete(engine, requests(8))} == {None}
    assert again.posts and not lost.is_away
    again.close()
    losses(LOSSES)
    assert rests == [REST, 3 * REST, *(REST * 3**n for n in range(LOSSES - 1)), float("inf")]


def test_one_that_is_another_when_it_comes_back_is_left_out(serve, fleet):
    first, second = serve(after(0.002)), serve()
    engine = fleet(first, second, backoff_s=0.001)
    second.close()
    assert {a.error for a in complete(engine, requests(9))} == {None}
    other = serve(port=second.port, id="other")
    assert {a.error for a in complete(engine, requests(200))} == {None}
    assert engine.servers[1].losses > 1 and not other.posts


def test_a_slow_server_gets_less_and_none_more_than_its_number(serve, fleet):
    quick, slow = serve(after(0.004)), serve(after(0.5))
    answers = complete(fleet(quick, slow), requests(200))
    assert {answer.error for answer in answers} == {None}
    assert sum(quick.posts.values()) > 3 * sum(slow.posts.values()) > 0
    assert quick.most == slow.most == 4
    assert not quick.posts & slow.posts


def test_a_busy_server_is_not_waited_for_while_another_is_there(serve, fleet, capsys):
    free, busy = serve(after(0.002)), serve(status(429, Retry_After="60"))
    started = time.monotonic()
    engine = fleet(free, busy, backoff_s=0.001)
    answers = complete(engine, requests(200))
    assert time.monotonic() - started < 20
    assert {answer.error for answer in answers} == {None}
    # It rests as long as it asks, not as long as others do.
    assert sum(busy.posts.values()) <= 4
    assert engine.servers[1].back_at >= started + 60
    assert "is too busy (HTTP 429)" in capsys.readouterr().out


def test_a_server_that_comes_back_meanwhile_is_asked_again(serve, fleet):
    """The run is not over while one is there, though this request has met with no luck."""
    engine = fleet(serve(), serve(), serve())
    resting, first, second = engine.servers
    resting.is_away, resting.back_at = True, float("inf")

    def lost(request):
        del first.complete
        raise _Busy("no")

    def lost_when_the_first_is_back(request):
        first.is_away = False
        raise _Busy("no")

    first.complete, second.complete = lost, lost_when_the_first_is_back
    (answer,) = complete(engine, requests(1))
    assert answer.text == "answer to question 0000" and second.is_away


DIED = f"server_died: {DEATHS} servers died while they had it, the last one nothing else"


def deadly(text, step, had):
    """A script in which one prompt takes its server down; `had` gets what the server had then."""

    def dies(exchange):
        # A reply counts as under way until its thread has gone on.
        time.sleep(0.05)
        while (now := exchange.server.now) < 4 and not had:
            time.sleep(0.001)
        had.append(now)
        step(exchange)
        exchange.server.close()

    return lambda asked, n: dies if asked == text else after(0.01)


@pytest.mark.parametrize("step", [drop, status(500)], ids=["hangs up", "says 500"])
def test_a_prompt_that_takes_servers_down_takes_two_and_no_other_request(plan, serve, step):
    texts, had = [request.request_key for request in requests(120)], []
    planned(plan, texts, 3)
    bad = texts.pop(30)
    servers = [serve(deadly(bad, step, had)) for _ in range(3)]
    outcome = generated(plan, servers)
    assert (outcome.succeeded, outcome.failed) == (119, 1)
    rows = {row["request_key"]: row for row in plan.stored()}
    assert rows.pop(bad)["error"] == DIED
    assert {(row["error"], row["attempt"]) for row in rows.values()} == {(None, 1)}
    # It shared the first one with others, which were asked again, and had the second for itself.
    assert had == [4, 1]
    assert 119 < sum(sum(server.posts[text] for server in servers) for text in texts) <= 119 + 3
    assert sorted(server.posts[bad] for server in servers) == [0, 1, 1]


def test_a_prompt_that_took_all_servers_down_is_not_among_those_that_are_left(plan, serve):
    """More requests than the engine takes at a time, so that some are left whatever comes last."""
    texts, had = [request.request_key for request in requests(540)], []
    planned(plan, texts, 3)
    bad = texts.pop(5)
    servers = [serve(deadly(bad, drop, had)) for _ in range(2)]
    with pytest.raises(EngineUnavailable, match="the same command asks only those"):
        generated(plan, servers)
    errors = {row["request_key"]: row["error"] for row in plan.stored() if row["error"]}
    assert errors == {bad: DIED}
    again = [serve(good, port=server.port) for server in servers]
    done = {row["request_key"] for row in plan.stored()}
    assert generated(plan, again).succeeded == 540 - len(done) >= 28
    assert {row["request_key"] for row in plan.stored() if not row["error"]} == set(texts)
    assert sum(server.posts[bad] for server in again) == 0


def test_a_server_that_was_gone_before_has_not_died_of_a_request(serve, fleet):
    gone, dies, other = serve(), serve(lambda text, n: lambda e: e.server.close()), serve()
    engine = fleet(gone, dies, other)
    gone.close()
    (answer,) = complete(engine, requests(1))
    assert answer.text == "answer to question 0000"
    assert [sum(server.posts.values()) for server in (gone, dies, other)] == [0, 1, 1]


@pytest.mark.parametrize(
    ("method", "then", "had_it"),
    [("POST", None, True), ("GET", None, False), ("POST", _Reply(503, {}, b""), False)],
)
def test_only_what_was_asked_of_the_model_counts(
    serve, fleet, monkeypatch, method, then, had_it
):
    """And only if the server is gone, not where it is too busy the next time."""
    engine, given = fleet(serve(), serve()), []

    def breaks(asked, *_):
        given.append(asked)
        if then and given.count(method) > 1:
            return then
        if then and asked != method:
            return _Reply(200, {}, b"")
        raise HTTPConnectionError

    monkeypatch.setattr(engine.servers[0], "_exchange", breaks)
    with pytest.raises(_Busy) as raised:
        engine.servers[0]._call(method, "http://127.0.0.1:9", {})
    assert raised.value.had_it is had_it


def test_servers_that_died_are_counted_while_others_come_back(serve, fleet):
    engine = fleet(serve(), serve())
    first, second = engine.servers

    def dies(request):
        error = _Busy("no")
        error.had_it = True
        raise error

    def lost_when_the_first_is_back(request):
        first.is_away = False
        raise _Busy("no")

    first.complete, second.complete = dies, lost_when_the_first_is_back
    assert complete(engine, requests(1))[0].error == DIED


def test_all_are_waited_for_when_none_is_free(serve, fleet):
    """The last one with all the patience there is."""
    first, second = (serve(lambda text, n: status(503) if n < 4 else good) for _ in range(2))
    answers = complete(fleet(first, second, concurrency=1), requests(3))
    assert {answer.error for answer in answers} == {None}


def test_a_failure_is_a_row_when_two_servers_have_failed(serve, fleet):
    def script(text, n):
        return status(500) if text == "question 0003" else good

    sick = serve(lambda text, n: status(500))
    servers = [sick, serve(script), serve(script)]
    answers = complete(fleet(*servers, concurrency=2), requests(30))
    errors = {i: answer.error for i, answer in enumerate(answers) if answer.error}
    assert errors == {3: "http_500: refused"}
    assert sum(server.posts["question 0003"] for server in servers) == 2 * TRIES
    assert sum(sick.posts.values()) >= TRIES


def test_what_is_a_requests_own_fault_is_asked_once(serve, fleet):
    servers = [serve(status(400)), serve(status(400))]
    answers = complete(fleet(*servers), requests(10))
    assert {answer.error for answer in answers} == {"http_400: refused"}
    assert sum(sum(server.posts.values()) for server in servers) == 10


def test_when_all_are_gone_the_run_ends_and_the_next_asks_the_rest(plan, serve):
    texts = [request.request_key for request in requests(120)]
    planned(plan, texts, 2)
    servers = [serve(after(0.01)) for _ in range(2)]

    def kill():
        for server, n in zip(servers, (20, 60), strict=True):
            while sum(server.posts.values()) < n:
                time.sleep(0.001)
            server.close()

    killer = threading.Thread(target=kill)
    killer.start()
    started = time.monotonic()
    with pytest.raises(EngineUnavailable) as raised:
        generated(plan, servers)
    killer.join()
    assert time.monotonic() - started < 10
    line = str(raised.value)
    assert "cannot be reached" in line and "the same command asks only those" in line
    rows = plan.stored()
    assert 60 < len(rows) < 120 and not [row for row in rows if row["error"]]
    assert f"({len(rows)} answers are kept, {120 - len(rows)} requests are left" in line
    # One of the two is there again.
    again = serve(good, port=servers[1].port)
    assert generated(plan, servers).succeeded == 120 - len(rows) == sum(again.posts.values())
    assert_each_once(plan, texts)


def test_a_server_of_another_model_is_refused_before_anything_is_asked(serve, fleet):
    servers = [serve(), serve(id="other")]
    with pytest.raises(EngineUnavailable, match="serves other, not m"):
        fleet(*servers)
    assert not servers[0].posts


def test_an_address_that_is_none_is_named(serve, fleet):
    with pytest.raises(EhrbenchError, match="'ftp://127.0.0.1' is no http"):
        OpenAIEngine(ModelSpec("m"), endpoint=f"{serve().address} ftp://127.0.0.1/v1")


def test_a_prompt_that_one_server_cannot_take_is_too_long_for_all(serve, fleet):
    servers = [serve(max_model_len=64), serve(max_model_len=32)]
    engine = fleet(*servers)
    # Three tokens of prompt, says the server that takes more.
    fits, wide = (
        engine.servers[0].complete(ask("x", sampling={"max_tokens": n})) for n in (29, 30)
    )
    assert fits.error is None
    assert wide.error == "too_long: 3 prompt tokens + 30 to generate > max_model_len 32"
    assert engine.details["parameters"]["max_model_len"] == 32


def test_the_manifest_has_all_versions_and_no_host(serve, fleet):
    one = serve(owned_by="vllm", version="0.32.0")
    other = serve(owned_by="vllm", version="0.33.0")
    engine = fleet(one, other)
    assert engine.details["vllm_version"] == "0.32.0, 0.33.0"
    assert engine.details["device"] == "2 servers on this machine"
    assert "127.0.0.1" not in json.dumps(engine.details)
    assert fleet(one).details["device"] == "server on this machine"
    # The same address twice is one server.
    assert len(fleet(one, one).servers) == 1


def test_the_server_with_the_fewest_requests_is_next(serve, fleet):
    engine = fleet(serve(), serve(), concurrency=3)
    assert [engine.servers.index(engine._take([])[0]) for _ in range(6)] == [0, 1] * 3


def test_the_command_takes_several_endpoints(plan, serve, monkeypatch, capsys):
    texts = [request.request_key for request in requests(40)]
    planned(plan, texts, 1)
    servers = [serve(after(0.02)) for _ in range(3)]
    monkeypatch.setenv("EHRBENCH_DB", str(plan.database))
    monkeypatch.setenv("EHRBENCH_COMPLETIONS_DIR", str(plan.store))
    command = ["generate", "--target", "synthetic", "--stage", "answers", "--model", "m"]
    cli.main(command + [part for one in servers for part in ("--endpoint", one.address)])
    assert "answers m: 40 completed, 0 failed" in capsys.readouterr().out
    assert all(server.posts for server in servers)
    assert_each_once(plan, texts)


def test_the_seed_may_name_several_servers(plan, serve):
    servers = [serve(), serve()]
    plan.add_model("m", engine="openai", endpoint=addresses(servers))
    for i in range(4):
        plan.add(f"k{i}", model="m", mode="free", prefix_group=f"g{i}")
    outcome = generate.generate(
        target="synthetic", stage="answers", model="m", database=plan.database, store=plan.store
    )
    assert outcome.succeeded == 4
    (run,) = runs_of(plan)
    assert run["device"] == "2 servers on this machine"


MODES = ("choice", "logprobs", "free", "json", "cloze", "free_choice")


def plan_for_vllm(plan, n):
    """Requests of all modes, twelve to a prefix group."""
    plan.add_model("tiny", engine="openai", max_model_len=512)
    for i in range(n):
        mode, text = MODES[i % 6], f"{'insulin metoprolol ' * 8} {i // 12:03}: A, B, C or D? {i}"
        fields = {
            "json": {"json_schema": SCHEMA, "sampling": {"temperature": 0, "max_tokens": 120}},
            "cloze": {"options": list(LABELS)},
        }.get(mode, {})
        messages = [{"role": "user", "content": text}]
        plan.add(f"k{i:03}", mode=mode, prefix_group=f"g{i // 12:03}", messages=messages, **fields)


def by_vllm(plan, servers, store):
    """Rows of the store, and seconds, once the servers have been asked."""
    started = time.monotonic()
    generate.generate(
        target="synthetic", stage="answers", model="tiny", endpoint=" ".join(servers),
        database=plan.database, store=store,
    )
    seconds, plan.store = time.monotonic() - started, store
    return plan.stored(), seconds


@pytest.mark.soak
@pytest.mark.engine
def test_two_servers_of_vllm_of_which_one_is_killed_answer_as_one_does(plan, tiny_model, tmp_path):
    """SIGKILL to the server and to its engine, midway."""
    n = 240
    plan_for_vllm(plan, n)
    with (
        vllm_server(tiny_model, tmp_path / "1.log") as (first, _),
        vllm_server(tiny_model, tmp_path / "2.log") as (second, process),
    ):
        alone, alone_s = by_vllm(plan, [first], tmp_path / "alone")
        both, both_s = by_vllm(plan, [first, second], tmp_path / "both")

        def kill():
            while len(completions.completion_shards(tmp_path / "killed")) < 2:
                time.sleep(0.01)
            os.killpg(process.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        killed, killed_s = by_vllm(plan, [first, second], tmp_path / "killed")
        killer.join()
    assert process.wait(10) == -signal.SIGKILL
    wanted = [(f"k{i:03}", 1) for i in range(n)]
    for rows in (alone, both, killed):
        assert [(row["request_key"], row["attempt"]) for row in rows] == wanted
        assert {row["error"] for row in rows} == {None}
    for rows in (both, killed):
        assert [row["text"] for row in rows] == [row["text"] for row in alone]
        assert [row["finish_reason"] for row in rows] == [row["finish_reason"] for row in alone]
        for one, other in zip(rows, alone, strict=True):
            if one["option_logprobs"]:
                found, given = (json.loads(row["option_logprobs"]) for row in (one, other))
                assert found == pytest.approx(given, abs=1e-3)
    print({"one": round(alone_s, 1), "two": round(both_s, 1), "killed": round(killed_s, 1)})


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_servers_that_fail_die_and_come_back_lose_and_double_nothing(plan, serve, seed):
    n, texts = 1500, [request.request_key for request in requests(1500)]
    planned(plan, texts, 3)

    def script(text, count):
        luck = random.Random(f"{seed}|{text}|{count}")
        return luck.choice(AT_RANDOM) if luck.random() < 0.1 else after(0.002)

    servers = [serve(script) for _ in range(3)]
    posts = list(servers)
    over = threading.Event()

    def trouble():
        luck = random.Random(seed)
        while not over.wait(luck.uniform(0.1, 1.0)):
            i = luck.randrange(3)
            servers[i].close()
            over.wait(luck.uniform(0, 1.0))
            servers[i] = serve(script, port=servers[i].port)
            posts.append(servers[i])

    troubled = threading.Thread(target=trouble)
    troubled.start()
    n_gone = 0
    try:
        while True:
            try:
                generated(plan, servers, timeout_s=1.0)
                break
            except EngineUnavailable as error:
                assert "the same command asks only those" in str(error)
                n_gone += 1
                assert n_gone < 30
    finally:
        over.set()
        troubled.join()
    rows = plan.stored()
    tried = {}
    for row in rows:
        tried.setdefault(row["request_key"], []).append(row)
    assert sorted(tried) == texts
    for text, attempts in tried.items():
        assert [row["attempt"] for row in attempts] == list(range(1, len(attempts) + 1))
        done = [row for row in attempts if row["error"] is None]
        assert done in ([], attempts[-1:])
        assert not done or done[0]["text"] == f"answer to {text}"
    print(seed, {"rows": len(rows), "servers": len(posts), "gone": n_gone,
                 "unanswered": n - sum(a[-1]["error"] is None for a in tried.values())})
