"""The completions that ship with the project still answer today's prompts."""

from ehrbench import completions, recorded
from ehrbench.completions import TEXT_SCORE, VECTOR


def test_recorded_completions_ship_within_their_size():
    found = recorded.files()
    assert set(found) == set(completions.STAGES), "make record makes them"
    known = recorded.manifest()
    others = [recorded.vectors_file(), recorded.text_scores_file(), recorded.runs_file()]
    shipped = [*found.values(), *filter(None, others)]
    assert sum(path.stat().st_size for path in shipped) <= recorded.MAX_BYTES
    for stage, path in found.items():
        table = completions.read_shard(path)
        assert table.num_rows == known["stages"][stage]["completions"]
        keys = table["request_key"].to_pylist()
        assert keys == sorted(keys) and table["error"].null_count == table.num_rows


def test_recorded_vectors_are_what_the_manifest_says():
    file = recorded.vectors_file()
    assert file is not None, "make record makes them"
    rows = completions.read_shard(file, VECTOR).to_pylist()
    for line in recorded.manifest()["embeddings"]:
        keys = [row["text_key"] for row in rows if row["model"] == line["model"]]
        assert keys == sorted(set(keys)) and len(keys) == line["texts"]
        assert {row["revision"] for row in rows if row["model"] == line["model"]} == {
            line["revision"]
        }


def test_recorded_text_scores_are_what_the_manifest_says():
    file = recorded.text_scores_file()
    assert file is not None, "make record makes them"
    rows = completions.read_shard(file, TEXT_SCORE).to_pylist()
    [line] = recorded.manifest()["text_scores"]
    keys = [row["pair_key"] for row in rows]
    assert keys == sorted(set(keys)) and len(keys) == line["pairs"] == line["with_bertscore"]
    assert {(row["model"], row["revision"]) for row in rows} == {(line["model"], line["revision"])}
    for row in rows:
        assert 0 <= row["rouge_l"] <= row["rouge_1"] <= 1 and -1 <= row["bertscore"] <= 1


def test_every_open_ended_reply_has_its_recorded_scores(synthetic_build):
    missing = synthetic_build.rows(
        "select count(*) from fct_open_scores where rouge_1 is null or bertscore is null"
    )[0][0]
    assert missing == 0, f"{missing} open-ended replies have no recorded text scores: make record"
    shown = synthetic_build.rows(
        "select distinct bertscore_model from rpt_open_ended where n > 0"
    )
    assert len(shown) == 1 and shown[0][0].startswith("all-MiniLM-L6-v2 ")


def test_every_text_has_its_recorded_vector(synthetic_build):
    missing = synthetic_build.rows("select count(*) from int_embeddings_pending")[0][0]
    assert missing == 0, f"{missing} texts have no recorded vector: make record"


def test_no_prompt_has_moved_on(synthetic_build):
    gone = recorded.orphans(synthetic_build.database)
    assert not gone, f"{len(gone)} recorded completions answer no planned request: make record"


def test_the_recorded_completions_are_used(synthetic_build):
    used = recorded.used(synthetic_build.database, synthetic_build.store)
    assert {row["stage"] for row in used} == set(completions.STAGES)
    assert all(row["n"] == row["n_recorded"] for row in used)
