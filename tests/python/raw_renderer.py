"""The models rendered and made without dbt, against DuckDB: a few ms a model.

dbt needs seconds a call and a minute for all models, too many for a table of a hundred broken
files. The names are dbt's. test_builds.py compares all marts with those that dbt makes, and
test_bad_input.py what broken files give (soak).
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Container, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import duckdb
import yaml
from conftest import ROOT

from ehrbench import macros


@cache
def sources() -> list[SimpleNamespace]:
    """The declared source tables as dbt's graph has them."""
    return [
        macros.node(source["name"], table["name"], table["config"]["meta"])
        for file in sorted((ROOT / "models" / "staging").glob("*/_*sources.yml"))
        for source in yaml.safe_load(file.read_text(encoding="utf-8"))["sources"]
        for table in source["tables"]
    ]


@cache
def model_files() -> dict[str, Path]:
    """Name -> file of every model."""
    return {
        file.stem: file
        for kind in ("sql", "py")
        for file in sorted((ROOT / "models").rglob(f"*.{kind}"))
    }


def contracts() -> dict[str, dict[str, str]]:
    """Mart -> the types of its columns that its yml gives."""
    return {
        model["name"]: {column["name"]: column["data_type"] for column in model["columns"]}
        for file in sorted((ROOT / "models/marts").rglob("_*__models.yml"))
        for model in yaml.safe_load(file.read_text(encoding="utf-8"))["models"]
    }


@cache
def seeds() -> dict[str, SimpleNamespace]:
    """The seeds as dbt's graph has them."""
    nodes = {}
    for file in sorted((ROOT / "seeds").glob("_*__seeds.yml")):
        for seed in yaml.safe_load(file.read_text(encoding="utf-8"))["seeds"]:
            name, config = seed["name"], seed.get("config") or {}
            text = (ROOT / "seeds" / f"{name}.csv").read_text(encoding="utf-8")
            nodes[name] = SimpleNamespace(
                name=name,
                resource_type="seed",
                config=SimpleNamespace(
                    tags=config.get("tags", []), column_types=config.get("column_types", {})
                ),
                checksum=SimpleNamespace(
                    checksum=hashlib.sha256(text.strip().encode("utf-8")).hexdigest()
                ),
            )
    return nodes


@cache
def project_file(name: str) -> dict:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


class Renderer:
    """Makes models on a connection and answers queries on them.

    `variables` are the environment's that env_var reads, `project_vars` the project's that are not
    as dbt_project.yml says, `views` the models that are not made as tables; `sql` is that of the
    models that were made.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        target: str = "full",
        project_vars: dict[str, object] | None = None,
        views: Container[str] = (),
    ):
        self.connection, self.views = connection, views
        self.project_vars = project_vars or {}
        self.sql: dict[str, str] = {}
        for name, value in project_file("profiles.yml")["ehrbench"]["outputs"][target][
            "settings"
        ].items():
            connection.execute(f"set {name} = '{value}'")
        self.variables: dict[str, str] = {}
        self._making, self._made = False, set()
        self.macros = macros.Macros(
            ROOT,
            connection,
            sources(),
            target=SimpleNamespace(name=target, type="duckdb"),
            source=lambda *names: SimpleNamespace(is_cte=False),
            ref=self._ref,
            config=lambda **_: "",
            env_var=lambda name, default="": self.variables.get(name, default),
            var=self._var,
            local_md5=lambda text: hashlib.md5(text.encode("utf-8")).hexdigest(),
        )
        self.macros.graph.nodes = seeds()

    def _var(self, name: str, default=None):
        found = project_file("dbt_project.yml")["vars"]
        return {**found, **found.get("ehrbench", {}), **self.project_vars}.get(name, default)

    def _ref(self, name: str) -> str:
        if self._making and name not in self._made:
            self._made.add(name)
            if name in model_files():
                self.build(name, "view" if name in self.views else "table")
            else:
                self.load(name)
        return name

    def render(self, name: str) -> str:
        """SQL of a model. Raises macros.Stopped where dbt stops, and DuckDB's own errors."""
        return self.macros.render(model_files()[name].read_text(encoding="utf-8"))

    def build(self, name: str, kind: str = "table") -> None:
        """Make a model in the database."""
        file = model_files()[name]
        if file.suffix == ".py":
            spec = importlib.util.spec_from_file_location(name, file)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            dbt = SimpleNamespace(
                config=lambda **_: None, ref=lambda one: self.connection.table(self._ref(one))
            )
            frame = module.model(dbt, None)
            self.connection.register("frame", frame)
            self.connection.execute(f"create or replace table {name} as from frame")
            self.connection.unregister("frame")
            return
        self.sql[name] = self.render(name)
        self.connection.execute(f"create or replace {kind} {name} as {self.sql[name]}")

    def load(self, seed: str) -> None:
        """A seed as dbt loads it."""
        file = str(ROOT / "seeds" / f"{seed}.csv").replace("'", "''")
        types = ", ".join(
            f"'{name}': '{kind}'" for name, kind in seeds()[seed].config.column_types.items()
        )
        self.connection.execute(
            f"create or replace table {seed} as "
            f"from read_csv('{file}', header = true, types = {{{types}}})"
        )

    def make(self, *names: str, **variables: object):
        """Make models and all that they read, under these variables; returns itself."""
        self.variables = {name: str(value) for name, value in variables.items()}
        self._making = True
        for name in names:
            self._ref(name)
        self._making = False
        return self

    def __call__(self, sql: str) -> list[tuple]:
        return self.connection.execute(sql).fetchall()

    def tests(self) -> Iterator[tuple[str, str]]:
        """Name and SQL of the singular tests; what they read beside models is made."""
        self._making = True
        for file in sorted((ROOT / "tests").rglob("assert_*.sql")):
            yield file.stem, self.macros.render(file.read_text(encoding="utf-8"))
        self._making = False


@contextmanager
def made(*names: str, target: str = "full", **variables: object):
    """A query function over models and all that they read, made on one thread in a new database."""
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")
        yield Renderer(connection, target).make(*names, **variables)
