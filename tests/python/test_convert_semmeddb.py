"""SemMedDB dumps become Parquet: resumable after a kill, the same bytes again, one line when wrong.

That a build from the Parquet equals one from the dumps is in test_bad_rows.py.
"""

import gzip
import os
import resource
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from conftest import ehrbench, environment

from ehrbench.convert import semmeddb
from ehrbench.errors import EhrbenchError

NAME = "semmedVER43_2024_R_{}.csv.gz"
SENTENCES = 1000


def put(folder, table, lines, name=NAME):
    (folder / name.format(table)).write_bytes(gzip.compress(lines, mtime=0))


@pytest.fixture
def dumps(tmp_path):
    folder = tmp_path / "dumps"
    folder.mkdir()
    put(folder, "PREDICATION", b'1,7,"11","TREATS","C0000001","A\\"s","phsu",1,"C0000002","B","dsyn",\\N,\\N,\\N,\\N\n')
    put(folder, "PREDICATION_AUX", b'1,1,"a",0,0,1,2,1000,"VERB",1,2,"b",0,0,3,4,888,"2024-05-08 00:00:00"\n')
    lines = [b'%d,"11","ab",1,0,"Sentence %d, \xc3\xa9.",9,"",""\n' % (n, n) for n in range(1, SENTENCES + 1)]
    # One text over two lines, so that a part must end before its time.
    lines[499] = b'500,"11","ab",1,0,"Sentence\n500.",9,"",""\n'
    put(folder, "SENTENCE", b"".join(lines))
    put(folder, "CITATIONS", b'"11","0000-0000","1998 Jan","null",1998\n')
    put(folder, "GENERIC_CONCEPT", b'1,"C0030705","Patients"\n')
    return folder


def contents(folder):
    """Path below the folder -> bytes."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_tables_get_their_types_and_nulls(dumps, tmp_path):
    counts = semmeddb.convert_semmeddb(dumps, tmp_path / "out")
    assert counts == {
        "PREDICATION": 1, "PREDICATION_AUX": 1, "SENTENCE": SENTENCES, "CITATIONS": 1, "GENERIC_CONCEPT": 1
    }
    table = pq.read_table(tmp_path / "out/PREDICATION/part-0000000001.parquet")
    row = table.to_pylist()[0]
    assert row["predication_id"] == 1 and row["subject_name"] == 'A"s' and row["object_novelty"] is None
    assert row["fact_value"] is None and row["pmid"] == "11" and row["_problem"] is None
    kinds = {field.name: str(field.type) for field in table.schema}
    assert (kinds["predication_id"], kinds["subject_novelty"], kinds["pmid"]) == ("int64", "int32", "string")


def test_parts_are_named_by_their_first_line(dumps, tmp_path):
    semmeddb.convert_semmeddb(dumps, tmp_path / "out", ["sentence"], part_rows=300, group_rows=100)
    parts = semmeddb.parts_of(tmp_path / "out/SENTENCE")
    assert [semmeddb.first_row(part) for part in parts] == [1, 301, 502, 802]
    tables = [pq.read_table(part) for part in parts]
    assert [table.num_rows for table in tables] == [300, 200, 300, 200]
    assert tables[1].column("_problem").to_pylist()[-1] == "line_break"
    # The line of the dump is the part's name plus the place; one line was joined to the one before.
    assert tables[2].column("sentence_id")[0].as_py() == 501
    assert pq.read_metadata(parts[0]).num_row_groups == 3


def test_a_killed_conversion_goes_on_and_ends_alike(dumps, tmp_path):
    sizes = "part_rows=100, group_rows=50"
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from ehrbench.convert import semmeddb\n"
        "show, calls = semmeddb.Line.show, []\n"
        "def stop(line, count, share=None):\n"
        "    calls.append(count)\n"
        "    if len(calls) == 9: os.kill(os.getpid(), signal.SIGKILL)\n"
        "semmeddb.Line.show = stop\n"
        f"semmeddb.convert_semmeddb(Path(sys.argv[1]), Path(sys.argv[2]), ['SENTENCE'], {sizes})\n"
    )
    out = tmp_path / "out"
    killed = subprocess.run([sys.executable, "-c", code, dumps, out], env=environment(), check=False)
    assert killed.returncode == -signal.SIGKILL
    left = semmeddb.parts_of(out / ".SENTENCE.unfinished")
    assert len(left) == 4 and not (out / "SENTENCE").exists()
    before = {part.name: part.stat().st_mtime_ns for part in left}
    semmeddb.convert_semmeddb(dumps, out, ["SENTENCE"], part_rows=100, group_rows=50)
    kept = {part.name: part.stat().st_mtime_ns for part in semmeddb.parts_of(out / "SENTENCE")}
    assert before.items() <= kept.items()
    semmeddb.convert_semmeddb(dumps, tmp_path / "whole", ["SENTENCE"], part_rows=100, group_rows=50)
    assert contents(out) == contents(tmp_path / "whole")
    # A second run does nothing, another input is not mixed in.
    semmeddb.convert_semmeddb(dumps, out, ["SENTENCE"], part_rows=100, group_rows=50)
    put(dumps, "SENTENCE", b'1,"11","ab",1,0,"Other.",9,"",""\n')
    with pytest.raises(EhrbenchError, match="holds another conversion: remove it"):
        semmeddb.convert_semmeddb(dumps, out, ["SENTENCE"], part_rows=100, group_rows=50)


def test_a_plain_csv_in_upper_case_is_found(dumps, tmp_path):
    (dumps / NAME.format("CITATIONS")).unlink()
    (dumps / "SEMMEDVER43_2024_R_CITATIONS.CSV").write_bytes(b'"11","","","2001-01-01",\\N\r\n')
    assert semmeddb.convert_semmeddb(dumps, tmp_path / "out", ["CITATIONS"]) == {"CITATIONS": 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: (d / NAME.format("SENTENCE")).unlink(), "no semmedVER43_2024_R_SENTENCE.csv.gz in"),
        (
            lambda d: (d / NAME.format("SENTENCE")).rename(d / "semmedVER42_2020_R_SENTENCE.csv.gz"),
            "is of another release, only semmedVER43_2024_R is read",
        ),
        (
            lambda d: (d / NAME.format("SENTENCE")).write_bytes(
                (d / NAME.format("SENTENCE")).read_bytes()[:-2000]
            ),
            "SENTENCE.csv.gz cannot be read",
        ),
        (lambda d: (d / NAME.format("SENTENCE")).write_bytes(b"plain"), "SENTENCE.csv.gz cannot be read"),
        (lambda d: put(d, "SENTENCE", b'1,"11","ab"\n' * 3), "none of the first lines"),
    ],
)
def test_what_is_wrong_is_one_line(dumps, tmp_path, change, said):
    change(dumps)
    with pytest.raises(EhrbenchError) as error:
        semmeddb.convert_semmeddb(dumps, tmp_path / "out", ["SENTENCE"])
    assert said in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "out/SENTENCE").exists()


def test_the_command_line_says_one_line_and_where_to_point_dbt(dumps, tmp_path):
    done = ehrbench("convert", "semmeddb", dumps, "--out", tmp_path / "out", "--tables", "sentence,citations")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"now set EHRBENCH_SEMMEDDB_DIR={tmp_path / 'out'}"
    assert "SENTENCE: 1,000 rows" in done.stdout and "; 1 mended" in done.stdout
    done = ehrbench("convert", "semmeddb", tmp_path / "nowhere", "--out", tmp_path / "out")
    assert done.returncode == 1 and "is no folder" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not done.stdout


def test_a_full_disk_is_one_line(dumps, tmp_path):
    put(dumps, "SENTENCE", b"".join(
        b'%d,"11","ab",1,0,"%s",9,"",""\n' % (n, os.urandom(150).hex().encode()) for n in range(1, 2001)
    ))
    code = (
        "import sys\nfrom pathlib import Path\nfrom ehrbench.convert import semmeddb\n"
        "try:\n    semmeddb.convert_semmeddb(Path(sys.argv[1]), Path(sys.argv[2]), ['SENTENCE'],"
        " part_rows=int(sys.argv[3]), group_rows=100)\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )

    def run(part_rows, limit):
        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.run(
            [sys.executable, "-c", code, dumps, tmp_path / "out", str(part_rows)],
            env=environment(), capture_output=True, text=True, check=False, preexec_fn=limited,
        ).stdout

    said = run(1000, 50_000)
    assert "EhrbenchError no space left in" in said and len(said.splitlines()) == 1, said


def test_unknown_tables_are_named(dumps, tmp_path):
    with pytest.raises(EhrbenchError, match="no table ENTITY: --tables takes PREDICATION"):
        semmeddb.convert_semmeddb(dumps, tmp_path / "out", ["entity"])


def test_bytes_of_no_encoding_are_mended(dumps, tmp_path, capsys):
    """DuckDB stops at them; a curly apostrophe of cp1252 and a torn UTF-8 character are no reason to."""
    put(dumps, "CITATIONS", b'"11","","Patient\x92s caf\xe9","",1998\n"12","","x","",\\N\n')
    lines = [b'%d,"11","ab",1,0,"Sentence %d \xce\xb1.",9,"",""\n' % (n, n) for n in range(1, 401)]
    lines[350] = b'351,"11","ab",1,0,"Torn \xce and whole \xce\xb1.",9,"",""\n'
    put(dumps, "SENTENCE", b"".join(lines))
    counts = semmeddb.convert_semmeddb(
        dumps, tmp_path / "out", ["CITATIONS", "SENTENCE"], part_rows=100, group_rows=50
    )
    assert counts == {"CITATIONS": 2, "SENTENCE": 400}
    cited = pq.read_table(tmp_path / "out/CITATIONS/part-0000000001.parquet").to_pylist()
    assert cited[0]["dp"] == "Patient\u2019s caf\u00e9"
    last = pq.read_table(tmp_path / "out/SENTENCE/part-0000000301.parquet").to_pylist()
    assert last[50]["sentence"] == "Torn \ufffd and whole \u03b1."
    assert last[0]["sentence"] == "Sentence 301 \u03b1."
    assert "1 characters could not be told" in capsys.readouterr().out
    assert not list((tmp_path / "out").rglob("*mended*"))
