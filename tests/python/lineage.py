"""Which columns a model's column is made of, read from compiled SQL.

A column derives *by value* from every column in its expression: arguments, case conditions, filters,
window orders, scalar subqueries, through CTEs, unions and stars. It is *selected by* the columns in
the join, where, group, having and qualify conditions of the selects that it passes through.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope

CONDITIONS = ("where", "group", "having", "qualify")
Column = tuple[str, str]


class Lineage:
    """Column lineage over models.

    sql: model name -> SQL whose tables are named without a schema.
    columns: table name -> its columns, for tables that no model makes (seeds).
    """

    def __init__(self, sql: dict[str, str], columns: dict[str, list[str]]):
        self.sql, self.known = sql, dict(columns)
        self.named: dict[str, set[str]] = {}
        self.parsed: dict[str, exp.Expression] = {}
        self.trees: dict[str, exp.Expression] = {}
        self.scopes: dict[str, dict[int, Scope]] = {}
        self.found: dict[tuple[int, str], tuple[set[Column], set[Column]]] = {}

    def tables(self, model: str) -> set[str]:
        """Tables that a model names; a CTE may bear the name of the table it reads, so dbt's quotes tell."""
        if model not in self.named:
            tree = self.parsed[model] = sqlglot.parse_one(self.sql[model], dialect="duckdb")
            inner = {cte.alias for cte in tree.find_all(exp.CTE)}
            self.named[model] = {table.name for table in tree.find_all(exp.Table)
                                 if table.this.args.get("quoted") or table.name not in inner}
        return self.named[model]

    def columns(self, table: str) -> list[str]:
        """Columns of a table in order; none for one that nothing is known of."""
        if table not in self.known:
            if table not in self.sql:
                return []
            self.known[table] = self.tree(table).named_selects
        return self.known[table]

    def tree(self, model: str) -> exp.Expression:
        if model not in self.trees:
            schema = {
                table: dict.fromkeys(columns, "varchar")
                for table in self.tables(model)
                if table != model and (columns := self.columns(table))
            }
            self.trees[model] = qualify(
                self.parsed.pop(model), schema=schema, dialect="duckdb", validate_qualify_columns=False,
                quote_identifiers=False,
            )
        return self.trees[model]

    def origins(self, model: str, column: str) -> tuple[set[Column], set[Column]]:
        """Columns of other tables that a model's column derives from by value, and is selected by."""
        if model not in self.scopes:
            root = build_scope(self.tree(model))
            self.scopes[model] = {id(scope.expression): scope for scope in root.traverse()}
            self.scopes[model][0] = root
        return self._of_column(self.scopes[model], self.scopes[model][0], column)

    def trace(self, model: str, column: str, stop: frozenset[str] = frozenset()):
        """All columns upstream that it derives from by value, to the tables in `stop`, and the
        conditions on the way as (model that sets it, table, column)."""
        values, conditions, todo = set(), set(), [(model, column)]
        while todo:
            table, name = todo.pop()
            if table not in self.sql or table in stop:
                continue
            by_value, selected = self.origins(table, name)
            conditions |= {(table, *condition) for condition in selected}
            todo += by_value - values
            values |= by_value
        return values, conditions

    def changed(self, changes: dict[str, str]) -> Lineage:
        """The same models, some with other SQL for the same columns."""
        other = Lineage({**self.sql, **changes}, self.known)
        other.named = {name: tables for name, tables in self.named.items() if name not in changes}
        other.parsed = {name: tree.copy() for name, tree in self.parsed.items() if name not in changes}
        other.trees = {name: tree for name, tree in self.trees.items() if name not in changes}
        other.scopes = {name: scopes for name, scopes in self.scopes.items() if name not in changes}
        other.found, other.parent = dict(self.found), self
        return other

    def _of_column(self, scopes, scope, column):
        known = self.found.get((id(scope), column))
        if known is not None:
            return known
        values, conditions = self.found[id(scope), column] = set(), set()
        body = scope.expression
        if isinstance(body, exp.SetOperation):
            place = body.named_selects.index(column)
            for branch in scope.set_operation_scopes:
                name = branch.expression.named_selects[place]
                found = self._of_column(scopes, branch, name)
                values |= found[0]
                conditions |= found[1]
        elif isinstance(body, exp.Select):
            projection = next((p for p in body.selects if p.alias_or_name == column), None)
            assert projection is not None, f"no column {column} in {body.sql(dialect='duckdb')[:200]}"
            nodes = [body.args[name] for name in CONDITIONS if body.args.get(name)]
            nodes += [join.args["on"] for join in body.args.get("joins") or [] if join.args.get("on")]
            for node in nodes:
                found = self._of_expression(scopes, scope, node)
                conditions |= found[0] | found[1]
            found = self._of_expression(scopes, scope, projection)
            values |= found[0]
            conditions |= found[1]
        else:
            found = self._of_expression(scopes, scope, body)
            values |= found[0]
            conditions |= found[1]
        return values, conditions

    def _of_expression(self, scopes, scope, node):
        values, conditions = set(), set()
        for column in node.find_all(exp.Column):
            inside = scope
            owner = column.find_ancestor(exp.Select)
            while owner is not None and id(owner) in scopes:
                inside = scopes[id(owner)]
                if column.table in inside.sources:
                    break
                owner = owner.find_ancestor(exp.Select)
            source = inside.sources.get(column.table, scope.sources.get(column.table))
            if isinstance(source, Scope):
                found = self._of_column(scopes, source, column.name)
                values |= found[0]
                conditions |= found[1]
            elif source is not None:
                values.add((source.name, column.name))
            elif column.table:
                values.add((column.table, column.name))
            elif len(inside.sources) == 1 and isinstance(next(iter(inside.sources.values())), exp.Table):
                values.add((next(iter(inside.sources.values())).name, column.name))
        return values, conditions
