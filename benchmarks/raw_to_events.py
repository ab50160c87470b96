"""What the way from raw MIMIC-IV files to mapped events costs beside reading the files.

Numerator: every model between a table of the source and fct_visit_events or brg_event_concepts,
by its compiled SQL. Denominator: the same files by the same readers, every column read.
"""

from __future__ import annotations

import common
import sqlglot
from sqlglot import exp

STARTS = (
    "mimic_iv.patients",
    "mimic_iv.admissions",
    "mimic_iv.diagnoses_icd",
    "mimic_iv.procedures_icd",
    "mimic_iv.prescriptions",
    "mimic_iv.d_icd_diagnoses",
    "mimic_iv.d_icd_procedures",
    "mimic_iv.emar",
)
ENDS = ("fct_visit_events", "brg_event_concepts")
READERS = ("read_csv(", "read_parquet(")
GOAL = 2.0


def reader(sql: str) -> str | None:
    """SQL that only parses the files of a staging model; None when they are not there.

    Lengths of all texts are added up: a count alone would let columns be left out.
    """
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    raw = next(cte for cte in tree.find_all(exp.CTE) if cte.alias.startswith("raw_"))
    calls = (call.sql(dialect="duckdb") for call in raw.find_all(exp.Func))
    files = next((call for call in calls if call.lower().startswith(READERS)), None)
    if files is None:
        return None
    return f"select count(*), sum(strlen(columns(* exclude (_path)))) from {files}"


def main(arguments: list[str] | None = None) -> None:
    asked = common.parser(__doc__, share=0.01).parse_args(arguments)
    report = common.Report("raw_to_events", asked)
    with common.work_folder(asked) as folder:
        raw = common.raw_files(asked, folder)
        project = common.Project.of(asked, folder / "b.duckdb", raw)
        common.say("building once, with the vocabularies")
        built = project.build(*(f"+{end}" for end in ENDS))
        wanted = common.between(project.manifest(), STARTS, ENDS)
        nodes = [node for node in built if node.name in wanted]
        staged = [node for node in nodes if node.name.startswith("stg_mimic_iv__")]
        readers = list(filter(None, (reader(node.sql) for node in staged)))
        taken: list[dict[str, common.Spent]] = []
        parsed: list[common.Spent] = []
        with project.connect() as connection:
            for number in range(asked.repeats):
                common.say(f"run {number + 1} of {asked.repeats}")
                parsed.append(
                    common.spent(lambda: [connection.execute(sql).fetchall() for sql in readers])
                )
                taken.append(common.make(connection, nodes))
            report.notes["rows"] = {
                node.name: common.rows(connection, node.relation) for node in nodes
            }
    sums = [common.total(one) for one in taken]
    pairs = list(zip(sums, parsed, strict=True))
    report.add("CPU: models / parsing", (a.cpu / b.cpu for a, b in pairs), goal=GOAL)
    report.add("wall: models / parsing", (a.wall / b.wall for a, b in pairs))
    report.add("CPU of parsing", (one.cpu for one in parsed), "s")
    report.add("CPU of the models", (one.cpu for one in sums), "s")
    for name in sorted(taken[0], key=lambda name: -taken[0][name].cpu)[:8]:
        report.add(f"  CPU of {name}", (one[name].cpu for one in taken), "s")
    report.notes["files"] = len(readers)
    report.close()


if __name__ == "__main__":
    main()
