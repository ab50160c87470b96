"""How the time of each stage grows when cohort and knowledge base are four times as large.

Two builds of all seeds and models, one at a time, of --share and of four times that; a stage is a
folder of models. The vocabulary keeps its size, so small shares flatter, but below a hundredth
templates grow faster than patients: give one that takes minutes.
"""

from __future__ import annotations

import statistics

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
# Models named of a stage that misses its goal.
NAMED = 3


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


def outgrowing(small: list[common.Node], large: list[common.Node], name: str) -> dict[str, float]:
    """Model -> t(4N) / t(N) for those of a stage that most exceed what the goal lets them take."""
    before = {node.name: max(node.seconds, 1e-3) for node in small}
    over = {
        node.name: (node.seconds - GOAL * before[node.name], node.seconds / before[node.name])
        for node in large
        if stage(node) == name
    }
    return {model: over[model][1] for model in sorted(over, key=lambda m: -over[m][0])[:NAMED]}


def main(arguments: list[str] | None = None) -> None:
    parser = common.parser(__doc__, share=0.01, repeats=1)
    parser.add_argument("--select", nargs="*", default=[], help="models (all), as dbt selects them")
    asked = parser.parse_args(arguments)
    if asked.raw:
        raise SystemExit("error: both sizes are made here: give --share instead of --raw")
    if asked.share * FACTOR > 1:
        raise SystemExit(f"error: --share may be {1 / FACTOR:g} at most: 4N has {FACTOR} times it")
    report = common.Report("scaling", asked)
    sums: list[dict[str, dict[str, float]]] = []
    for number in range(asked.repeats):
        once, built = {}, {}
        for name, share in (("N", asked.share), ("4N", asked.share * FACTOR)):
            with common.work_folder(asked) as folder:
                raw = common.write_raw(folder / "made", share)
                project = common.Project.of(asked, folder / "b.duckdb", raw)
                common.say(f"run {number + 1} of {asked.repeats}: building {name}")
                built[name] = project.build(*asked.select)
                once[name] = seconds(built[name])
                report.notes[f"models_{name}"] = {node.name: node.seconds for node in built[name]}
        sums.append(once)
    for name in (name for name in STAGES if all(once["4N"][name] for once in sums)):
        # Not a figure but noise where the stage has next to nothing to do.
        goal = GOAL if all(once["4N"][name] >= LEAST_S for once in sums) else None
        ratios = [once["4N"][name] / max(once["N"][name], 1e-3) for once in sums]
        report.add(f"{name}: t(4N) / t(N)", ratios, goal=goal)
        report.add(f"  {name} at 4N", (once["4N"][name] for once in sums), "s")
        if goal and statistics.median(ratios) > goal:
            for model, ratio in outgrowing(built["N"], built["4N"], name).items():
                report.add(f"    {model}: t(4N) / t(N)", ratio)
    report.close()


if __name__ == "__main__":
    main()
