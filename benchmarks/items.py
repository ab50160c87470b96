"""How long the items and their leak findings take on a built database.

Builds the models of the folders items and leakage that dim_items and fct_leak_findings need, and
these, anew on a copy of the database; the time is also given for as many items as the whole
release makes, in proportion.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import common

ENDS = ("dim_items", "fct_item_options", "fct_answer_keys", "fct_templates", "fct_leak_findings")
START = "int_template_candidates"
FOLDERS = ("intermediate/items", "intermediate/leakage", "marts/benchmark")
RELEASE_ITEMS, GOAL_S = 960_000, 600


def main(arguments: list[str] | None = None) -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--target", default="synthetic", help="target (%(default)s)")
    parser.add_argument("--database", type=Path, help="the built file (that of the target)")
    asked = parser.parse_args(arguments)
    from ehrbench import paths

    source = asked.database or paths.database(asked.target)
    if not source.is_file():
        sys.exit(f"error: {source} is not there: run make demo first, or name one with --database")
    report = common.Report("items", asked)
    with common.work_folder(asked) as folder:
        # Compiled SQL names the database by the file's name.
        database = folder / source.name
        shutil.copyfile(source, database)
        project = common.Project.of(asked, database)
        project.target = asked.target
        project.run("parse")
        wanted = common.between(project.manifest(), [START], ENDS)
        names = sorted(
            node["name"]
            for node in project.manifest()["nodes"].values()
            if node["name"] in wanted
            and "/".join(Path(node["original_file_path"]).parts[1:-1]).startswith(FOLDERS)
        )
        runs = []
        for number in range(asked.repeats):
            common.say(f"run {number + 1} of {asked.repeats}: {len(names)} models")
            runs.append(project.build(*names))
        with project.connect() as connection:
            n = common.rows(connection, "dim_items")
            report.notes["items"] = n
            report.notes["findings"] = common.rows(connection, "fct_leak_findings")
    sums = [sum(node.seconds for node in nodes) for nodes in runs]
    report.add(f"items and leak findings of {n} items", sums, "s", goal=GOAL_S)
    report.add(
        f"in proportion for {RELEASE_ITEMS} items",
        (seconds * RELEASE_ITEMS / max(n, 1) for seconds in sums),
        "s",
    )
    by_model = [{node.name: node.seconds for node in nodes} for nodes in runs]
    for name in sorted(by_model[0], key=lambda name: -by_model[0][name])[:10]:
        report.add(f"  {name}", (one[name] for one in by_model), "s")
    report.close()


if __name__ == "__main__":
    main()
