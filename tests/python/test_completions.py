"""The store: whole shards or none, one writer, nothing lost and nothing twice."""

import subprocess
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, environment

from ehrbench import completions
from ehrbench.errors import EhrbenchError


def row(key, attempt=1, **fields):
    return {
        "request_key": key,
        "attempt": attempt,
        "stage": "answers",
        "model": "m",
        "text": "A",
        "finish_reason": "stop",
        **fields,
    }


def test_shard_has_the_contract_columns_and_types(tmp_path):
    path = completions.write_shard(tmp_path, [row("k1", option_logprobs={"B": -1.5, "A": -0.5})])
    assert path.name.startswith("part-") and len(path.stem) == len("part-") + 20
    described = duckdb.sql(f"describe select * from read_parquet('{path}')").fetchall()
    assert [(name, kind) for name, kind, *_ in described] == [
        ("request_key", "VARCHAR"),
        ("attempt", "INTEGER"),
        ("stage", "VARCHAR"),
        ("model", "VARCHAR"),
        ("revision", "VARCHAR"),
        ("engine", "VARCHAR"),
        ("text", "VARCHAR"),
        ("finish_reason", "VARCHAR"),
        ("prompt_tokens", "INTEGER"),
        ("completion_tokens", "INTEGER"),
        ("option_logprobs", "VARCHAR"),
        ("latency_ms", "BIGINT"),
        ("error", "VARCHAR"),
        ("schema_version", "INTEGER"),
    ]
    found = completions.read_shard(path).to_pylist()[0]
    assert found["option_logprobs"] == '{"A": -0.5, "B": -1.5}'
    assert found["schema_version"] == 1


def test_name_is_a_function_of_the_keys():
    first = completions.shard_name([("a", 1), ("b", 1)])
    assert first == completions.shard_name([("b", 1), ("a", 1)])
    assert first != completions.shard_name([("a", 2), ("b", 1)])
    assert first != completions.shard_name([("a", 1)])


def test_a_temporary_file_is_never_a_shard_and_is_cleared(tmp_path):
    with completions.lock(tmp_path, "answers", "m") as folder:
        completions.write_shard(folder, [row("k1")])
        (folder / ".part-dead.parquet.tmp").write_bytes(b"half a shard")
        assert len(completions.shards(tmp_path)) == 1
    glob = f"{tmp_path}/**/*.parquet"
    assert duckdb.sql(f"select count(*) from read_parquet('{glob}')").fetchall() == [(1,)]
    with completions.lock(tmp_path, "answers", "m") as folder:
        assert not list(folder.glob(".*.tmp"))


def test_one_writer_at_a_time_and_the_lock_ends_with_the_process(tmp_path):
    code = (
        "import sys, time, pathlib\n"
        "from ehrbench import completions\n"
        "with completions.lock(pathlib.Path(sys.argv[1]), 'answers', 'm'):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(60)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    )
    try:
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(EhrbenchError, match=f"process {holder.pid}"),
            completions.lock(tmp_path, "answers", "m"),
        ):
            pass
        with completions.lock(tmp_path, "extraction", "m"):
            pass
    finally:
        holder.kill()
        holder.wait()
    with completions.lock(tmp_path, "answers", "m"):
        pass


def test_compact_keeps_every_row_once(tmp_path):
    folder = completions.model_dir(tmp_path, "answers", "m")
    completions.write_shard(folder, [row("k1", error="timeout: x"), row("k2")])
    completions.write_shard(folder, [row("k1", attempt=2)])
    completions.write_shard(folder, [row("k3", option_logprobs={"A": -1.0})])
    assert completions.compact(tmp_path, "answers", "m") == (3, 4)
    shards = completions.shards(tmp_path)
    assert len(shards) == 1
    table = completions.read_shard(shards[0])
    keys = list(zip(table["request_key"].to_pylist(), table["attempt"].to_pylist(), strict=True))
    assert keys == [("k1", 1), ("k1", 2), ("k2", 1), ("k3", 1)]
    assert shards[0].name == completions.shard_name(keys)
    assert completions.compact(tmp_path, "answers", "m") == (1, 4)
    assert completions.shards(tmp_path) == shards


def test_a_compaction_cut_off_before_it_removed_anything_is_mended(tmp_path):
    folder = completions.model_dir(tmp_path, "answers", "m")
    old = [completions.write_shard(folder, [row(f"k{i}")]) for i in range(3)]
    kept = [(path, path.read_bytes()) for path in old]
    completions.compact(tmp_path, "answers", "m")
    for path, content in kept:  # as if the process had died right after the rename
        path.write_bytes(content)
    assert len(completions.shards(tmp_path)) == 4
    assert completions.check_store(tmp_path) == 3
    assert len(completions.shards(tmp_path)) == 1


def test_compact_merges_duplicates_that_slipped_in(tmp_path):
    folder = completions.model_dir(tmp_path, "answers", "m")
    completions.write_shard(folder, [row("k1"), row("k2")])
    completions.write_shard(folder, [row("k1")])
    assert completions.compact(tmp_path, "answers", "m") == (2, 2)


def test_bad_shards_are_named_in_one_line(tmp_path):
    folder = completions.model_dir(tmp_path, "answers", "m")
    good = completions.write_shard(folder, [row("k1")])
    torn = folder / "part-torn.parquet"
    torn.write_bytes(good.read_bytes()[:-20])
    with pytest.raises(EhrbenchError, match="part-torn.parquet is not a readable Parquet"):
        completions.check_store(tmp_path)
    torn.unlink()
    pq.write_table(pa.table({"request_key": ["k"]}), torn)
    with pytest.raises(EhrbenchError, match="column attempt is missing"):
        completions.check_store(tmp_path)
    newer = completions.to_table([row("k9")]).set_column(
        completions.SCHEMA.get_field_index("schema_version"),
        completions.SCHEMA.field("schema_version"),
        pa.array([2], pa.int32()),
    )
    pq.write_table(newer, torn)
    with pytest.raises(EhrbenchError, match="schema version 2"):
        completions.check_store(tmp_path)


def test_the_manifest_of_runs_is_no_completion(tmp_path):
    row = {"run_id": "r1", "mode": "choice", "stage": "answers", "model": "m", "n_asked": 3}
    file = completions.model_dir(tmp_path, completions.RUNS, "m") / "r1.parquet"
    completions.write_table(file, completions.to_table([row], completions.RUN))
    assert completions.completion_shards(tmp_path) == []
    assert completions.stage_models(tmp_path) == []
    assert completions.check_store(tmp_path) == 1
    pq.write_table(pa.table({"run_id": ["r1"]}), file)
    with pytest.raises(EhrbenchError, match="no runs shard: column mode is missing"):
        completions.check_store(tmp_path)


def test_an_empty_store_still_has_a_file_to_read(tmp_path):
    completions.ensure_store(tmp_path)
    completions.ensure_store(tmp_path)
    found = completions.shards(tmp_path)
    assert len(found) == 1 and completions.read_shard(found[0]).num_rows == 0


@pytest.mark.parametrize(
    ("name", "folder"),
    [("org/Model-8B", "org_Model-8B"), ("../../etc", ".._.._etc"), ("gpt 5.2", "gpt_5.2")],
)
def test_a_model_name_cannot_leave_the_store(tmp_path, name, folder):
    assert completions.model_dir(tmp_path, "answers", name) == tmp_path / "answers" / folder


def test_a_model_name_of_dots_is_refused(tmp_path):
    with pytest.raises(EhrbenchError, match="cannot name a folder"):
        completions.model_dir(tmp_path, "answers", "..")
