"""How the time of each stage grows when cohort and knowledge base are four times as large.

Two builds of all seeds and models, one at a time, of --share and of four times that; a stage is a
folder of models. The vocabulary keeps its size, so small shares flatter: give one that takes
minutes.
"""

from __future__ import annotations

import common

STAGES = (
    "staging",
    "terminology",
    "trajectories",
    "knowledge",
    "extraction",
    "validation",
    "items",
    "leakage",
    "evaluation",
    "marts",
)
FACTOR, GOAL = 4, 4.4
# A stage that takes less than this at the larger size says nothing.
LEAST_S = 2.0


def stage(node: common.Node) -> str | None:
    """The stage of a model, by its folder."""
    parts = node.folder.split("/")
    return next((part for part in parts if part in STAGES), None)


def seconds(nodes: list[common.Node]) -> dict[str, float]:
    """Stage -> seconds of its models."""
    found = dict.fromkeys(STAGES, 0.0)
    for node in nodes:
        if stage(node):
            found[stage(node)] += node.seconds
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = common.parser(__doc__, share=0.01, repeats=1)
    parser.add_argument("--select", nargs="*", default=[], help="models (all), as dbt selects them")
    asked = parser.parse_args(arguments)
    if asked.raw:
        raise SystemExit("error: both sizes are made here: give --share instead of --raw")
    report = common.Report("scaling", asked)
    sums: list[dict[str, dict[str, float]]] = []
    for number in range(asked.repeats):
        once = {}
        for name, share in (("N", asked.share), ("4N", asked.share * FACTOR)):
            with common.work_folder(asked) as folder:
                raw = common.write_raw(folder / "made", share)
                project = common.Project.of(asked, folder / "b.duckdb", raw)
                common.say(f"run {number + 1} of {asked.repeats}: building {name}")
                nodes = project.build(*asked.select)
                once[name] = seconds(nodes)
                report.notes[f"models_{name}"] = {node.name: node.seconds for node in nodes}
        sums.append(once)
    for name in (name for name in STAGES if all(once["4N"][name] for once in sums)):
        # Not a figure but noise where the stage has next to nothing to do.
        goal = GOAL if all(once["4N"][name] >= LEAST_S for once in sums) else None
        ratios = [once["4N"][name] / max(once["N"][name], 1e-3) for once in sums]
        report.add(f"{name}: t(4N) / t(N)", ratios, goal=goal)
        report.add(f"  {name} at 4N", (once["4N"][name] for once in sums), "s")
    report.close()


if __name__ == "__main__":
    main()
