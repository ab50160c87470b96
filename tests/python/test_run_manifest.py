"""rpt_run_manifest covers every table that a release is made of."""

NOT_INPUTS = ("stg_completions__", "stg_truth__", "stg_mimic_iv__manifest")


def test_every_input_is_in_the_manifest(manifest):
    staging = {
        name
        for name, node in manifest["nodes"].items()
        if node["resource_type"] == "model"
        and node["original_file_path"].startswith("models/staging/")
        and not node["name"].startswith(NOT_INPUTS)
    }
    report = manifest["nodes"]["model.ehrbench.rpt_run_manifest"]
    assert sorted(staging - set(report["depends_on"]["nodes"])) == []
