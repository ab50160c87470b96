"""The project's macros and models rendered without dbt, against DuckDB: a few ms a model.

dbt needs seconds a call, too many for a table of a hundred broken files. Only what macro raw() and
the models that read by it use is there: source, ref, run_query, adapter.dispatch, exceptions. The
names are dbt's; tests/python/test_bad_input.py compares with dbt itself (soak).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import duckdb
import jinja2
import yaml
from conftest import ROOT

MACRO = re.compile(r"({%-?\s*macro\s+)(\w+)")


class CompilationError(Exception):
    """What a macro raises by exceptions.raise_compiler_error."""


class _Return(BaseException):
    def __init__(self, value):
        self.value = value


class _Rows:
    """What dbt's run_query gives, as far as the macros use it."""

    def __init__(self, names, rows):
        self.rows = [dict(zip(names, row, strict=True)) for row in rows]
        self.columns = [
            SimpleNamespace(values=lambda place=place: tuple(row[place] for row in rows))
            for place in range(len(names))
        ]


@cache
def _code(text: str):
    """A template's code, which is the same for every renderer."""
    return jinja2.Environment(extensions=["jinja2.ext.do"]).compile(text)


def _template(environment: jinja2.Environment, text: str) -> jinja2.Template:
    return jinja2.Template.from_code(environment, _code(text), environment.make_globals(None))


def _macro(environment, modules, name, text):
    """A macro as a function that ends at its `return`; its file is compiled when it is called.

    In its file it has another name, so that a call from a neighbour comes here too.
    """

    def call(*arguments, **named):
        if text not in modules:
            modules[text] = _template(environment, MACRO.sub(r"\1macro_\2", text)).module
        try:
            return getattr(modules[text], f"macro_{name}")(*arguments, **named)
        except _Return as found:
            return found.value

    return call


def _raise_return(value):
    raise _Return(value)


def _raise_error(text):
    raise CompilationError(str(text))


@cache
def sources() -> dict[str, SimpleNamespace]:
    """The declared source tables as dbt's graph has them."""
    nodes = {}
    for file in sorted((ROOT / "models" / "staging").glob("*/_*sources.yml")):
        for source in yaml.safe_load(file.read_text(encoding="utf-8"))["sources"]:
            for table in source["tables"]:
                meta = table["config"]["meta"]
                nodes[f"{source['name']}.{table['name']}"] = SimpleNamespace(
                    source_name=source["name"],
                    name=table["name"],
                    meta=meta,
                    config=SimpleNamespace(meta=meta),
                )
    return nodes


@cache
def model_files() -> dict[str, Path]:
    """Name -> file of every SQL model."""
    return {file.stem: file for file in (ROOT / "models").rglob("*.sql")}


class Renderer:
    """Renders models on a connection; `variables` are the environment's that env_var reads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, target: str = "full"):
        self.connection = connection
        self.variables: dict[str, str] = {}
        self.environment = jinja2.Environment(extensions=["jinja2.ext.do"])
        self.environment.globals |= {
            "execute": True,
            "target": SimpleNamespace(name=target, type="duckdb"),
            "graph": SimpleNamespace(sources=sources()),
            "exceptions": SimpleNamespace(raise_compiler_error=_raise_error),
            "adapter": SimpleNamespace(dispatch=self._dispatch),
            "return": _raise_return,
            "source": lambda *names: SimpleNamespace(is_cte=False),
            "ref": lambda name: name,
            "config": lambda **_: "",
            "run_query": self._run_query,
            "env_var": lambda name, default="": self.variables.get(name, default),
            "var": self._var,
        }
        macros = {}
        for file in sorted((ROOT / "macros").glob("*.sql")):
            text = file.read_text(encoding="utf-8")
            macros |= {name: text for _, name in MACRO.findall(text)}
        modules: dict[str, object] = {}
        for name, text in macros.items():
            self.environment.globals[name] = _macro(self.environment, modules, name, text)

    def _dispatch(self, name: str):
        found = self.environment.globals
        return found.get(f"duckdb__{name}") or found[f"default__{name}"]

    def _run_query(self, sql: str) -> _Rows:
        done = self.connection.execute(sql)
        return _Rows([column[0] for column in done.description], done.fetchall())

    @staticmethod
    @cache
    def _project_vars() -> dict:
        return yaml.safe_load((ROOT / "dbt_project.yml").read_text(encoding="utf-8"))["vars"]

    def _var(self, name: str, default=None):
        found = self._project_vars()
        found = {**found, **found.get("ehrbench", {})}
        return found.get(name, default)

    def render(self, name: str) -> str:
        """SQL of a model. Raises CompilationError as dbt does, and DuckDB's own errors."""
        text = model_files()[name].read_text(encoding="utf-8")
        return _template(self.environment, text).render()

    def build(self, name: str, kind: str = "table") -> str:
        """Make a model in the database; returns its SQL."""
        sql = self.render(name)
        self.connection.execute(f"create or replace {kind} {name} as {sql}")
        return sql
