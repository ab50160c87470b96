"""Open-ended scores: texts compared through the step, and the report's errors against numpy."""

import hashlib
import importlib.util
import math
import random

import duckdb
import numpy
import pandas
import pytest
from rouge_score import rouge_scorer

from ehrbench import completions, doctor, embed, pipeline, recorded, score_texts
from ehrbench.completions import TEXT_SCORE, TEXT_SCORES
from ehrbench.engines import ModelSpec
from ehrbench.errors import EhrbenchError

MODEL = "vec"
WORDS = "acute heart failure with Pneumonia, sepsis; renal 2 type insulin's is likely".split()


def text(rng, longest):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, longest)))


class Lengths:
    """A BERTScore for tests: the share of the shorter text in the longer one."""

    layer = 6

    def __init__(self, spec):
        self.spec = spec

    def scores(self, replies, references):
        pairs = zip(replies, references, strict=True)
        return [min(map(len, pair)) / max(1, *map(len, pair)) for pair in pairs]


@pytest.fixture
def pairs(plan):
    """A plan with 60 seeded pairs of texts, one of them asked by two requests; key -> pair."""
    rng = random.Random(20260530)
    made = {f"k{n:02}": (text(rng, 30), text(rng, 12) or "gout") for n in range(60)}
    made["k00"] = ("", "gout")
    plan.add_model(MODEL, engine="sentence_transformers", weights="org/vec")
    asked = [*made.items(), ("k01", made["k01"])]
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute(
            "create table int_texts_to_score (request_key varchar, pair_key varchar, "
            "reply varchar, reference varchar, model varchar, revision varchar)"
        )
        connection.executemany(
            f"insert into int_texts_to_score values (?, ?, ?, ?, '{MODEL}', 'r1')",
            [[f"r{n}", key, *pair] for n, (key, pair) in enumerate(asked)],
        )
    return made


def stored(plan):
    return [
        row
        for shard in completions.shards(plan.store / TEXT_SCORES)
        for row in completions.read_shard(shard, TEXT_SCORE).to_pylist()
    ]


def run(plan, limit=None, with_bertscore=True):
    return score_texts.score("synthetic", limit, plan.database, plan.store, with_bertscore)


def test_rouge_is_that_of_the_library_and_each_pair_is_scored_once(plan, pairs, monkeypatch):
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: "none here")
    assert run(plan, limit=7) == 7 and run(plan) == 53 and run(plan) == 0
    scorer = rouge_scorer.RougeScorer(["rouge1", "rougeL"])
    rows = stored(plan)
    assert len(rows) == len(pairs) == len({row["pair_key"] for row in rows})
    for row in rows:
        reply, reference = pairs[row["pair_key"]]
        expected = scorer.score(reference, reply)
        assert row["rouge_1"] == pytest.approx(expected["rouge1"].fmeasure, abs=5.1e-7)
        assert row["rouge_l"] == pytest.approx(expected["rougeL"].fmeasure, abs=5.1e-7)
        assert (row["bertscore"], row["layer"], row["schema_version"]) == (None, None, 1)
    assert 0 < sum(row["rouge_l"] < row["rouge_1"] for row in rows)
    # Completions and text scores share the store and never mix.
    assert completions.completion_shards(plan.store) == []
    assert completions.check_store(plan.store) == 60


def test_pairs_without_a_bertscore_get_one_when_there_is_a_way(plan, pairs, monkeypatch):
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: "none here")
    assert run(plan, limit=5) == 5
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: None)
    monkeypatch.setattr(score_texts, "Bert", Lengths)
    monkeypatch.setattr(score_texts, "BATCH", 16)
    assert run(plan) == 60 and run(plan) == 0
    scored = [row for row in stored(plan) if row["bertscore"] is not None]
    assert len(scored) == 60 and {row["layer"] for row in scored} == {6}


def test_without_texts_or_libraries_there_is_one_line(plan, pairs, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert score_texts.problem() == "no rouge-score here: install the extra score"
    with pytest.raises(score_texts.EngineUnavailable, match="install the extra score"):
        run(plan)
    assert stored(plan) == []
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute("delete from int_texts_to_score")
    assert run(plan) == 0
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute("drop table int_texts_to_score")
    assert run(plan) == 0


def test_a_run_compares_what_it_can_and_says_once_what_it_cannot(plan, pairs, monkeypatch, capsys):
    """ROUGE first, then BERTScore; what is missing is a line, or the end of a strict run."""
    told, calls = set(), []

    def missing(**options):
        phases = pipeline.Phases()
        moved = pipeline._score_missing(
            "synthetic", plan.database, plan.store, phases, told, **options
        )
        return moved, [(name, said) for name, _, said in phases.rows]

    def process(target, with_bertscore):
        calls.append(with_bertscore)
        return bool(run(plan, with_bertscore=with_bertscore))

    monkeypatch.setattr(pipeline, "_score_process", process)
    monkeypatch.setattr(score_texts, "Bert", Lengths)
    monkeypatch.setattr(score_texts, "problem", lambda: "no rouge-score here")
    assert missing() == missing() == (False, [])
    line = "no text scores for 60 pairs of texts: no rouge-score here"
    assert capsys.readouterr().out.count(line) == 1
    with pytest.raises(EhrbenchError, match="get no text scores: no rouge-score here"):
        missing(require_engine=True)

    monkeypatch.setattr(score_texts, "problem", lambda: None)
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: "no bert-score here")
    with pytest.raises(EhrbenchError, match="get no BERTScore: no bert-score here"):
        missing(require_engine=True)
    assert missing(with_bertscore=False) == (True, [("text scores (ROUGE)", "60 of 60 pairs")])
    assert "BERTScore" not in capsys.readouterr().out
    assert missing() == missing() == (False, [])
    line = "no BERTScore for 60 pairs of texts: no bert-score here"
    assert capsys.readouterr().out.count(line) == 1
    pipeline.report("synthetic", plan.database, plan.store)
    out = capsys.readouterr().out
    assert "still missing: BERTScore of 60 pairs of texts" in out and "ROUGE" not in out

    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: None)
    phase = ("text scores (ROUGE, BERTScore by vec)", "60 of 60 pairs")
    assert missing() == (True, [phase]) and missing(require_engine=True) == (False, [])
    assert calls == [False, True]
    pipeline.report("synthetic", plan.database, plan.store)
    assert "still missing" not in capsys.readouterr().out


def test_text_scores_are_recorded_and_installed(plan, pairs, monkeypatch, tmp_path):
    """Those of today's pairs, each once, the one with a BERTScore."""
    monkeypatch.setattr(score_texts, "Bert", Lengths)
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: None)
    run(plan, limit=9, with_bertscore=False)
    run(plan)
    assert len(stored(plan)) == 69
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute("delete from int_texts_to_score where pair_key > 'k20'")
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    out.mkdir()
    kept = sorted(pairs)[:21]
    assert recorded._export_text_scores(plan.database, plan.store, out) == [
        {
            "model": MODEL,
            "revision": "r1",
            "engine_versions": score_texts.versions(),
            "pairs": 21,
            "with_bertscore": 21,
            "pair_keys_md5": hashlib.md5("\n".join(kept).encode()).hexdigest(),
        }
    ]
    assert recorded.install(fresh, out) == 0
    (shard,) = completions.shards(fresh)
    assert shard.parent == fresh / TEXT_SCORES / MODEL
    rows = completions.read_shard(shard, TEXT_SCORE).to_pylist()
    assert [row["pair_key"] for row in rows] == kept
    assert rows == sorted(
        (row for row in stored(plan) if row["pair_key"] in kept and row["bertscore"] is not None),
        key=lambda row: row["pair_key"],
    )
    recorded.install(fresh, out)
    assert completions.shards(fresh) == [shard]


def test_a_recording_needs_every_text_score(plan, pairs, monkeypatch):
    monkeypatch.setattr(pipeline, "_score_process", lambda target, with_bertscore: False)
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: "no bert-score here")
    with pytest.raises(EhrbenchError, match="did not finish: no bert-score here"):
        pipeline._record_text_scores(plan.database, plan.store)
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: None)
    with pytest.raises(EhrbenchError, match="did not finish: see above"):
        pipeline._record_text_scores(plan.database, plan.store)


def test_doctor_says_whether_replies_can_be_compared(monkeypatch):
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: None)
    assert doctor.check_text_scores().state == doctor.OK
    monkeypatch.setattr(score_texts, "bert_problem", lambda spec: f"no weights of {spec.model}")
    found = doctor.check_text_scores()
    assert found.state == doctor.MISSING
    assert found.text.endswith("; no BERTScore: no weights of all-MiniLM-L6-v2")
    monkeypatch.setattr(score_texts, "problem", lambda: "no rouge-score here")
    assert doctor.check_text_scores().text.startswith("no rouge-score here")


@pytest.mark.engine
def test_bertscore_is_the_same_in_any_company(tmp_path, monkeypatch):
    """The embedded model, in a folder whose name bert-score would take for another kind of model.

    Beside longer texts a pair whose words are all unlike would score higher by the padding.
    """
    spec = ModelSpec(model="all-MiniLM-L6-v2", weights="sentence-transformers/all-MiniLM-L6-v2")
    if score_texts.bert_problem(spec):
        pytest.skip(score_texts.bert_problem(spec))
    models = tmp_path / "scibert-t5"
    models.mkdir()
    (models / spec.model).symlink_to(embed.weights_folder(spec.weights, spec.model))
    monkeypatch.setenv("EHRBENCH_MODELS_DIR", str(models))
    pairs = [
        ("Heart failure", "Heart failure"),
        ("Cardiac failure", "Heart failure"),
        ("Table of contents", "Heart failure"),
        ("Tax return", "Metoprolol was ordered during a hospital visit with heart failure."),
        (" ", "Heart failure"),
        ("gout " * 2000, "Lithium. Evidence from a curated relation: may_treat."),
    ]
    bert = score_texts.Bert(spec)
    n_threads = bert._torch.get_num_threads()
    found = bert.scores(*map(list, zip(*pairs, strict=True)))
    assert bert._torch.get_num_threads() == n_threads
    same, near, far, _, blank, long = found
    assert (same, near) == pytest.approx((1, 0.919), abs=2e-3) and near > far
    assert blank == 0 and 0 < long < 1
    assert bert.scores(*map(list, zip(*pairs[::-1], strict=True))) == found[::-1]
    assert [bert.scores([reply], [reference])[0] for reply, reference in pairs] == found


# -------------------------------------------------------------------------------- the report


def rows_of(sql, **tables):
    """Rows of a compiled model on data frames, as dicts."""
    with duckdb.connect() as connection:
        for name, frame in tables.items():
            connection.register(f"{name}_frame", frame)
            connection.execute(f"create table {name} as select * from {name}_frame")
        return connection.execute(sql).fetch_df().to_dict("records")


def scores(rng, n):
    """n replies on n templates of 60 persons and 20 answers; what is right runs in both."""
    person, answer = rng.integers(0, 60, n), rng.integers(0, 20, n)
    right = rng.random(n) < rng.random(60)[person] * 0.5 + rng.random(20)[answer] * 0.4
    hedged = rng.random(n) < 0.3
    return pandas.DataFrame(
        {
            "request_key": [f"r{i:05}" for i in range(n)],
            "model": "m",
            "repetition": 1,
            "template_key": [f"t{i:05}" for i in range(n)],
            "task": rng.choice(["dx", "tx", "px"], n, p=[0.6, 0.3, 0.1]),
            "source": "s",
            "match_level": numpy.where(right, "cui", "miss"),
            **{name: right.astype("int32") for name in ("rc_gold", "rc_any", "rc_relation")},
            "rc_answer": right.astype("int32"),
            "n_words": rng.integers(1, 90, n).astype("int32"),
            "is_cut": 0,
            "n_answers_named": rng.integers(0, 5, n).astype("int32"),
            "is_hedged": hedged.astype("int32"),
            "is_abstained": 0,
            "rouge_1": rng.integers(0, 1000, n) / 1000,
            "rouge_l": pandas.Series([None] * n, dtype="float64"),
            "bertscore": pandas.Series([None] * n, dtype="float64"),
            "bertscore_model": pandas.Series([None] * n, dtype="str"),
            "person_group": [f"p{one}" for one in person],
            "answer_cui_id": answer.astype("int64"),
        }
    )


def report(unqualified, found, asked):
    requests = asked[["request_key", "model", "task", "template_key"]]
    rows = rows_of(
        unqualified["rpt_open_ended"],
        fct_open_scores=found,
        int_answer_requests=requests.assign(format="oeq", mode="free", repetition=1),
        int_templates=asked[["template_key", "source"]].drop_duplicates(),
        int_pooled_sources=pandas.DataFrame({"source": ["s"], "is_pooled": [True]}),
    )
    return {row["task"]: row for row in rows}


def mean_and_error(frame, values):
    """Plain mean of the tasks' means and its error, clustered by person and by answer concept."""
    tasks, mean, moves = sorted(set(frame["task"])), 0.0, numpy.zeros(len(frame))
    for task in tasks:
        cell = (frame["task"] == task).to_numpy()
        mean += values[cell].mean() / len(tasks)
        moves[cell] = (values[cell] - values[cell].mean()) / cell.sum() / len(tasks)

    def variance(*keys):
        sums = pandas.Series(moves).groupby([frame[key].to_numpy() for key in keys]).sum()
        return len(sums) / (len(sums) - 1) * (sums**2).sum()

    persons, answers = variance("person_group"), variance("answer_cui_id")
    both = variance("person_group", "answer_cui_id")
    return mean, math.sqrt(max(persons, answers, persons + answers - both))


def test_figures_and_intervals_are_those_of_numpy(unqualified):
    frame = scores(numpy.random.default_rng(7), 900)
    asked = pandas.concat([frame, frame.head(30).assign(request_key="x")])
    found = report(unqualified, frame, asked)
    assert set(found) == {"all", "dx", "tx", "px"}
    assert (found["all"]["n"], found["all"]["n_asked"]) == (900, 930)
    wrong = frame[frame["rc_any"] == 0]
    for task, row in found.items():
        part = frame if task == "all" else frame[frame["task"] == task]
        wrong_part = wrong if task == "all" else wrong[wrong["task"] == task]
        expected = {
            "rc_gold": (part, part["rc_gold"], 1e-6),
            "rouge_1": (part, part["rouge_1"], 1e-6),
            "overconfidence": (wrong_part, 1 - wrong_part["is_hedged"], 1e-6),
            "mean_words": (part, part["n_words"], 6e-3),
        }
        for figure, (rows, values, margin) in expected.items():
            mean, error = mean_and_error(rows, values.to_numpy(dtype=float))
            for part_name, value in (("", 0), ("_low", -1.96), ("_high", 1.96)):
                assert float(row[figure + part_name]) == pytest.approx(
                    mean + value * error, abs=margin
                ), (task, figure)
        assert pandas.isna(row["bertscore"]) and row["n_bertscore"] == 0
        assert row["n_wrong"] == len(wrong_part) and row["status"] == "estimable"


def test_few_replies_are_not_estimable_and_none_is_no_crash(unqualified):
    frame = scores(numpy.random.default_rng(3), 12)
    found = report(unqualified, frame, frame)
    assert {row["status"] for row in found.values()} == {"not_estimable"}
    assert pandas.isna(found["all"]["rc_gold"])
    unanswered = report(unqualified, frame.head(0), frame)
    assert {(row["n"], row["status"]) for row in unanswered.values()} == {(0, "not_estimable")}
    assert report(unqualified, frame.head(0), frame.head(0)) == {}
