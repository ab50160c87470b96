"""What the knowledge-base checks of many claims cost beside one scan of the predications.

Numerator: the portable models from the predications to fct_triple_checks on claims that the
benchmark makes from the cohort's events, in three groups: the edges, which have a goal of their
own; what looks for a claim's concepts in the visits (lift), which reads no predication; and the
checks, all the rest. Denominator: reading every column that the models name from the same Parquet
file. The triples show no context, which is no part of a claim: what their context check takes is in
profile_build.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import claims
import common

EDGES = ("int_predications_parsed", "int_predications_cleaned", "int_edges", "int_edge_roles")
COHORT = ("int_claim_pairs", "int_pair_lift", "int_own_pair_weights", "int_triple_lift")
GOAL, EDGES_GOAL_S = 1.5, 60


def main(arguments: list[str] | None = None) -> None:
    parser = common.parser(__doc__, share=0.01)
    parser.add_argument("--claims", type=int, default=100_000, help="distinct claims (%(default)s)")
    parser.add_argument(
        "--copies",
        type=int,
        default=1,
        help="times that each predication stands in the Parquet file (%(default)s)",
    )
    parser.add_argument("--database", type=Path, help="a file built from --raw: a copy is used")
    asked = parser.parse_args(arguments)
    if asked.database and not (asked.raw and asked.database.is_file()):
        parser.error("--database is a built file, and --raw what it was built from")
    report = common.Report("checks", asked)
    with common.work_folder(asked) as folder:
        raw = common.raw_files(asked, folder).resolve()
        # Compiled SQL names the database by the file's name.
        database = folder / (asked.database.name if asked.database else "b.duckdb")
        project = common.Project.of(asked, database, raw)
        if asked.database:
            shutil.copyfile(asked.database, database)
        common.say("building once, up to the checks" if asked.database is None else "compiling")
        nodes = claims.build(project, is_built=asked.database is not None)
        taken: list[dict[str, common.Spent]] = []
        scans: list[common.Spent] = []
        with project.connect() as connection:
            n = claims.make_triples(connection, asked.claims)
            file = claims.as_parquet(connection, folder, asked.copies)
            common.say(f"{n} claims")
            for number in range(asked.repeats):
                common.say(f"run {number + 1} of {asked.repeats}")
                scans.append(
                    common.spent(lambda: connection.execute(claims.scan(file)).fetchall())
                )
                taken.append(common.make(connection, nodes))
            report.notes["rows"] = {
                node.name: common.rows(connection, node.relation) for node in nodes
            }
            report.notes["predications"] = common.rows(connection, "stg_semmeddb__predications")
            report.notes["claims"] = common.rows(connection, "int_claims")
            report.notes["status"] = connection.execute(
                "select check_name, status, count(*) from fct_triple_checks "
                "group by all order by all"
            ).fetchall()
    groups = {
        "checks": [node.name for node in nodes if node.name not in (*EDGES, *COHORT)],
        "edges": EDGES,
        "cohort evidence": COHORT,
        "all three": [node.name for node in nodes],
    }
    runs = list(zip(taken, scans, strict=True))
    for group, names in groups.items():
        report.add(
            f"CPU: {group} / scan",
            (common.total(one, names).cpu / scan.cpu for one, scan in runs),
            goal=GOAL if group == "checks" else None,
        )
    report.add("edges", (common.total(one, EDGES).wall for one in taken), "s", goal=EDGES_GOAL_S)
    report.add("CPU of the scan", (scan.cpu for scan in scans), "s")
    for group, names in list(groups.items())[:3]:
        for name in sorted(names, key=lambda name: -taken[0][name].cpu):
            if taken[0][name].cpu >= 0.01 * scans[0].cpu:
                report.add(f"  {group}: CPU of {name}", (one[name].cpu for one in taken), "s")
    report.close()


if __name__ == "__main__":
    main()
