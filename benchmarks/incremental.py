"""What has to be built again when something new comes in, beside building everything.

Answers of a model, one more source folder, one more policy: each is the selection that `ehrbench
run` makes or the README names, on a built database; --only names more (proposals, vectors, rating).
Its times are those of its models; the wall time of dbt itself (parsing, start) is given apart.
Most of the time is dbt's for each model, so that a small share shows as much as a large one.
"""

from __future__ import annotations

import sys

import common

from ehrbench import pipeline

WHAT = {
    "answers of one more model": pipeline.DOWNSTREAM["answers"].split(),
    "proposals of one more model": pipeline.DOWNSTREAM["extraction"].split(),
    "vectors of one more model": pipeline.DOWNSTREAM["embeddings"].split(),
    "one more source folder (mimic_iii)": ["source:mimic_iii+"],
    "one more source folder (drugbank)": ["source:drugbank+"],
    "one more policy row": ["evidence_policies+"],
    "one more rating of an audit": [
        "stg_completions__audit_ratings+",
        "stg_completions__audit_item_ratings+",
    ],
}

ONLY = ("answers", "drugbank", "policy")


def main(arguments: list[str] | None = None) -> None:
    parser = common.parser(__doc__, share=0.001, repeats=1)
    parser.add_argument(
        "--only", nargs="+", default=ONLY, help="those with one of these words (%(default)s)"
    )
    asked = parser.parse_args(arguments)
    chosen = {
        name: select for name, select in WHAT.items() if any(word in name for word in asked.only)
    }
    report = common.Report("incremental", asked)
    with common.work_folder(asked) as folder:
        project = common.Project.of(asked, folder / "b.duckdb", common.raw_files(asked, folder))
        wholes: list[float] = []
        shares: dict[str, list[tuple[int, float, float]]] = {name: [] for name in chosen}
        for number in range(asked.repeats):
            common.say(f"run {number + 1} of {asked.repeats}: building everything")
            built: list[common.Node] = []
            whole = common.spent(lambda built=built: built.extend(project.build()))
            wholes.append(sum(node.seconds for node in built))
            report.notes["whole"] = {"nodes": len(built), "wall_s": whole.wall}
            for name, select in chosen.items():
                again: list[common.Node] = []
                took = common.spent(
                    lambda again=again, select=select: again.extend(project.build(*select))
                )
                if not again:
                    sys.exit(f"error: nothing is built for {name}: {' '.join(select)}")
                seconds = sum(node.seconds for node in again)
                shares[name].append((len(again), seconds, took.wall))
                common.say(
                    f"  {name}: {len(again)} of {len(built)} models, "
                    f"{seconds:.1f} of {wholes[-1]:.1f} s"
                )
    n = report.notes["whole"]["nodes"]
    for name, runs in shares.items():
        report.add(f"{name}: models / all", (run[0] / n for run in runs))
        report.add(
            f"{name}: time / all", (run[1] / all_s for run, all_s in zip(runs, wholes, strict=True))
        )
        report.add("  with dbt's start", (run[2] for run in runs), "s")
    report.add("all models", wholes, "s")
    report.close()


if __name__ == "__main__":
    main()
