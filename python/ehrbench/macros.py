"""The project's macros called without dbt: a few ms a call, where dbt takes seconds.

What the macros that read raw files ask of dbt is there: run_query, graph.sources, exceptions,
adapter.dispatch and return. The names are dbt's.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import duckdb
import jinja2

MACRO = re.compile(r"({%-?\s*macro\s+)(\w+)")


class Stopped(Exception):
    """The line with which a macro stops the build (exceptions.raise_compiler_error)."""


class _Return(BaseException):
    def __init__(self, value: object) -> None:
        self.value = value


class _Undefined(jinja2.StrictUndefined):
    """An error where it is used, and false where it is only asked for (`first` of nothing)."""

    def __bool__(self) -> bool:
        return False


class _Rows:
    """What dbt's run_query gives, as far as the macros use it."""

    def __init__(self, names: list[str], rows: list[tuple]) -> None:
        self.rows = [dict(zip(names, row, strict=True)) for row in rows]
        self.columns = [
            SimpleNamespace(values=lambda place=place: tuple(row[place] for row in rows))
            for place in range(len(names))
        ]


@cache
def _code(text: str) -> object:
    """A template's code, which is the same for every environment."""
    return jinja2.Environment(extensions=["jinja2.ext.do"]).compile(text)


def _return(value: object) -> None:
    raise _Return(value)


def _stop(text: str) -> None:
    raise Stopped(str(text))


def node(source: str, table: str, meta: dict) -> SimpleNamespace:
    """A source table as dbt's graph has it."""
    return SimpleNamespace(
        source_name=source, name=table, meta=meta, config=SimpleNamespace(meta=meta)
    )


class Macros:
    """The macros of a project, called by name: ``macros.call("check_looks", ...)``.

    root: folder of the project. connection: runs what macros ask by run_query. sources: the nodes
    of graph.sources. names: further names that the templates know.

    A call raises Stopped where the macro stops the build, and DuckDB's own errors.
    """

    def __init__(
        self,
        root: Path,
        connection: duckdb.DuckDBPyConnection,
        sources: list[SimpleNamespace],
        **names: object,
    ) -> None:
        self.connection = connection
        self._modules: dict[str, object] = {}
        self._environment = jinja2.Environment(
            extensions=["jinja2.ext.do"], undefined=_Undefined
        )
        self.graph = SimpleNamespace(
            sources={f"{one.source_name}.{one.name}": one for one in sources}
        )
        self._known = self._environment.globals
        self._known |= {
            "execute": True,
            "graph": self.graph,
            "exceptions": SimpleNamespace(raise_compiler_error=_stop),
            "adapter": SimpleNamespace(
                dispatch=self._dispatch, get_columns_in_relation=self._columns
            ),
            "return": _return,
            "run_query": self._run_query,
            **names,
        }
        for file in sorted((root / "macros").glob("*.sql")):
            text = file.read_text(encoding="utf-8")
            self._known |= {name: self._macro(name, text) for _, name in MACRO.findall(text)}

    def call(self, name: str, *arguments: object) -> object:
        """What a macro returns, or its text."""
        return self._known[name](*arguments)

    def render(self, text: str) -> str:
        """A template's text."""
        return self._template(text).render()

    def _template(self, text: str) -> jinja2.Template:
        made = self._environment.make_globals(None)
        return jinja2.Template.from_code(self._environment, _code(text), made)

    def _macro(self, name: str, text: str):
        """A macro as a function that ends at its `return`; its file is compiled when it is called.

        In its file it has another name, so that a call from a neighbour comes here too.
        """

        def call(*arguments, **named):
            if text not in self._modules:
                self._modules[text] = self._template(MACRO.sub(r"\1macro_\2", text)).module
            try:
                return getattr(self._modules[text], f"macro_{name}")(*arguments, **named)
            except _Return as found:
                return found.value

        return call

    def _dispatch(self, name: str):
        return self._known.get(f"duckdb__{name}") or self._known[f"default__{name}"]

    def _columns(self, relation: str) -> list[SimpleNamespace]:
        rows = self.connection.execute(f"describe {relation}").fetchall()
        return [SimpleNamespace(name=row[0]) for row in rows]

    def _run_query(self, sql: str) -> _Rows:
        done = self.connection.execute(sql)
        return _Rows([column[0] for column in done.description], done.fetchall())
