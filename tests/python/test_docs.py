"""What the documents say is there: names, commands, targets, variables; what reads the marts; the terms."""

import re
import shlex
from pathlib import Path

import click
import pytest
import sqlglot
from sqlglot import exp

from ehrbench.cli import cli
from ehrbench.doctor import INTERNAL

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "DECISIONLOG.md", "docs/*.md", "models/docs/*.md"]
MODEL = re.compile(r"\b(?:stg|int|dim|fct|rpt|brg)_[a-z0-9_]*[a-z0-9]\b")
FENCE = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)
SPAN = re.compile(r"`([^`]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
# Names that are nobody's: placeholders of recipes, and words of other programs.
PLACEHOLDER = re.compile(r"[<>…*{}]|\.\.|NN")
OTHERS = {"external_location"}
HOSTS = {"download.pytorch.org", "physionet.org", "arxiv.org", "doi.org"}
MACHINE_PATH = re.compile(r"(^|[^\w.-])/(work|root|home|tmp|mnt|Users)/")
REGISTRY = re.compile(r"pypi|pythonhosted|artifactory|devpi|--index-url|localhost:\d", re.I)


@pytest.fixture(scope="module")
def documents(project_root) -> dict[str, str]:
    return {
        str(path.relative_to(project_root)): path.read_text(encoding="utf-8")
        for pattern in DOCUMENTS for path in sorted(project_root.glob(pattern))
    }


def written(project_root: Path, *folders: str) -> str:
    """All text of some folders and of the files of settings, but this one."""
    files = [path for name in folders for path in sorted((project_root / name).rglob("*"))
             if path.suffix in {".sql", ".py", ".yml", ".csv", ".j2"} and path.name != Path(__file__).name]
    files += [project_root / name for name in ("dbt_project.yml", "profiles.yml", "pyproject.toml", "Makefile")]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


@pytest.fixture(scope="module")
def known(manifest, project_root) -> dict[str, set[str]]:
    """Every name that a document may use, by kind."""
    nodes = [n for n in manifest["nodes"].values() if n["resource_type"] in ("model", "seed")]
    text = written(project_root, "models", "macros", "seeds", "analyses", "python/ehrbench")
    tests = written(project_root, "tests")
    return {
        "tables": {n["name"] for n in nodes},
        "columns": {(n["name"], column) for n in nodes for column in n["columns"]},
        "words": set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text + tests)),
        "variables": set(re.findall(r"EHRBENCH_[A-Z_]*[A-Z]", text))
        | {f"EHRBENCH_{n['source_name'].upper()}_DIR" for n in manifest["sources"].values()
           if n["source_name"] not in INTERNAL},
        "targets": set(re.findall(r"^([a-z][a-z-]*):", (project_root / "Makefile").read_text(), re.M)),
    }


def commands(group=cli, before=()) -> dict[tuple[str, ...], click.Command]:
    """Every command of the command line by the words that call it."""
    found = {}
    for name, command in group.commands.items():
        words = (*before, name)
        found[words] = command
        if isinstance(command, click.Group):
            found |= commands(command, words)
    return found


def wrong_call(line: str) -> str | None:
    """What is wrong with a call of the command line in a document; None when nothing is."""
    words = shlex.split(line.split(" #")[0], posix=False)
    words = words[next(i for i, word in enumerate(words) if word.split("/")[-1] == "ehrbench") + 1:]
    known, called = commands(), ()
    while words and (*called, words[0]) in known:
        called = (*called, words.pop(0))
    if not called:
        return f"no command {words[0]}" if words and not PLACEHOLDER.search(words[0]) else None
    if isinstance(known[called], click.Group) and words and not words[0].startswith("-"):
        alternatives = words[0].split("|")
        if wrong := [word for word in alternatives if (*called, word) not in known]:
            return f"no command {' '.join(called)} {wrong[0]}"
    options = {option for parameter in known[called].params for option in (*parameter.opts, *parameter.secondary_opts)}
    wrong = [word for word in words if word.startswith("--") and word.split("=")[0] not in {*options, "--help"}]
    return f"no option {wrong[0]} of {' '.join(called)}" if wrong else None


def snippets(text: str) -> tuple[list[str], list[str]]:
    """Inline code of a document, and the lines of its fenced code."""
    fenced = [line for block in FENCE.findall(text) for line in block.splitlines()]
    return [" ".join(code.split()) for code in SPAN.findall(FENCE.sub("", text))], fenced


def unknown_names(text: str, known: dict, project_root: Path) -> list[str]:
    """Names in a document's code that nothing in the project has."""
    inline, fenced = snippets(text)
    wrong = []
    for code in [*inline, *fenced]:
        wrong += [f"variable {name}" for name in re.findall(r"EHRBENCH_[A-Z_]*[A-Z]", code)
                  if name not in known["variables"]]
        if re.search(r"(^|/|&& |-m )ehrbench( |$)", code) and (problem := wrong_call(code)):
            wrong.append(f"{code}: {problem}")
        wrong += [f"make {target}" for target in re.findall(r"\bmake ([a-z][a-z-]*)", code)
                  if target not in known["targets"]]
        words = [word for word in re.split(r"[\s,;()]+", code) if not PLACEHOLDER.search(word)]
        wrong += [name for name in MODEL.findall(PATH.sub("", " ".join(words))) if name not in known["words"]]
    for code in inline:
        if PLACEHOLDER.search(code):
            continue
        if re.fullmatch(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*", code) and code.split(".")[0] in known["tables"]:
            described = {column for table, column in known["columns"] if table == code.split(".")[0]}
            wrong += [code] if code.split(".")[1] not in (described or known["words"]) else []
        elif re.fullmatch(r"[a-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+", code) and code not in known["words"] | OTHERS:
            wrong.append(code)
        elif re.fullmatch(PATH, code) and code.split("/")[0] in (
                "models", "macros", "seeds", "tests", "python", "analyses", "docs"):
            wrong += [code] if not (project_root / code).exists() and not _names(code, project_root) else []
    return wrong


def _names(code: str, project_root: Path) -> bool:
    """A path without its ending, as in analyses/yield_curve."""
    return bool(list((project_root / code).parent.glob(f"{Path(code).name}.*")))


def test_the_look_sees_what_is_not_there(known, project_root):
    def wrong(text):
        return unknown_names(text, known, project_root)

    assert wrong("`dim_visits`, `dim_visits.visit_key`, `make demo`, `ehrbench run --target full`, `merge_gap_hours`") == []
    assert wrong("```\nselect * from rpt_leaderboard\nehrbench convert pubmed FILES... --out FOLDER\n```") == []
    for bad in ("`dim_visit`", "`dim_visits.visit`", "`make demos`", "`ehrbench runs`", "`ehrbench run --targets full`",
                "`ehrbench convert pubmeds`", "`EHRBENCH_DBS`", "`merge_gap_ours`", "`tests/nothing/assert_x.sql`",
                "```\nselect * from rpt_leaderboards\n```", "```\n.venv/bin/ehrbench generate --stages x\n```"):
        assert wrong(bad), bad


def test_names_in_documents_exist(documents, known, project_root):
    assert {"README.md", "docs/footguns.md", "docs/paper_map.md", "docs/comparison.md"} <= documents.keys()
    found = {name: wrong for name, text in documents.items() if (wrong := unknown_names(text, known, project_root))}
    assert found == {}


def test_every_command_and_variable_is_in_the_readme(documents, known):
    readme = documents["README.md"]
    missing = [" ".join(words) for words, command in commands().items()
               if not isinstance(command, click.Group) and not re.search(
                   rf"ehrbench {re.escape(words[0])}\b.*\b{re.escape(words[-1])}\b" if len(words) > 1
                   else rf"ehrbench {re.escape(words[0])}\b", readme)]
    assert missing == []
    code = {name for name in known["variables"] if not name.startswith("EHRBENCH_TEST")}
    assert sorted(name for name in code if f"`{name}`" not in readme and f"{name}=" not in readme) == []


def test_documents_name_no_machine_and_no_registry(documents):
    found = {}
    for name, text in documents.items():
        lines = [line for line in text.splitlines() if MACHINE_PATH.search(line) or REGISTRY.search(line)]
        hosts = {host for host in re.findall(r"https?://([\w.-]+)", text) if host.removeprefix("www.") not in HOSTS}
        if lines or hosts:
            found[name] = (lines, hosts)
    assert found == {}


# ---------------------------------------------------------------------------- who reads the marts


def read_tables(path: Path) -> set[str]:
    """Tables that the code below a path reads: its .sql files, and find_relation in Python."""
    found = set()
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.suffix == ".sql":
            for tree in filter(None, sqlglot.parse(file.read_text(encoding="utf-8"), dialect="duckdb")):
                made = {cte.alias for cte in tree.find_all(exp.CTE)}
                found |= {table.name for table in tree.find_all(exp.Table)} - made
        elif file.suffix == ".py":
            found |= set(re.findall(r'find_relation\(\s*\w+,\s*"(\w+)"', file.read_text(encoding="utf-8")))
    return found


def test_exposures_name_what_they_read(manifest, project_root, known):
    exposures = {e["name"]: e for e in manifest["exposures"].values()}
    assert exposures.keys() == {"leaderboard", "dataset", "report_page", "explanations", "audit_sheets"}
    wrong = {}
    for name, exposure in exposures.items():
        path = project_root / exposure["config"]["meta"]["reads"]
        assert path.exists(), (name, path)
        read = read_tables(path)
        # What is no table of the project is one that the code makes for itself.
        text = "".join(file.read_text(encoding="utf-8") for file in path.rglob("*.py")) if path.is_dir() else ""
        strange = {table for table in read - known["tables"] if f'"{table}"' not in text and f" {table} " not in text}
        stated = {node.split(".")[-1] for node in exposure["depends_on"]["nodes"]}
        if strange or stated != read & known["tables"]:
            wrong[name] = (sorted(strange), sorted((read & known["tables"]) ^ stated))
    assert wrong == {}, "models/exposures.yml lists other tables than the code reads"


# ----------------------------------------------------------------------------------- the terms


def test_terms_are_short_and_used(manifest):
    """A doc block that no description shows is one that nobody reads."""
    terms = {key: doc for key, doc in manifest["docs"].items() if doc["package_name"] == "ehrbench"}
    used = {key for node in manifest["nodes"].values() for owner in (node, *node["columns"].values())
            for key in owner["doc_blocks"]}
    names = {key.split(".")[-1] for key in terms}
    assert {"visit", "cui", "predication", "support", "context_conflict", "leak_rule"} <= names
    assert sorted(key for key in terms.keys() - used if not key.endswith("__overview__")) == []
    sentences = {key: len(re.findall(r"[.?!](?:\s|$)", doc["block_contents"])) for key, doc in terms.items()
                 if not key.endswith("__overview__")}
    assert {key: n for key, n in sentences.items() if not 2 <= n <= 5} == {}
