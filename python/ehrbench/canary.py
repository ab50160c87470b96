"""The line that every exported file carries, so that it can be kept out of training corpora.

The GUID is the var canary_guid of dbt_project.yml; the mart rpt_canary words the same line.
"""

from __future__ import annotations

import re

import pyarrow as pa

from ehrbench import paths
from ehrbench.errors import EhrbenchError

# Name under which Parquet files and manifests carry it.
KEY = "ehrbench.canary"


def text() -> str:
    """The line itself. Raises EhrbenchError when dbt_project.yml has no GUID."""
    project = (paths.project_root() / "dbt_project.yml").read_text(encoding="utf-8")
    found = re.search(r"^ +canary_guid: *([0-9a-f-]{36})\b", project, re.MULTILINE)
    if not found:
        raise EhrbenchError("dbt_project.yml: var canary_guid is no GUID; restore it")
    return f"Benchmark data: must not appear in training corpora. EHRBench canary {found[1]}"


def mark(table: pa.Table) -> pa.Table:
    """The table with the line in its metadata, which Parquet keeps as plain text."""
    return table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: text()})
