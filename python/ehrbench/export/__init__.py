"""`ehrbench export`: the released items as files that other tools open.

SQL decides what is exported (queries/); this package writes it as JSON lines, Parquet, a folder for
Hugging Face datasets, tasks of lm-evaluation-harness and of inspect_ai, with a data card and a
manifest. Same database, same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import jinja2

from ehrbench import __version__, built, canary, paths
from ehrbench.errors import EhrbenchError
from ehrbench.export.items import COLUMNS, Column, JsonLines, Parquet, Release, Row, columns
from ehrbench.folders import replace_folder
from ehrbench.progress import Progress
from ehrbench.text import visible

# Harnesses score, so they need the answers.
HARNESSES = ("lm-eval", "inspect-ai")
FORMATS = ("jsonl", "parquet", "datasets", *HARNESSES)
# The file that every export has; what tells a folder that this command may replace.
CARD = "DATA_CARD.md"
MANIFEST = "manifest.json"

# What a harness needs of an item.
ASKED = (
    *("item_id", "task", "source", "n_options", "in_subset", "pooled", "stem"),
    *("options", "letters", "system", "prompt", "answer"),
)


@dataclass(frozen=True)
class Written:
    """What was written: where, which version, how much."""

    folder: Path
    version: str
    n_items: int
    n_files: int
    n_bytes: int


def write(
    target: str,
    out: Path | None = None,
    formats: Sequence[str] = (),
    with_answers: bool = True,
    allow_credentialed: bool = False,
) -> Written:
    """Write the released items of a target's database into a folder, whole or not at all.

    `formats` are some of FORMATS [all; without answers those that need none]. Raises EhrbenchError
    for a database that cannot be read or has no released item, for credentialed data without the
    flag, and for a folder that holds other files.
    """
    chosen = [
        name
        for name in FORMATS
        if name in (formats or FORMATS) and (with_answers or formats or name not in HARNESSES)
    ]
    scoring = [name for name in chosen if name in HARNESSES]
    if scoring and not with_answers:
        raise EhrbenchError(f"{' and '.join(scoring)} cannot score without answers: leave one out")
    folder = out or paths.project_root() / "build" / target / "export"
    connection = built.connect_marts(
        paths.database(target), target, allow_credentialed, "an export"
    )
    with closing(connection), replace_folder(folder, CARD) as part:
        release = Release(connection, with_answers)
        n_rows = write_items(release, part, chosen)
        write_texts(release, part, chosen)
        write_manifest(release, part, chosen, n_rows)
    files = [file for file in folder.rglob("*") if file.is_file()]
    return Written(
        folder=folder,
        version=release.version,
        n_items=sum(row["n_items"] for row in release.parts),
        n_files=len(files),
        n_bytes=sum(file.stat().st_size for file in files),
    )


# -------------------------------------------------------------------------------------- items


def write_items(release: Release, folder: Path, chosen: Sequence[str]) -> dict[str, int]:
    """Write the files of items, each item read once; returns file -> rows."""
    n_rows: dict[str, int] = {}
    with Progress("export", sum(row["n_items"] for row in release.parts), "items") as progress:
        for row in release.parts:
            form, task = row["format"], row["task"]
            wanted = columns(form, release.with_answers)
            with ExitStack() as open_files:
                writers = []
                for name, kind, needed in item_files(form, task, chosen, wanted):
                    file = folder / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    writers.append(open_files.enter_context(closing(kind(file, needed))))
                    n_rows[name] = row["n_items"]
                for batch in release.items(form, task, wanted):
                    for writer in writers:
                        writer.write(batch)
                    progress.advance(len(batch))
    return n_rows


def item_files(form: str, task: str, chosen: Sequence[str], every: list[Column]) -> list[tuple]:
    """(file, writer, columns) for the items of one form and task."""
    name = f"{task}_{form}"
    files = {
        "jsonl": (f"jsonl/{name}.jsonl", JsonLines, every),
        "parquet": (f"parquet/{name}.parquet", Parquet, every),
        "datasets": (f"datasets/data/{name}.parquet", Parquet, every),
    }
    if form == "mcq":
        asked = columns(form, only=ASKED)
        files["lm-eval"] = (f"lm-eval/items/{task}.parquet", Parquet, asked)
        files["inspect-ai"] = (f"inspect-ai/items/{task}.jsonl", JsonLines, asked)
    return [files[name] for name in chosen if name in files]


# -------------------------------------------------------------------------------------- texts


def environment() -> jinja2.Environment:
    """Templates of Markdown, YAML and Python: nothing is escaped but the cells of tables."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("ehrbench.export", "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(cell=cell, count=lambda n: f"{n:,}", points=points)
    return made


def cell(value: object) -> str:
    """A value as a cell of a Markdown table, in which HTML is no HTML."""
    text = "" if value is None else f"{value:,}" if isinstance(value, int) else visible(str(value))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


def points(share: object) -> str:
    """A share as points of a hundred, with its sign."""
    return f"{100 * float(share):+.1f}"


def facts(release: Release, chosen: Sequence[str]) -> Row:
    """What the templates say of a release."""
    choices = release.rows("choices")
    return {
        "canary": canary.text(),
        "version": release.version,
        "release_id": release.release_id,
        "data_class": release.data_class,
        "policies": [row["policy"] for row in release.rows("policy")],
        "formats": list(chosen),
        "with_answers": release.with_answers,
        "columns": [column for column in COLUMNS if release.with_answers or not column.is_gold],
        "parts": release.parts,
        "choices": choices,
        "tasks": sorted({row["task"] for row in choices}),
        **{
            name: release.rows(name)
            for name in (
                *("counts", "copies", "gates", "signals", "leak_rules", "unassessed"),
                *("anonymity", "inputs"),
            )
        },
    }


def write_texts(release: Release, folder: Path, chosen: Sequence[str]) -> None:
    """Write the data card and, for each format, what its tool reads beside the items."""
    templates = environment()
    told = facts(release, chosen)

    def put(file: str, template: str, **more: object) -> None:
        text = templates.get_template(f"{template}.j2").render(**told, **more)
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8", newline="\n")

    put(CARD, "DATA_CARD.md")
    if "datasets" in chosen:
        put("datasets/README.md", "datasets_README.md")
    if "lm-eval" in chosen and told["choices"]:
        put("lm-eval/items.py", "lm_eval_items.py")
        for row in told["choices"]:
            name = f"ehrbench_{row['task']}_{row['n_options']}"
            put(f"lm-eval/{name}.yaml", "lm_eval_task.yaml", row=row, name=name)
        for name, members, more in groups(told["choices"]):
            put(f"lm-eval/{name}.yaml", "lm_eval_group.yaml", name=name, members=members, more=more)
    if "inspect-ai" in chosen and told["choices"]:
        put("inspect-ai/ehrbench_task.py", "inspect_task.py")
        (folder / "inspect-ai/parse_choice.sql").write_text(
            f"-- {canary.text()}\n{choice_sql()}\n", encoding="utf-8", newline="\n"
        )


def choice_sql() -> str:
    """The expression that reads a reply as the models do, over completion and n_options."""
    macros = [
        (paths.project_root() / "macros" / f"{name}.sql").read_text(encoding="utf-8")
        for name in ("nfkc_ascii", "strip_reasoning", "parse_choice")
    ]
    module = jinja2.Environment().from_string("".join(macros)).module
    return module.parse_choice("completion", "n_options").strip()


def groups(choices: list[Row]) -> list[tuple[str, list[str], str]]:
    """Groups of lm-evaluation-harness: name, members, and which setting they change in them."""
    every = [f"ehrbench_{row['task']}_{row['n_options']}" for row in choices]
    asked = [f"ehrbench_{row['task']}_{row['n_options']}" for row in choices if row["n_subset"]]
    by_task = {
        f"ehrbench_{task}": [name for name in asked if name.startswith(f"ehrbench_{task}_")]
        for task in dict.fromkeys(row["task"] for row in choices)
    }
    by_task = {name: members for name, members in by_task.items() if members}
    found = [(name, members, "") for name, members in by_task.items()]
    if asked:
        found += [("ehrbench", list(by_task), ""), ("ehrbench_plain", asked, "plain")]
    return [*found, ("ehrbench_all", every, "all")]


def write_manifest(
    release: Release, folder: Path, chosen: Sequence[str], n_rows: dict[str, int]
) -> None:
    """Write what is in the folder: every file with its hash, and what it was made from."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    names = [file.relative_to(folder).as_posix() for file in files]
    content = {
        "canary": canary.text(),
        "version": release.version,
        "release_id": release.release_id,
        "policy": [row["policy"] for row in release.rows("policy")],
        "data_class": release.data_class,
        "ehrbench_version": __version__,
        "formats": list(chosen),
        "answers": release.with_answers,
        "files": {
            name: {
                "sha256": paths.sha256(file),
                "bytes": file.stat().st_size,
                **({"rows": n_rows[name]} if name in n_rows else {}),
            }
            for name, file in zip(names, files, strict=True)
        },
    }
    (folder / MANIFEST).write_text(
        json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
    )
