"""Completions, vectors and text scores that ship with the project (synthetic cohort)."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ehrbench import built, canary, completions, embed, paths, score_texts, sql
from ehrbench.completions import EMBEDDINGS, RUN, RUNS, TEXT_SCORE, TEXT_SCORES, VECTOR, Kind
from ehrbench.errors import EhrbenchError
from ehrbench.folders import replace_folder

MAX_BYTES = 3 * 2**20
# Lies in a store while the recorded completions go in: a copy that was cut off is finished.
UNFINISHED = ".recorded-unfinished"


def folder() -> Path:
    """Folder of the recorded completions inside the package."""
    return Path(__file__).parent / "recorded" / "synthetic"


def files(source: Path | None = None) -> dict[str, Path]:
    """Stage -> recorded file, for those that are there."""
    base = source or folder()
    named = {stage: base / f"{stage}.parquet" for stage in completions.STAGES}
    return {stage: path for stage, path in named.items() if path.is_file()}


def vectors_file(source: Path | None = None) -> Path | None:
    """The recorded vectors, or None without them."""
    file = (source or folder()) / f"{EMBEDDINGS}.parquet"
    return file if file.is_file() else None


def text_scores_file(source: Path | None = None) -> Path | None:
    """The recorded text scores, or None without them."""
    file = (source or folder()) / f"{TEXT_SCORES}.parquet"
    return file if file.is_file() else None


def runs_file(source: Path | None = None) -> Path | None:
    """The manifest of the recorded runs, or None without it."""
    file = (source or folder()) / f"{RUNS}.parquet"
    return file if file.is_file() else None


def manifest(source: Path | None = None) -> dict:
    """What was recorded, with which engine and when; empty when nothing is."""
    file = (source or folder()) / paths.MARKER
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        return {}


def install(store: Path, source: Path | None = None) -> int:
    """Copy the recorded completions into a store that holds none; returns the rows copied.

    Vectors and text scores go in whenever the store has none of their model. A copy that was cut
    off is finished, but for a stage and model that others have written to since.
    """
    _install_rows(store, vectors_file(source), VECTOR)
    _install_rows(store, text_scores_file(source), TEXT_SCORE)
    unfinished = store / UNFINISHED
    if not unfinished.exists() and any(
        completions.check_shard(shard) for shard in completions.completion_shards(store)
    ):
        return 0
    store.mkdir(parents=True, exist_ok=True)
    unfinished.touch()
    copied = 0
    for stage, file in files(source).items():
        table = completions.read_shard(file)
        for model in sorted(set(table.column("model").to_pylist())):
            rows = table.filter(pc.equal(table.column("model"), model))
            with completions.lock(store, stage, model) as place:
                if completions.shards(place):
                    continue
                keys = zip(
                    rows.column("request_key").to_pylist(),
                    rows.column("attempt").to_pylist(),
                    strict=True,
                )
                completions.write_table(place / completions.shard_name(keys), rows)
            copied += rows.num_rows
    _install_runs(store, source)
    unfinished.unlink()
    return copied


def _install_runs(store: Path, source: Path | None) -> None:
    file = runs_file(source)
    if file is None:
        return
    table = completions.read_shard(file, RUN)
    for run_id in sorted(set(table.column("run_id").to_pylist())):
        rows = table.filter(pc.equal(table.column("run_id"), run_id))
        place = completions.model_dir(store, RUNS, rows.column("model")[0].as_py())
        completions.write_table(place / f"{run_id}.parquet", rows)


def _install_rows(store: Path, file: Path | None, kind: Kind) -> None:
    """Copy the rows of a recorded file into the folder of its kind, unless their model has some."""
    if file is None:
        return
    table = completions.read_shard(file, kind)
    for model in sorted(set(table.column("model").to_pylist())):
        if completions.shards(completions.model_dir(store, kind.name, model)):
            continue
        rows = table.filter(pc.equal(table.column("model"), model))
        with completions.lock(store, kind.name, model) as place:
            keys = zip(*(rows.column(name).to_pylist() for name in kind.keys), strict=True)
            completions.write_table(place / completions.shard_name(keys), rows)


def used(database: Path, store: Path) -> list[dict]:
    """Completions that answer a planned request, counted by stage, model and engine.

    Each row has stage, model, engine, n and n_recorded (how many are the shipped ones).
    """
    shards = completions.completion_shards(store)
    if not shards:
        return []
    shipped = list(files().values())
    with built.connect(database) as connection:
        relation = built.find_relation(connection, "fct_requests", ("request_key",))
        if relation is None:
            return []
        recorded = (
            f"select distinct request_key, latency_ms from read_parquet({sql.files(shipped)})"
            if shipped
            else "select '' as request_key, cast(0 as bigint) as latency_ms where false"
        )
        # A completion made anew has another latency, except by rare chance.
        result = connection.execute(
            f"""
            with stored as (
                select request_key, stage, model, engine, latency_ms
                from read_parquet({sql.files(shards)}, union_by_name = true)
                where error is null
            ),

            recorded as ({recorded})

            select
                stored.stage,
                stored.model,
                stored.engine,
                count(*) as n,
                count(recorded.request_key) as n_recorded,
            from stored
            semi join {relation} as requests
                on stored.request_key = requests.request_key
            left join recorded
                on stored.request_key = recorded.request_key
                and stored.latency_ms is not distinct from recorded.latency_ms
            group by all
            order by all
            """
        )
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def export(
    database: Path, store: Path, out: Path, engine_version: str, synth: dict | None = None
) -> dict:
    """Write the used completions of a store as the recorded ones; returns the manifest.

    Raises EhrbenchError when there are none, or when the files would be larger than 3 MB.
    """
    with built.connect(database) as connection:
        relation = built.find_relation(connection, "fct_requests", ("request_key", "prompt_key"))
        if relation is None:
            raise EhrbenchError("fct_requests is not in the database: run dbt build first")
        prompts = dict(
            connection.execute(f"select request_key, prompt_key from {relation}").fetchall()
        )
    with replace_folder(out, paths.MARKER) as part:
        return _export(database, store, part, engine_version, synth or {}, prompts)


def _export(
    database: Path,
    store: Path,
    folder: Path,
    engine_version: str,
    synth: dict,
    prompts: dict[str, str],
) -> dict:
    """Fill a folder with the recorded files; `prompts` are request_key -> prompt_key."""
    stages, models = {}, {}
    for stage in completions.STAGES:
        tables = [completions.read_shard(path) for path in completions.shards(store / stage)]
        table = pa.concat_tables(tables) if tables else completions.SCHEMA.empty_table()
        good = pc.and_(
            pc.is_null(table.column("error")),
            pc.is_in(table.column("request_key"), pa.array(list(prompts), pa.string())),
        )
        table = table.filter(good).sort_by([("request_key", "ascending"), ("attempt", "ascending")])
        if table.num_rows == 0:
            raise EhrbenchError(
                f"no {stage} completions answer a planned request: nothing recorded"
            )
        pq.write_table(canary.mark(table), folder / f"{stage}.parquet", compression="zstd")
        keys = sorted({prompts[key] for key in table.column("request_key").to_pylist()})
        stages[stage] = {
            "completions": table.num_rows,
            "prompts": len(keys),
            "prompt_keys_md5": hashlib.md5("\n".join(keys).encode()).hexdigest(),
        }
        for row in table.select(["model", "revision", "engine"]).to_pylist():
            models[row["model"]] = row
    vectors = _export_vectors(database, store, folder)
    text_scores = _export_text_scores(database, store, folder)
    runs = _export_runs(store, folder)
    written = {
        "data_class": "synthetic",
        "synth": {key: synth[key] for key in ("patients", "seed", "regime") if key in synth},
        "models": [models[name] for name in sorted(models)],
        "engine_version": engine_version,
        "recorded_on": datetime.date.today().isoformat(),
        "remade_by": "make record",
        canary.KEY: canary.text(),
        "stages": stages,
        "embeddings": vectors,
        "text_scores": text_scores,
        "runs": runs,
    }
    (folder / paths.MARKER).write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.iterdir())
    if size > MAX_BYTES:
        raise EhrbenchError(f"recorded completions take {size} bytes, more than {MAX_BYTES}")
    return written


def _export_runs(store: Path, out: Path) -> int:
    """Write the manifest of the store's runs; returns how many there were."""
    tables = [completions.read_shard(path, RUN) for path in completions.shards(store / RUNS)]
    if not tables:
        return 0
    table = pa.concat_tables(tables)
    table = table.sort_by([(name, "ascending") for name in RUN.keys])
    pq.write_table(canary.mark(table), out / f"{RUNS}.parquet", compression="zstd")
    return len(set(table.column("run_id").to_pylist()))


def _export_vectors(database: Path, store: Path, out: Path) -> list[dict]:
    """Write the vectors of today's texts; one line of the manifest per model."""
    texts = wanted_texts(database)
    tables = [
        completions.read_shard(path, VECTOR) for path in completions.shards(store / EMBEDDINGS)
    ]
    if not tables or not texts:
        return []
    table = pa.concat_tables(tables)
    table = table.filter(pc.is_in(table.column("text_key"), pa.array(sorted(texts), pa.string())))
    table = table.sort_by([(name, "ascending") for name in ("model", "revision", "text_key")])
    pq.write_table(canary.mark(table), out / f"{EMBEDDINGS}.parquet", compression="zstd")
    found = table.select(["model", "revision", "text_key"]).to_pylist()
    lines = []
    for model, revision in sorted({(row["model"], row["revision"]) for row in found}):
        keys = sorted(
            row["text_key"] for row in found if (row["model"], row["revision"]) == (model, revision)
        )
        lines.append(
            {
                "model": model,
                "revision": revision,
                "engine_version": embed.version(),
                "texts": len(keys),
                "text_keys_md5": hashlib.md5("\n".join(keys).encode()).hexdigest(),
            }
        )
    return lines


def _export_text_scores(database: Path, store: Path, out: Path) -> list[dict]:
    """Write the text scores of today's pairs; one line of the manifest per model."""
    pairs = wanted_pairs(database)
    tables = [
        completions.read_shard(path, TEXT_SCORE) for path in completions.shards(store / TEXT_SCORES)
    ]
    if not tables or not pairs:
        return []
    table = pa.concat_tables(tables)
    table = table.filter(pc.is_in(table.column("pair_key"), pa.array(sorted(pairs), pa.string())))
    names = ("model", "revision", "pair_key")
    # Of a pair that was compared again, the row that has a BERTScore.
    found: dict[tuple, dict] = {}
    for row in table.sort_by([("bertscore", "ascending")]).to_pylist():
        found.setdefault(tuple(row[name] for name in names), row)
    rows = [found[key] for key in sorted(found)]
    table = completions.to_table(rows, TEXT_SCORE)
    pq.write_table(canary.mark(table), out / f"{TEXT_SCORES}.parquet", compression="zstd")
    lines = []
    for model, revision in sorted({(row["model"], row["revision"]) for row in rows}):
        of_model = [row for row in rows if (row["model"], row["revision"]) == (model, revision)]
        keys = [row["pair_key"] for row in of_model]
        lines.append(
            {
                "model": model,
                "revision": revision,
                "engine_versions": score_texts.versions(),
                "pairs": len(keys),
                "with_bertscore": sum(row["bertscore"] is not None for row in of_model),
                "pair_keys_md5": hashlib.md5("\n".join(keys).encode()).hexdigest(),
            }
        )
    return lines


def wanted_texts(database: Path) -> set[str]:
    """Keys of the texts that a database compares by their vectors."""
    return _keys(database, "int_texts_to_embed", "text_key")


def wanted_pairs(database: Path) -> set[str]:
    """Keys of the pairs of open-ended reply and reference of a database."""
    return _keys(database, score_texts.TEXTS, "pair_key")


def _keys(database: Path, name: str, column: str) -> set[str]:
    with built.connect(database) as connection:
        relation = built.find_relation(connection, name, (column,))
        if relation is None:
            return set()
        rows = connection.execute(f"select {column} from {relation}").fetchall()
    return {key for (key,) in rows}


def orphans(database: Path, source: Path | None = None) -> list[str]:
    """Recorded request keys that a database does not plan any more."""
    recorded: set[str] = set()
    for file in files(source).values():
        recorded |= set(pq.read_table(file, columns=["request_key"]).column(0).to_pylist())
    with built.connect(database) as connection:
        relation = built.find_relation(connection, "fct_requests", ("request_key",))
        if relation is None:
            return sorted(recorded)
        planned = {
            key for (key,) in connection.execute(f"select request_key from {relation}").fetchall()
        }
    return sorted(recorded - planned)


def provenance() -> str:
    """One line on the shipped completions: model, engine, date, and how to make them anew."""
    known = manifest()
    if not known:
        return "no recorded completions ship with this copy: make record makes them"
    models = ", ".join(f"{row['model']} on {row['engine']}" for row in known["models"])
    said = f"recorded completions of {models} {known['engine_version']}"
    for kind, what in ((EMBEDDINGS, "vectors of"), (TEXT_SCORES, "text scores with")):
        named = ", ".join(row["model"] for row in known.get(kind, []))
        said += f", {what} {named}" if named else ""
    return f"{said}, {known['recorded_on']}; make record makes them anew"


def synth_manifest() -> dict:
    """MANIFEST.json of the synthetic cohort in use, empty without one."""
    try:
        return json.loads((paths.synth_dir() / paths.MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
