"""rpt_run_manifest covers every table that a release is made of."""

import re

NOT_INPUTS = re.compile(r"stg_(completions|truth)__|stg_\w+__manifest$")


def test_every_input_is_in_the_manifest(manifest):
    staging = {
        name
        for name, node in manifest["nodes"].items()
        if node["resource_type"] == "model"
        and node["original_file_path"].startswith("models/staging/")
        and not NOT_INPUTS.match(node["name"])
    }
    report = manifest["nodes"]["model.ehrbench.rpt_run_manifest"]
    assert sorted(staging - set(report["depends_on"]["nodes"])) == []
