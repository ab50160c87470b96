"""Why a triple was accepted or rejected, and why an item is as it is.

Every query is a file in queries/; what is gathered is printed as text (printed.py) or as JSON.
Nothing here decides anything: the models did, and their tables are read.
"""

from __future__ import annotations

import importlib.resources
import json
import re
from pathlib import Path

import duckdb

from ehrbench import built, canary
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.text import visible

Row = dict[str, object]

# Fewer letters of an id would seldom be one id's.
SHORTEST = 6
# Whose events an explanation shows.
HOLDS = {
    "none": "No data of patients.",
    "synthetic": "Events of one synthetic patient.",
    "demo": "Events of one patient of open, de-identified demo data.",
    "credentialed": "Events of one patient of credentialed data: keep this where the data may be.",
}
HOW_TO_LIST = "ehrbench explain without an id lists some"
# One value, or none, instead of a list of rows.
SINGLE = ("triple", "outcome", "item")
OF_TRIPLE = (
    *("triple", "events", "proposals", "checks", "evidence", "conflicts", "verdicts"),
    *("outcome", "items"),
)
OF_ITEM = ("item", "options", "findings", "block")


class Reader:
    """Named queries on one built database. A context manager, which closes it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection):
        self.connection = connection

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def rows(self, name: str, **values: object) -> list[Row]:
        """Rows of a query of the folder; EhrbenchError for a table that is not built."""
        sql = importlib.resources.files(__package__).joinpath("queries", f"{name}.sql")
        text = sql.read_text(encoding="utf-8")
        used = {key: values.get(key) for key in re.findall(r"\$(\w+)", text)}
        try:
            found = self.connection.execute(text, used)
        except duckdb.Error as error:
            raise EhrbenchError(
                f"the database lacks what explain reads: run ehrbench run ({one_line(error, 150)})"
            ) from error
        columns = [column[0] for column in found.description]
        return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]

    def found(self, name: str, **values: object) -> list[Row] | Row | None:
        """Rows of a query, or the row of one that has at most one."""
        rows = self.rows(name, **values)
        if name in SINGLE:
            return rows[0] if rows else None
        return rows

    def resolve(self, given: str) -> tuple[str, str]:
        """Kind (triple or item) and whole id of an id or of its beginning."""
        wanted = given.strip().lower()
        said = visible(wanted).replace("\n", " ")[:40]
        if len(wanted) < SHORTEST:
            raise EhrbenchError(
                f"'{said}' is too short: give {SHORTEST} letters of the id or more; {HOW_TO_LIST}"
            )
        rows = self.rows("find", given=wanted)
        if not rows:
            raise EhrbenchError(f"no triple or item has the id '{said}'; {HOW_TO_LIST}")
        if rows[0]["n_found"] > 1:
            several = " and ".join(f"{row['kind']} {row['id']}" for row in rows[:2])
            raise EhrbenchError(
                f"'{said}' begins {rows[0]['n_found']} ids, as {several}: give more of its letters"
            )
        return rows[0]["kind"], rows[0]["id"]

    def explain(self, given: str, target: str) -> Row:
        """All that the database says about a triple, or about an item and its triple.

        Keys: kind, id, target, data_class, holds, release_id, canary; item, options, findings,
        block, prompt for an item; triple, events, proposals, checks, evidence, conflicts, verdicts,
        outcome, items; distractors. Raises EhrbenchError when the id is not one's.
        """
        kind, whole_id = self.resolve(given)
        data_class = built.data_class_of(self.connection)
        gathered: Row = {
            "kind": kind,
            "id": whole_id,
            "target": target,
            "data_class": data_class,
            "holds": HOLDS[data_class],
            "release_id": built.release_id(self.connection),
            "canary": canary.text(),
        }
        item_id, triple_id = None, whole_id
        if kind == "item":
            item_id = whole_id
            gathered.update({name: self.found(name, item_id=item_id) for name in OF_ITEM})
            prompts = self.rows("prompt", item_id=item_id)
            gathered["prompt"] = json.loads(prompts[0]["messages"]) if prompts else None
            triple_id = gathered["item"]["triple_id"]
        gathered.update({name: self.found(name, triple_id=triple_id) for name in OF_TRIPLE})
        gathered["distractors"] = self.distractors(triple_id, item_id)
        return gathered

    def distractors(self, triple_id: str, item_id: str | None = None) -> list[Row]:
        """What came of the concepts that answer other questions; none without a template."""
        return [
            row
            for template in self.rows("template", triple_id=triple_id)
            for row in self.rows("distractors", item_id=item_id, **template)
        ]

    def examples(self) -> list[Row]:
        """What there is to explain: kind, outcome, reason, n and one id each."""
        return self.rows("examples")


def open_database(database: Path, target: str, allow_credentialed: bool) -> Reader:
    """The built database; EhrbenchError when it is not there, or its data may not be written."""
    what = "an explanation into a file or pipe"
    return Reader(built.connect_marts(database, target, allow_credentialed, what))


def as_json(found: object) -> str:
    """JSON in ASCII: no character of the data reaches a terminal as it stands."""
    return json.dumps(found, ensure_ascii=True, indent=2).replace("\x7f", "\\u007f")
