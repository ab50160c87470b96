"""`ehrbench report`: one folder of static HTML that opens from disk, offline.

SQL decides what is shown (queries/), this package selects and renders: pages from templates, plots
by Plotly's own script, and the data of the audit explorer as scripts that are loaded on demand.
"""

from __future__ import annotations

import importlib.resources
import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path

import jinja2
import markupsafe

from ehrbench import __version__, canary, paths
from ehrbench.errors import EhrbenchError
from ehrbench.folders import replace_folder
from ehrbench.progress import Progress
from ehrbench.report import data as data_module
from ehrbench.report import explorer, words
from ehrbench.report.data import Data, open_data
from ehrbench.report.pages import EXPLORER, PAGES, Page, tables_and_figures
from ehrbench.report.text import script
from ehrbench.text import visible

# What tells a folder that this command may replace.
MARKER = "ehrbench-report.txt"
STATIC = ("report.css", "report.js", "explorer.js")


@dataclass(frozen=True)
class Written:
    """What was written: the page to open, files and bytes, and what was left out."""

    index: Path
    n_files: int
    n_bytes: int
    notes: list[str]


def write(target: str, out: Path | None = None, allow_credentialed: bool = False) -> Written:
    """Write the report of a target's database into a folder, whole or not at all.

    Raises EhrbenchError for a database that cannot be read and for a folder that holds other
    files.
    """
    folder = out or paths.project_root() / "build" / target / "report"
    plotly = plotly_script()
    with replace_folder(folder, MARKER) as part:
        found = open_data(paths.database(target), target, allow_credentialed)
        with found.connection:
            notes = render(found, part, plotly)
    files = [file for file in folder.rglob("*") if file.is_file()]
    return Written(
        folder / "index.html", len(files), sum(file.stat().st_size for file in files), notes
    )


def plotly_script() -> Path:
    """Plotly's script as its package brings it; EhrbenchError when it is not installed."""
    found = importlib.util.find_spec("plotly")
    file = found and Path(found.origin).parent / "package_data" / "plotly.min.js"
    if not file or not file.is_file():
        raise EhrbenchError("plots need plotly: pip install -e '.[report]'")
    return file


# ---------------------------------------------------------------------------------- rendering


def environment() -> jinja2.Environment:
    """Templates that escape everything and show hidden characters."""
    loader = jinja2.PackageLoader("ehrbench.report", "templates")
    made = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    made.globals.update(terms=words.TERMS, say=words.say)
    return made


def shown(value: object) -> object:
    """What a template prints: text with its hidden characters made visible."""
    if isinstance(value, str) and not isinstance(value, markupsafe.Markup):
        return visible(value)
    return value


def render(found: Data, folder: Path, plotly: Path) -> list[str]:
    """Write every file of the report; returns what a reader of the command line should know."""
    line = canary.text()
    policy = found.rows("active_policy", target=found.target)
    active = str(policy[0]["policy"]) if policy else "open"
    with_explorer = not found.protected
    pages = [*PAGES, *([EXPLORER] if with_explorer else [])]
    files = folder / "data"
    files.mkdir()
    templates = environment()
    templates.globals.update(
        canary=line,
        menu=[(page.file, page.title) for page in pages],
        target=found.target,
        data_class=found.data_class,
        protected=found.protected,
        release_id=found.release_id,
        version=__version__,
        smallest=data_module.SMALLEST_CELL,
    )
    copy_static(folder, line, plotly)
    n_chunks = explorer.count(found) if with_explorer else 0
    with Progress("report", len(pages) + n_chunks, "files") as progress:
        for page in pages:
            write_page(page, found, active, templates, folder, line)
            progress.advance(1)
        if with_explorer:
            explorer.write(found, active, files, line, progress)
    (folder / MARKER).write_text(
        f"Written by ehrbench report. Open index.html.\n{line}\n", encoding="utf-8"
    )
    notes = [f"{name}: {why}" for name, why in sorted(found.missing.items())]
    if found.protected:
        notes.append(
            "credentialed data: aggregate pages only, no explorer "
            "(--allow-credentialed writes single triples and items)"
        )
    return notes


def write_page(
    page: Page, found: Data, policy: str, templates: jinja2.Environment, folder: Path, line: str
) -> None:
    """Write one page and the data of its figures."""
    context = page.fill(found, policy)
    _, figures = tables_and_figures(context)
    drawn = {one.id: one.views for one in figures if one.views}
    html = templates.get_template(f"{page.name}.html.j2").render(
        **context, page=page, has_figures=bool(drawn)
    )
    (folder / page.file).write_text(html, encoding="utf-8")
    if drawn:
        write_script(folder / "data" / f"plots-{page.name}.js", line, "EHRB.plots", drawn)


def write_script(file: Path, line: str, call: str, *values: object) -> None:
    """Write a file of data as a script, the line of the canary first."""
    file.write_text(f"// {line}\n{script(call, *values)}", encoding="utf-8")


def copy_static(folder: Path, line: str, plotly: Path) -> None:
    """Copy scripts and style of the package, and Plotly's script."""
    source = importlib.resources.files("ehrbench.report").joinpath("static")
    for name in STATIC:
        text = source.joinpath(name).read_text(encoding="utf-8")
        (folder / name).write_text(f"/* {line} */\n{text}", encoding="utf-8")
    shutil.copyfile(plotly, folder / "plotly.min.js")
