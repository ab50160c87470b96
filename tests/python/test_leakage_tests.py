"""Each dbt test of tests/leakage stays green on sound tables and turns red on broken ones.

A file of leak_cases holds SOUND, SQL that creates the tables its tests read (names unqualified), and
BROKEN, pairs of a test's name and the SQL that breaks those tables so that the test must see it.
Where it has NEAR_MISSES, pairs likewise, the test must not mind.
"""

import importlib.util
from pathlib import Path

import duckdb
import pytest


def load(path):
    """A file of leak_cases as a module."""
    spec = importlib.util.spec_from_file_location(f"leak_cases_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases_of(kind):
    """All (area, test, change) of one kind."""
    return [pytest.param(area, name, change, id=f"{area}-{name}-{number}")
            for area, cases in AREAS.items()
            for number, (name, change) in enumerate(getattr(cases, kind, []))]


AREAS = {path.stem: load(path)
         for path in sorted((Path(__file__).parent / "leak_cases").glob("*.py"))}

NAMES = sorted({(area, name) for area, cases in AREAS.items() for name, _ in cases.BROKEN})


@pytest.fixture(scope="module")
def leakage_tests(manifest, unqualified):
    """Name -> compiled SQL of the singular tests of tests/leakage, tables unqualified."""
    return {
        node["name"]: unqualified[node["name"]]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "test" and node["original_file_path"].startswith("tests/leakage/")
    }


def found(area, sql, *changes):
    """Rows that a test returns on an area's sound tables after some changes."""
    with duckdb.connect() as connection:
        for statement in (AREAS[area].SOUND, *changes):
            connection.execute(statement)
        return connection.execute(sql).fetchall()


def test_every_leakage_test_has_a_broken_case(leakage_tests):
    assert leakage_tests.keys() == {name for _, name in NAMES}


@pytest.mark.parametrize(("area", "name"), NAMES)
def test_green_on_sound_tables(leakage_tests, area, name):
    assert found(area, leakage_tests[name]) == []


@pytest.mark.parametrize(("area", "name", "change"), cases_of("NEAR_MISSES"))
def test_green_on_near_misses(leakage_tests, area, name, change):
    assert found(area, leakage_tests[name], change) == []


@pytest.mark.parametrize(("area", "name", "change"), cases_of("BROKEN"))
def test_red_on_broken_tables(leakage_tests, area, name, change):
    assert found(area, leakage_tests[name], change)
