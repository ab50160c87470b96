"""The generic tests are able to fail: each one on data that it must refuse, and on a near miss."""

import re

import duckdb
import jinja2
import pytest


@pytest.fixture(scope="module")
def failing_rows(project_root):
    """Number of rows that a generic test returns for a relation (a parenthesised query)."""

    def run(name, model, **arguments):
        text = (project_root / "tests/generic" / f"{name}.sql").read_text()
        head = re.search(r"{%\s*test\s+(\w+)(\(.*?\))\s*%}", text, re.S)
        text = text.replace(head.group(0), f"{{% macro {name}{head.group(2)} %}}")
        text = text.replace("{% endtest %}", "{% endmacro %}")
        environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
        sql = getattr(environment.from_string(text).module, name)(model, **arguments)
        with duckdb.connect() as connection:
            return len(connection.execute(sql).fetchall())

    return run


def rows(*values, columns="a, b"):
    """A parenthesised query over inline values; no values make an empty relation."""
    if not values:
        empty = ", ".join("null" for _ in columns.split(","))
        return f"(select * from (values ({empty})) as t ({columns}) where false)"
    return f"(select * from (values {', '.join(values)}) as t ({columns}))"


def test_unique_combination(failing_rows):
    assert failing_rows("unique_combination", rows("(1, 1)", "(1, 2)"), columns=["a", "b"]) == 0
    assert failing_rows("unique_combination", rows("(1, 1)", "(1, 1)"), columns=["a", "b"]) == 1
    nulls = rows("(1, null)", "(1, null)")
    assert failing_rows("unique_combination", nulls, columns=["a", "b"]) == 1


def test_not_empty(failing_rows):
    full, empty = rows("(1, 1)"), rows()
    assert failing_rows("not_empty", full) == 0
    assert failing_rows("not_empty", empty) == 1
    assert failing_rows("not_empty", empty, when_rows=full) == 1
    assert failing_rows("not_empty", empty, when_rows=empty) == 0


def test_is_type(failing_rows):
    assert failing_rows("is_type", rows("('0039', 1)"), column_name="a", type="varchar") == 0
    assert failing_rows("is_type", rows("(39, 1)"), column_name="a", type="varchar") == 1
    # An empty table has a type too.
    assert failing_rows("is_type", rows(), column_name="a", type="varchar") == 1


def test_accepted_range(failing_rows):
    data = rows("(0, 0)", "(5, 0)", "(null, 0)")
    assert failing_rows("accepted_range", data, column_name="a", min_value=0, max_value=5) == 0
    assert failing_rows("accepted_range", data, column_name="a", min_value=1) == 1
    assert failing_rows("accepted_range", data, column_name="a", max_value=4) == 1


def test_rows_match(failing_rows):
    one, two = rows("('x', 1)"), rows("('x', 1)", "('y', 1)")
    assert failing_rows("rows_match", two, compare_to=two, columns=["a"]) == 0
    # A key that only one side has: `<>` after an outer join would not see it.
    assert failing_rows("rows_match", one, compare_to=two, columns=["a"]) == 1
    assert failing_rows("rows_match", two, compare_to=one, columns=["a"]) == 1
    assert failing_rows("rows_match", one, compare_to=two) == 1
    assert failing_rows("rows_match", two, compare_to=two) == 0
    swapped = rows("(1, 'x')", "(1, 'y')")
    assert failing_rows(
        "rows_match", two, compare_to=swapped, columns=["a"], compare_columns=["b"]) == 0
    assert failing_rows(
        "rows_match", one, compare_to=two, columns=["a"], compare_condition="a <> 'y'") == 0
    nulls = rows("(null, 1)")
    assert failing_rows("rows_match", nulls, compare_to=nulls, columns=["a"]) == 0


def test_ordered_within(failing_rows):
    call = {"column_name": "v", "group_columns": ["g"], "order_by": "n"}
    rising = rows("('x', 1, 1)", "('x', 2, 2)", "('y', 1, 0)", columns="g, n, v")
    level = rows("('x', 1, 1)", "('x', 2, 1)", columns="g, n, v")
    falling = rows("('x', 1, 2)", "('x', 2, null)", "('x', 3, 1)", columns="g, n, v")
    assert failing_rows("ordered_within", rising, strictly=True, **call) == 0
    assert failing_rows("ordered_within", level, **call) == 0
    assert failing_rows("ordered_within", level, strictly=True, **call) == 1
    assert failing_rows("ordered_within", falling, **call) == 1


def test_relationships_where(failing_rows):
    parents = rows("(1, true)", "(2, false)", "(null, true)")
    call = {"column_name": "a", "to": parents, "field": "a"}
    assert failing_rows("relationships_where", rows("(1, 1)", "(null, 1)"), **call) == 0
    # A null among the parents does not hide a missing one, as `not in` would.
    assert failing_rows("relationships_where", rows("(3, 1)"), **call) == 1
    assert failing_rows("relationships_where", rows("(3, 1)"), from_condition="b = 2", **call) == 0
    assert failing_rows("relationships_where", rows("(2, 1)"), to_condition="b", **call) == 1
