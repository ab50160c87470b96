"""No patient in what is written for others: every synthetic one is looked for in every artefact.

In the soak one patient gets identifiers, dates, a drug and a note that occur nowhere else, and is
looked for in what every command says and writes, also where rows of it are damaged and things fail.
"""

import csv
import gzip
import io
import json
import re
import shutil
import subprocess
import sys

import duckdb
import pytest
from conftest import ROOT, ehrbench, environment
from patient_traces import in_files, in_text, of_patients, of_project, texts
from test_data_use import listener

from ehrbench import cli


@pytest.fixture(scope="module")
def patients(synthetic_build):
    found = of_patients(synthetic_build.synth / "raw")
    people = {one for one in found if one.startswith("900000") and len(one) == 8}
    assert len(found) > 20_000 and len(people) > 50 and any("-" in one for one in found)
    return found


def test_the_build_leaves_no_patient_in_logs_and_results(synthetic_build, patients):
    work = synthetic_build.artefacts.parent
    places = [synthetic_build.said, work / "logs", synthetic_build.artefacts, synthetic_build.store]
    assert all(place.exists() for place in places)
    assert (work / "logs" / "dbt.log").stat().st_size > 100_000
    assert in_files(places, patients - of_project(ROOT)) == {}


def test_commands_say_no_patient(synthetic_build, patients, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("EHRBENCH_DB", str(synthetic_build.database))
    monkeypatch.setenv("EHRBENCH_COMPLETIONS_DIR", str(synthetic_build.store))
    monkeypatch.setenv("EHRBENCH_SYNTH_DIR", str(synthetic_build.synth))
    [(triple,)] = synthetic_build.rows("select min(triple_id) from fct_triples where task = 'px'")
    [(item,)] = synthetic_build.rows("select min(item_id) from dim_items where released")
    calls = [
        *(["explain"], ["explain", triple], ["explain", item], ["explain", item, "--format", "json"]),
        *(["audit", "sample", "--raters", "1", "--out", str(tmp_path / "audit")], ["doctor"]),
    ]
    for call in calls:
        cli.cli.main(call, standalone_mode=False)
    said = capsys.readouterr()
    assert len(said.out) > 5_000
    assert in_text(said.out + said.err, patients) == set()
    assert in_files([tmp_path], patients) == {}


def test_a_patient_in_an_artefact_is_seen(synthetic_build, patients, tmp_path):
    one, day = min(patients - {p for p in patients if "-" in p}), max(p for p in patients if "-" in p)
    (tmp_path / "dbt.log").write_text(f"10:00:00.1 [info ] x\n{one},M,'{day} 10:00:00'\n")
    with gzip.open(tmp_path / "a.gz", "wt") as packed:
        packed.write(f'{{"admitted": "{day}"}}')
    with duckdb.connect() as connection:
        connection.execute(
            f"copy (select '{one}' as k, 1.5 as x) to '{tmp_path}/a.parquet' (format parquet)"
        )
    assert in_files([tmp_path], patients) == {
        f"{tmp_path.name}/a.gz": [day],
        f"{tmp_path.name}/a.parquet": [one],
        f"{tmp_path.name}/dbt.log": sorted([one, day]),
    }
    assert not in_text(f"0.{one} a{one} {one}f {one}0 {day}1", patients)


# ------------------------------------------------------------------------- one planted patient

SUBJECT, YEARS = "77771111", 700
DRUG, NOTE = "Quidnuncol", "QUIDNUNC-NOTE"
# The patient's identifiers, dates (seven hundred years on), and note; the drug is a title.
CANARY = re.compile(rf"77771111|7777000\d\d|2[89]\d\d-\d\d-\d\d|{NOTE}")


class Planted:
    """A synthetic cohort one of whose patients of MIMIC-IV is the canary."""

    def __init__(self, folder):
        self.folder, self.hosp = folder / "synth", folder / "synth" / "raw" / "mimic_iv" / "hosp"
        done = ehrbench("synth", "--patients", 60, "--out", self.folder)
        assert done.returncode == 0, done.stderr
        # It holds the same patients under other identifiers.
        shutil.rmtree(self.folder / "raw" / "omop" / "omop_mimic_iv_synth")
        admissions = self.rows("admissions")
        count = {}
        for row in admissions:
            count[row["subject_id"]] = count.get(row["subject_id"], 0) + 1
        self.real = max(sorted(count), key=count.get)
        stays = [row["hadm_id"] for row in admissions if row["subject_id"] == self.real]
        orders = [row for row in self.rows("prescriptions") if row["subject_id"] == self.real]
        self.drug = min(row["drug"] for row in orders if row["drug_type"] == "MAIN")
        self.named = {self.real: SUBJECT}
        self.named |= {stay: f"7777000{n:02}" for n, stay in enumerate(sorted(stays))}
        for file in [*self.hosp.glob("*.csv.gz"), self.folder / "truth" / "truth_planted.csv"]:
            self.rewrite(file)

    def text(self, file):
        opener = gzip.open if file.suffix == ".gz" else open
        with opener(file, "rt", encoding="utf-8", newline="") as lines:
            return lines.read()

    def write(self, file, data):
        file.write_bytes(gzip.compress(data, mtime=0) if file.suffix == ".gz" else data)

    def rows(self, table):
        return list(csv.DictReader(io.StringIO(self.text(self.hosp / f"{table}.csv.gz"))))

    def rewrite(self, file):
        """Give the patient's rows their new values."""
        lines = csv.DictReader(io.StringIO(self.text(file)))
        written = io.StringIO()
        out = csv.DictWriter(written, lines.fieldnames, lineterminator="\n")
        out.writeheader()
        for row in lines:
            if row.get("subject_id") == self.real:
                if row.get("drug") == self.drug:
                    # No code that would give it another name.
                    row |= {"drug": DRUG, "ndc": "0"}
                row = {name: self.value(name, value) for name, value in row.items()}
            out.writerow(row)
        self.write(file, written.getvalue().encode())

    def value(self, name, value):
        if name.startswith("order_provider"):
            return NOTE
        if name == "anchor_year":
            return str(int(value) + YEARS)
        later = lambda found: f"{int(found[1]) + YEARS}-{found[2]}"
        value = re.sub(r"^(\d{4})-(\d\d-\d\d)", later, value)
        return re.sub(r"\d{8,}", lambda found: self.named.get(found[0], found[0]), value)

    def damage(self, table, line):
        """Put a line of the patient into a file."""
        file = self.hosp / f"{table}.csv.gz"
        self.write(file, self.text(file).encode() + line)


@pytest.mark.soak
def test_a_planted_patient_is_nowhere(tmp_path):
    planted, said = Planted(tmp_path), []
    settings = {
        "EHRBENCH_SYNTH_DIR": planted.folder,
        "EHRBENCH_DB": tmp_path / "work" / "canary.duckdb",
        "EHRBENCH_COMPLETIONS_DIR": tmp_path / "work" / "completions",
        "DBT_EXCLUDE_RESOURCE_TYPES": "unit_test test",
    }
    work = tmp_path / "work"

    def call(*arguments, code=0, **more):
        done = ehrbench(*arguments, **{**settings, **more})
        said.append(f"{arguments}\n{done.stdout}\n{done.stderr}")
        assert done.returncode == code, (arguments, done.stdout[-1500:], done.stderr[-1500:])
        assert code == 0 or done.stderr.startswith("error: ")
        return done

    def is_clean():
        for file in work.rglob("*"):
            if file.is_file() and ".duckdb" not in file.name:
                for text in texts(file):
                    assert not CANARY.search(text), (file.name, CANARY.search(text)[0])
        for text in said:
            assert not CANARY.search(text), (text[:200], CANARY.search(text)[0])
        error_log = ROOT / "build" / "error.log"
        assert not error_log.exists() or not CANARY.search(error_log.read_text())

    call("run", "--no-generate")
    # It went all the way: the marts hold it.
    with duckdb.connect(str(settings["EHRBENCH_DB"]), read_only=True) as made:
        stays = made.execute(
            "select count(*) from dim_visits where cast(admitted_at as varchar) > '2800'"
        ).fetchall()[0][0]
        drugs = made.execute(
            "select count(*) from stg_mimic_iv__prescriptions where drug = ?", [DRUG]
        ).fetchall()[0][0]
        [(item,)] = made.execute("select min(item_id) from dim_items where released").fetchall()
        [(triple,)] = made.execute(
            "select min(triple_id) from fct_triples inner join dim_visits using (visit_key) "
            "where cast(admitted_at as varchar) > '2800'"
        ).fetchall()
        [(model,)] = made.execute(
            "select min(model) from int_requests_pending where stage = 'answers'"
        ).fetchall()
    assert stays > 0 and drugs > 0
    call("doctor")
    call("report", "--out", work / "report")
    call("export", "--out", work / "export")
    call("audit", "sample", "--out", work / "audit")
    for one in (item, triple):
        call("explain", one)
        call("explain", one, "--format", "json")
    call("compact")
    call("score-texts", "--no-bertscore")
    docs = subprocess.run(
        [
            *(sys.executable, "-m", "dbt.cli.main", "docs", "generate", "--static"),
            *("--project-dir", str(ROOT), "--profiles-dir", str(ROOT)),
            *("--target-path", str(work / "docs"), "--log-path", str(work / "docs" / "logs")),
        ],
        cwd=ROOT, env=environment(**settings), capture_output=True, text=True, check=False,
    )
    assert docs.returncode == 0, docs.stdout[-2000:]
    said.append(docs.stdout + docs.stderr)
    is_clean()

    # A server that sends every prompt back as its error.
    def echoing(path, body):
        if path.endswith("/models"):
            return 200, {}, json.dumps({"data": [{"id": model}]}).encode()
        return 400, {}, json.dumps({"error": {"message": body.decode()}}).encode()

    with listener(echoing) as (server, asked):
        call(
            *("generate", "--stage", "answers", "--model", model, "--endpoint", server),
            *("--limit", 8),
        )
        # Less those of modes that such a server does not have.
        assert sum(one.startswith("POST") for one in asked) > 5
    is_clean()

    # Marts of another shape: whatever reads them says nothing of it. What it may write is what was
    # put there, so that lies elsewhere.
    with duckdb.connect(str(settings["EHRBENCH_DB"])) as made:
        made.execute("alter table fct_item_options alter option_letter type varchar")
        made.execute(f"update fct_item_options set option_letter = '{SUBJECT}'")
        made.execute("alter table rpt_accuracy alter n type varchar")
        made.execute(f"update rpt_accuracy set n = '{SUBJECT}'")
    for arguments in (["export", "--out", tmp_path / "e2"], ["report", "--out", tmp_path / "r2"]):
        done = ehrbench(*arguments, **settings)
        said.append(done.stdout + done.stderr)
    is_clean()

    # Rows of the patient that are damaged in every way: set aside, or the build ends in one line.
    row = f"{SUBJECT},777700000,{{}},2819-01-01 10:00:00"
    damages = [
        ("patients", f"{SUBJECT},F,x,2819,2011 - 2013,2819-13-45\n".encode()),
        ("admissions", (row.format("2819-13-45 99:00:00") + ",,URGENT\n").encode()),
        ("admissions", f"{SUBJECT},777700001\n".encode()),
        ("diagnoses_icd", f"{SUBJECT},777700000,one,E119,10,{NOTE},{NOTE}\n".encode()),
        ("procedures_icd", f'{SUBJECT},777700000,1,"2819-01-01\n'.encode()),
    ]
    for table, line in damages:
        planted.damage(table, line)
    # With all tests on data, some of which such rows may fail.
    settings["DBT_EXCLUDE_RESOURCE_TYPES"] = "unit_test"
    for code in (["doctor"], ["run", "--no-generate"]):
        done = ehrbench(*code, **settings)
        said.append(done.stdout + done.stderr)
    is_clean()
    # A line that DuckDB cannot read, which it quotes.
    planted.damage("admissions", f"{SUBJECT},777700000,2819-01-01,\xff\xfe,{NOTE}\n".encode("latin-1"))
    done = ehrbench("doctor", **settings)
    said.append(done.stdout + done.stderr)
    done = call("run", "--no-generate", code=1)
    assert "admissions" in done.stderr
    log = (work / "canary" / "logs" / "dbt.log").read_text(encoding="utf-8", errors="replace")
    assert "Original Line: (not kept)" in log
    is_clean()
