"""Damaged raw files, one by one: tests/fixtures/bad_input.csv says what each of them gives.

A row is a source's file, a damage and what is to come of it in the build and in `ehrbench doctor`:
it `reads` with so many rows kept and these reasons against the others, or it `stops` with one line
that holds these words. The damage `row` puts a line below three sound ones and is counted by
itself. The models are rendered in this process (raw_renderer), since a dbt call takes seconds;
`make soak` puts the same files before dbt.
"""

import csv
import json
import os
import re
import shutil
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import bad_input
import duckdb
import pyarrow.parquet as pq
import pytest
from conftest import ROOT
from raw_renderer import Renderer, model_files
from raw_renderer import seeds as seed_nodes

from ehrbench import doctor, seeds
from ehrbench.convert.semmeddb import convert_semmeddb
from ehrbench.dbt import first_failure
from ehrbench.macros import Stopped
from ehrbench.paths import variable

TABLE = ROOT / "tests" / "fixtures" / "bad_input.csv"
N_SOUND = 3
# What lies between a source's staging and the rows that were set aside.
BETWEEN = {
    "omop": ["int_omop__concepts", "int_omop__persons_checked", "int_omop__visits_checked"],
    "semmeddb": ["int_semmeddb__duplicate_rows"],
    "umls": ["int_retired_cuis"],
}
JUDGED = {"atc": "int_icd__bad_rows", "completions": "int_completions_checked"}
ALONG = {"atc": ["icd"], "icd": ["atc"]}


@dataclass(frozen=True)
class Case:
    """A row of the table."""

    source: str
    table: str
    damage: str
    content: str
    outcome: str
    kept: int
    says: str
    doctor: str

    @property
    def place(self) -> tuple[str, str]:
        return self.source, self.table


def cases() -> list[Case]:
    with TABLE.open(encoding="utf-8", newline="") as lines:
        return [Case(**{**row, "kept": int(row["kept"] or 0)}) for row in csv.DictReader(lines)]


CASES = cases()


def model_of(source: str, table: str) -> str:
    """The staging model that reads a file."""
    read = re.compile(rf"raw\('{source}', '{table}'\)|rrf_lines\('{table}'")
    [name] = [
        name
        for name, file in model_files().items()
        if name.startswith(f"stg_{source}__") and read.search(file.read_text(encoding="utf-8"))
    ]
    return name


@cache
def declared() -> dict[str, list[doctor.Table]]:
    return doctor.declared_sources(ROOT)


class Bench:
    """A source's clean files, read; one of them is damaged and read again at a time."""

    def __init__(self, source: str, folder: Path):
        self.source, self.folder = source, folder
        self.connection = duckdb.connect()
        self.connection.execute("set threads = 1")
        self.renderer = Renderer(self.connection)
        self.files = dict(bad_input.CSV.get(source, {}))
        for name, text in self.files.values():
            bad_input.write(folder / name, text)
        self.parquet = bad_input.PARQUET.get(source, {})
        for name, columns in self.parquet.values():
            bad_input.write_parquet(folder / name, columns)
        self.renderer.variables = {variable(source): str(folder)}
        for one in (source, *ALONG.get(source, ())):
            for name in model_files():
                if name.startswith(f"stg_{one}__"):
                    self.renderer.build(name)
        self.judged = JUDGED.get(source, f"int_{source}__bad_rows")
        for name in (*BETWEEN.get(source, ()), self.judged):
            for one in re.findall(r"ref\('(\w+)'\)", model_files()[name].read_text("utf-8")):
                if one in seed_nodes():
                    self.renderer.load(one)
            self.renderer.build(name, "view")

    def build(self, table: str) -> str | None:
        """Read a table; returns the line that a user sees when that stops."""
        name, compiled = model_of(self.source, table), ""
        head = f"Error in model {name} (models/staging/x.sql)\n  "
        try:
            compiled = self.renderer.render(name)
            self.connection.execute(f"create or replace table {name} as {compiled}")
        except Stopped as error:
            message = f"Compilation {head}{error}\n  \n  > in macro raw (macros/raw.sql)"
        except duckdb.Error as error:
            message = f"Runtime {head}" + str(error).replace("\n", "\n  ")
        else:
            return None
        results = self.folder.with_suffix(".json")
        results.write_text(
            json.dumps(
                {
                    "results": [
                        {
                            "status": "error",
                            "unique_id": f"model.ehrbench.{name}",
                            "message": message,
                            "compiled_code": compiled,
                        }
                    ]
                }
            )
        )
        return first_failure(results, [])

    def kept(self, table: str) -> int:
        """Rows that were read and not set aside."""
        [(n,)] = self.query(f"select count(*) from {model_of(self.source, table)}")
        return n - sum(action == "set_aside" for _, _, action in self.bad_rows(table))

    def bad_rows(self, table: str) -> list[tuple]:
        """Row (0 where it has none), reason and action."""
        if self.source == "completions":
            if table != "completions":
                return []
            return self.query(
                f"select 0, set_aside_reason, 'set_aside' from {self.judged} "
                "where set_aside_reason is not null"
            )
        site = "site_a" if self.source == "omop" else self.source
        return self.query(
            f"select row, reason, action from {self.judged} "
            f"where source_table = '{site}.{table}' order by row, reason"
        )

    def query(self, sql: str) -> list[tuple]:
        return self.connection.execute(sql).fetchall()

    def doctor(self, table: str) -> str:
        """What doctor says about the source: `ok`, or its problems.

        Values are looked at in the one file only, which saves seconds.
        """
        os.environ[variable(self.source)] = str(self.folder)
        tables = [one for one in declared()[self.source] if one.name == table or not one.looks]
        try:
            found = doctor.check_source(self.source, tables, "full")
        finally:
            del os.environ[variable(self.source)]
        if all(one.state == doctor.OK and not one.more for one in found):
            return "ok"
        said = "; ".join(part for one in found for part in (one.text, *one.more))
        for folder in (doctor.shown(self.folder), str(self.folder)):
            said = said.replace(f"{folder}/", "")
        return said

    def path(self, table: str) -> Path:
        return self.folder / (self.files.get(table) or self.parquet[table])[0]

    def damage(self, case: Case) -> None:
        """Put the damaged file in the place of the clean one."""
        path = self.path(case.table)
        self.clear(path)
        if case.table in self.parquet:
            columns = self.parquet[case.table][1]
            bad_input.damage_parquet(path, columns, case.damage, case.content)
        else:
            bad_input.damage(path, self.files[case.table][1], case.damage, case.content)

    def restore(self, table: str) -> None:
        path = self.path(table)
        self.clear(path)
        if table in self.parquet:
            bad_input.write_parquet(path, self.parquet[table][1])
        else:
            bad_input.write(path, self.files[table][1])

    @staticmethod
    def clear(path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def benches(tmp_path_factory):
    """Source -> its bench, made when it is first asked for."""
    place, made = tmp_path_factory.mktemp("bad_input"), {}

    def bench(source: str) -> Bench:
        if source not in made:
            made[source] = Bench(source, place / source)
        return made[source]

    yield bench
    for one in made.values():
        one.connection.close()


def reasons(rows: list[tuple]) -> str:
    """Reasons and actions, counted, in the words of the table."""
    counted = Counter(f"{reason} {action}" for _, reason, action in rows)
    return "; ".join(f"{n} {said}" for said, n in sorted(counted.items()))


def outcome(bench: Bench, case: Case) -> tuple[str, int, str]:
    """What comes of a damaged file: the table's columns outcome, kept and says."""
    line = bench.build(case.table)
    if line is not None:
        return "stops", 0, line.replace(str(bench.folder) + "/", "")
    return "reads", bench.kept(case.table), reasons(bench.bad_rows(case.table))


FILES = [case for case in CASES if case.damage != "row" and case.source != "seeds"]
SEEDS = [case for case in CASES if case.source == "seeds"]


@pytest.mark.parametrize(
    "case", FILES, ids=[f"{one.source}.{one.table}: {one.damage}" for one in FILES]
)
def test_a_damaged_file_gives_what_the_table_says(benches, case):
    bench = benches(case.source)
    bench.damage(case)
    try:
        state, kept, says = outcome(bench, case)
        doctor_says = "" if case.source == "completions" else bench.doctor(case.table)
    finally:
        bench.restore(case.table)
    assert (state, kept) == (case.outcome, case.kept), says
    if state == "stops":
        missing = [words for words in case.says.split(" | ") if words not in says]
        assert not missing, says
        # One line, which ends in its mend, and holds no row.
        assert "\n" not in says and ": " in says and "Traceback" not in says
        assert "Original Line" not in says
    else:
        assert says == case.says
    if case.doctor == "ok":
        assert doctor_says == "ok"
    else:
        assert case.doctor in doctor_says
        assert "\n" not in doctor_says


ROWS = {
    place: [case for case in CASES if case.damage == "row" and case.place == place]
    for place in sorted({case.place for case in CASES if case.damage == "row"})
    if place[0] != "seeds"
}


@pytest.mark.parametrize("place", ROWS, ids=".".join)
def test_each_bad_row_is_counted_by_itself(benches, place):
    """Three sound rows, then the table's; each has its own reason or none."""
    bench, (source, table) = benches(place[0]), place
    path = bench.path(table)
    if table in bench.parquet:
        columns = bench.parquet[table][1]
        first = {name: cells[0] for name, cells in columns.items()}
        rows = [first | json.loads(case.content) for case in ROWS[place]]
        bad_input.write_parquet(
            path, {name: cells + [row[name] for row in rows] for name, cells in columns.items()}
        )
    else:
        lines = "".join(case.content + "\n" for case in ROWS[place])
        bad_input.write(path, bench.files[table][1] + lines)
    try:
        line = bench.build(table)
        assert line is None, line
        found = bench.bad_rows(table)
        kept = bench.kept(table)
    finally:
        bench.restore(table)
    wanted = [
        (N_SOUND + number if source != "completions" else 0, *case.says.split(" "))
        for number, case in enumerate(ROWS[place], start=1)
        if case.says
    ]
    assert sorted(found) == sorted(wanted)
    assert kept == N_SOUND + sum(case.kept for case in ROWS[place])
    for case in ROWS[place]:
        assert (case.kept == 0) == case.says.endswith(" set_aside"), case


def test_clean_files_are_read_without_a_word(benches):
    for source in {case.source for case in FILES}:
        bench = benches(source)
        for table in (*bench.files, *bench.parquet):
            assert bench.build(table) is None
        for table in (*bench.files, *bench.parquet):
            assert (bench.kept(table), bench.bad_rows(table)) == (N_SOUND, []), (source, table)
        if source != "completions":
            assert bench.doctor(table) == "ok", source


# ---------------------------------------------------------------------------- converted dumps


@pytest.fixture(scope="module")
def converted(benches, tmp_path_factory):
    """The clean dumps as Parquet."""
    out = tmp_path_factory.mktemp("converted")
    convert_semmeddb(benches("semmeddb").folder, out)
    return out


@pytest.mark.parametrize(
    ("change", "said", "doctor_said"),
    [
        (lambda table: table, "", "ok"),
        (lambda table: table.select(table.column_names[::-1]), "", "ok"),
        (
            lambda table: table.drop_columns(["predicate"]),
            "column predicate is missing in PREDICATION/part-0000000001.parquet; convert it again",
            "column predicate is missing in PREDICATION/part-0000000001.parquet; convert it again",
        ),
        (
            lambda table: table.rename_columns(
                ["pred" if name == "predicate" else name for name in table.column_names]
            ),
            "column predicate is missing in PREDICATION/part-0000000001.parquet; convert it again",
            "column predicate is missing in PREDICATION/part-0000000001.parquet; convert it again",
        ),
        (lambda table: None, "PREDICATION/part-0000000001.parquet': fetch", "is not Parquet"),
    ],
    ids=["as it is", "reordered", "missing column", "renamed column", "half of the file"],
)
def test_a_damaged_converted_dump(benches, converted, change, said, doctor_said, monkeypatch):
    bench = benches("semmeddb")
    file = converted / "PREDICATION" / "part-0000000001.parquet"
    sound = file.read_bytes()
    table = change(pq.read_table(file))
    if table is None:
        file.write_bytes(sound[: len(sound) // 2])
    else:
        pq.write_table(table, file)
    monkeypatch.setattr(bench, "folder", converted)
    monkeypatch.setattr(bench.renderer, "variables", {variable("semmeddb"): str(converted)})
    try:
        line, doctor_line = bench.build("predication"), bench.doctor("predication")
    finally:
        file.write_bytes(sound)
    assert said in line.replace(f"{converted}/", "") if said else line is None
    assert doctor_said in doctor_line
    if not said:
        assert (bench.kept("predication"), bench.bad_rows("predication")) == (N_SOUND, [])


# ------------------------------------------------------------------------------- whole folders


NAMES = (
    *("x'); drop table t; --", "[a-z]", "Ünïcödé–名前", "two words", "it's", 'quo"ted', "a*b"),
    *("{{ 1 / 0 }}", "{% raw %}", "$HOME;ls", "#1", "%20", "two\nlines", "C,D"),
)


@pytest.mark.parametrize(
    ("source", "table"),
    [
        *(("mimic_iv", "patients"), ("mimic_iv", "emar"), ("mimic_iii", "diagnoses_icd")),
        *(("omop", "person"), ("umls", "mrconso"), ("semmeddb", "sentence"), ("icd", "i9_gems")),
        *(("drugbank", "vocabulary"), ("pubmed", "articles"), ("completions", "completions")),
        ("atc", "atc_codes"),
    ],
)
def test_a_folder_may_have_any_name(source, table, tmp_path, monkeypatch):
    with duckdb.connect() as connection:
        connection.execute("create table t as select 1 as x")
        renderer = Renderer(connection)
        name = model_of(source, table)
        for number, named in enumerate(NAMES):
            folder = tmp_path / named
            if table in bad_input.PARQUET.get(source, {}):
                file, columns = bad_input.PARQUET[source][table]
                bad_input.write_parquet(folder / file, columns)
            else:
                file, text = bad_input.CSV[source][table]
                bad_input.write(folder / file, text)
            renderer.variables = {variable(source): str(folder)}
            renderer.build(name)
            [(n,)] = connection.execute(f"select count(*) from {name}").fetchall()
            assert n == N_SOUND, named
            monkeypatch.setenv(variable(source), str(folder))
            if source != "completions" and number < 3:
                tables = [one for one in declared()[source] if one.name == table]
                assert doctor.check_source(source, tables, "full")[0].state == doctor.OK, named
        assert connection.execute("from t").fetchall() == [(1,)]


@pytest.mark.parametrize(("named", "said"), [("what?", "question mark"), ("a\\b", "backslash")])
def test_a_name_that_duckdb_cannot_read_is_said(named, said, tmp_path, monkeypatch):
    """Such a source would be read as empty."""
    file, text = bad_input.CSV["mimic_iv"]["patients"]
    bad_input.write(tmp_path / named / file, text)
    with duckdb.connect() as connection:
        renderer = Renderer(connection)
        renderer.variables = {variable("mimic_iv"): str(tmp_path / named)}
        with pytest.raises(Stopped) as stopped:
            renderer.build("stg_mimic_iv__patients")
    assert said in str(stopped.value) and f"rename it in {tmp_path / named}" in str(stopped.value)
    monkeypatch.setenv(variable("mimic_iv"), str(tmp_path / named))
    tables = [one for one in declared()["mimic_iv"] if one.name == "patients"]
    [found] = doctor.check_source("mimic_iv", tables, "full")
    assert found.state == doctor.WRONG and said in found.text


def test_numbers_at_the_edge_stop_nothing(benches):
    """An anchor year and age whose difference no integer holds give no year of birth."""
    bench = benches("mimic_iv")
    name, text = bench.files["patients"]
    lines = "20,F,52,2147483647,,\n21,F,-2147483648,2147483647,,\n22,F,99999999999,2150,,\n"
    bad_input.write(bench.folder / name, text + lines)
    try:
        assert bench.build("patients") is None
        bench.renderer.build("int_mimic_iv__patients")
        years = bench.query(
            "select birth_year from int_mimic_iv__patients where patient_id in ('20', '21', '22') "
            "order by patient_id"
        )
    finally:
        bench.restore("patients")
    assert years == [(2147483595,), (None,), (None,)]


def test_the_table_covers_what_it_should():
    """At least a hundred inputs, each source, each kind of damage that has a name here."""
    assert len(CASES) >= 100
    assert len({(*case.place, case.damage, case.content) for case in CASES}) == len(CASES)
    wanted = {*bad_input.CSV, *bad_input.PARQUET}
    assert {case.source for case in CASES} == {*wanted, "seeds"}
    assert {case.damage for case in FILES} >= {*bad_input.WRITTEN, *bad_input.PACKED}
    # Every table of a source that a user brings has a row.
    assert {case.place for case in CASES} >= {
        (source, table) for source, tables in bad_input.CSV.items() for table in tables
    }


# -------------------------------------------------------------------- seeds that users edit


@pytest.fixture(scope="module")
def seeds_root(tmp_path_factory):
    """A project that has seeds alone."""
    root = tmp_path_factory.mktemp("seeds")
    shutil.copytree(ROOT / "seeds", root / "seeds")
    return root


@pytest.mark.parametrize("case", SEEDS, ids=[f"{one.table}: {one.damage}" for one in SEEDS])
def test_a_damaged_seed_gives_what_the_table_says(seeds_root, case):
    """As ehrbench doctor and ehrbench run say it, before dbt reads the seed."""
    path = seeds_root / "seeds" / f"{case.table}.csv"
    text = path.read_text(encoding="utf-8")
    try:
        if case.damage == "row":
            bad_input.write(path, text + case.content + "\n")
        else:
            bad_input.damage(path, text, case.damage, case.content)
        found = seeds.problems(seeds_root)
    finally:
        bad_input.write(path, text)
    if case.outcome == "reads":
        assert found == []
    else:
        [line] = found
        assert line.startswith(f"seeds/{case.table}.csv: ") and case.says in line
        assert "\n" not in line


def test_every_seed_is_what_its_yml_says():
    assert seeds.problems(ROOT) == []


# ---------------------------------------------------------------------------- the same before dbt


def every_clean_file(place: Path) -> dict[str, Path]:
    """Folders of all sources, clean: variable -> folder."""
    folders = {}
    for source in {*bad_input.CSV, *bad_input.PARQUET}:
        folders[variable(source)] = place / source
        for name, text in bad_input.CSV.get(source, {}).values():
            bad_input.write(place / source / name, text)
        for name, columns in bad_input.PARQUET.get(source, {}).values():
            bad_input.write_parquet(place / source / name, columns)
    return folders


def rounds() -> list[list[Case]]:
    """The damaged files, so that no file has two in a round."""
    made: list[list[Case]] = []
    for case in FILES:
        free = [one for one in made if case.place not in {other.place for other in one}]
        if not free:
            made.append([])
            free = made[-1:]
        free[0].append(case)
    return made


@pytest.mark.soak
def test_dbt_stops_at_the_same_files_with_the_same_line(tmp_path, full_project):
    """Each round of damaged files in one dbt run: what the table says, from dbt's own results."""
    n_stopped = n_read = 0
    for number, damaged in enumerate(rounds()):
        place = tmp_path / str(number)
        folders = every_clean_file(place)
        for case in damaged:
            is_parquet = case.table in bad_input.PARQUET.get(case.source, {})
            tables = bad_input.PARQUET if is_parquet else bad_input.CSV
            name, content = tables[case.source][case.table]
            path = place / case.source / name
            path.unlink()
            put = bad_input.damage_parquet if is_parquet else bad_input.damage
            put(path, content, case.damage, case.content)
        full_project.run("run", "--select", "staging", **folders)
        results = {
            result["unique_id"].split(".")[-1]: result
            for result in full_project.artefact("run_results.json")["results"]
        }
        for case in damaged:
            result = results[model_of(*case.place)]
            if case.outcome == "reads":
                assert result["status"] == "success", (case, result["message"])
                n_read += 1
                continue
            alone = tmp_path / "one.json"
            alone.write_text(json.dumps({"results": [result]}))
            line = first_failure(alone, []).replace(f"{place / case.source}/", "")
            assert all(words in line for words in case.says.split(" | ")), (case, line)
            n_stopped += 1
    print(f"{len(rounds())} dbt runs: {n_stopped} files stop their model, {n_read} are read")


@pytest.mark.soak
def test_every_set_aside_row_is_in_the_quarantine(tmp_path, full_project):
    """The bad rows of the table, in all files at once, as the marts of a build show them."""
    folders = every_clean_file(tmp_path)
    for (source, table), rows in ROWS.items():
        if table in bad_input.CSV.get(source, {}):
            name, text = bad_input.CSV[source][table]
            lines = "".join(case.content + "\n" for case in rows)
            bad_input.write(tmp_path / source / name, text + lines)
    rows = full_project.build(
        tmp_path,
        *("build", "--select", "+fct_quarantine", "+rpt_quarantine", "assert_bad_rows_are_counted"),
        *("--exclude-resource-type", "unit_test", "--indirect-selection", "empty"),
        **folders,
    )
    found = Counter(rows("select source_table, reason, action from fct_quarantine"))
    counted = {row[:2]: row[2] for row in rows("select * from rpt_quarantine")}
    wanted = Counter(
        ({"omop": "site_a"}.get(case.source, case.source) + f".{case.table}", *case.says.split(" "))
        for case in CASES
        if case.damage == "row" and case.says and case.table in bad_input.CSV.get(case.source, {})
    )
    assert found == wanted
    # Predications are counted with reasons of their own; stays only say which patients count.
    apart = {"semmeddb.predication": 0, "mimic_iii.icustays": 0}
    for (table, reason, action), n in wanted.items():
        if action == "set_aside" and table in apart:
            apart[table] += n
        elif action == "set_aside":
            assert counted.get((table, reason), 0) >= n, (table, reason, counted)
    n_predications = sum(n for (table, _), n in counted.items() if table == "semmeddb.predication")
    assert n_predications >= apart["semmeddb.predication"]
    print(f"{sum(wanted.values())} rows in the quarantine, {len(counted)} counts")


def test_whoever_takes_the_first_line_reads_with_one_thread():
    """Without an order of rows two threads race for it, and only in files of several buffers."""
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "macros").glob("*.sql")]
    reading = re.compile(r"read_csv\(.*?(?:run_query|$)", re.S)
    parts = [part for text in texts for part in reading.findall(text)]
    taken = [part for part in parts if re.search(r"limit 1\b", part)]
    assert taken
    assert all("parallel = false" in part.split("limit 1")[0] for part in taken)
