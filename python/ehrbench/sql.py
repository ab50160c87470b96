"""Texts and paths of users in SQL: whatever they hold, they are literals."""

from __future__ import annotations

import re
from collections.abc import Iterable


def text(value: object) -> str:
    """A value as the inside of an SQL string literal."""
    return str(value).replace("'", "''")


def file(path: object) -> str:
    """A file as DuckDB's readers take it: a literal, and a pattern that matches only this file."""
    return "'" + text(re.sub(r"([\[*?])", r"[\1]", str(path))) + "'"


def files(paths: Iterable[object]) -> str:
    """Files as an SQL list, each as file() has it."""
    return "[" + ", ".join(map(file, paths)) + "]"
