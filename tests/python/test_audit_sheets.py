"""Sheets of the clinicians' audit: what raters see, what is refused, and the reports on their answers."""

import csv
import itertools
import re
import shutil
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook, load_workbook
from statsmodels.regression.linear_model import WLS
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from ehrbench import canary, cli
from ehrbench.audit import ratings, sample

ROOT = Path(__file__).parents[2]
SECRETS = ["SECRETVERDICT", "SECRETSOURCE", "SECRETTASK", "SECRETBAND", "SECRETKEY", "SECRETTEMPLATE"]
SMALL = """
create table rpt_run_manifest as select '{data_class}' as data_class, 'r1' as release_id;
create table fct_audit_sample as select concat('t', n) as triple_id, 'SECRETVERDICT' as verdict,
    'SECRETSOURCE' as source, 'tx' as task, 'treat_with' as relation, 'SECRETBAND' as band, 's' as stratum_key,
    concat('Gout ', n) as subject_label, concat('allo', chr(7), 'purinol ', n) as object_label,
    case n when 1 then null when 2 then '=1+1' else 'Fever; Cough' end as context_labels
    from range(1, {triples} + 1) as v(n);
create table fct_triples as select triple_id, 'e1' as subject_event_key, 'e2' as object_event_key
    from fct_audit_sample;
create table fct_visit_events as select * from (values ('e1', 'diagnosis'), ('e2', 'medication'))
    as v(event_key, event_type);
create table relations as select 'treat_with' as relation, 'tx' as task, 'diagnosis' as subject_type,
    'medication' as object_type, 'the object is given for the subject' as wording;
create table event_type_words as select * from (values ('diagnosis', 'Diagnosis'), ('medication', 'Medication'))
    as v(event_type, word);
create table fct_audit_items as select concat('i', n) as item_id, 'SECRETTEMPLATE' as template_key,
    'SECRETSOURCE' as source, 'SECRETTASK' as task, 's' as stratum_key from range(1, 4) as v(n);
create table dim_items as select item_id, '- Diagnosis: Gout' as scenario, 'Which?' as question
    from fct_audit_items;
create table fct_item_options as select item_id, letter as option_letter, concat('Drug ', letter) as label
    from fct_audit_items cross join (values ('A'), ('B'), ('C'), ('D')) as v(letter)
    where item_id = 'i1' or letter < 'D';
create table fct_answer_keys as select item_id, 'SECRETKEY' as gold_letter from fct_audit_items;
create table audit_columns as select * from read_csv('{seed}', all_varchar = true);
"""
# Columns of the sheets: triples F right, G comment; items E letter, F to I questions, J comment.
GOOD_ITEM = ("yes", "no", "yes", "no")


def database(folder, data_class="synthetic", triples=4):
    """A small database in a folder."""
    file = folder / f"{data_class}{triples}.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(SMALL.format(
            data_class=data_class, triples=triples, seed=ROOT / "seeds/audit_columns.csv"))
    return file


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    """Small databases, and the empty sheets of each for two raters."""
    folder = tmp_path_factory.mktemp("small")
    made = {}
    for name, settings in (("plain", {}), ("larger", {"triples": 30}), ("closed", {"data_class": "credentialed"})):
        made[name] = database(folder, **settings)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EHRBENCH_DB", str(made[name]))
            made[f"{name} sheets"] = sample.sample("synthetic", folder / name, 2, True)
    return made


@pytest.fixture
def use(databases, monkeypatch, tmp_path):
    """Points the commands at one of them, with an empty store."""
    monkeypatch.setenv("EHRBENCH_COMPLETIONS_DIR", str(tmp_path / "store"))

    def chosen(name):
        monkeypatch.setenv("EHRBENCH_DB", str(databases[name]))
        return databases[f"{name} sheets"]

    return chosen


@pytest.fixture
def sheets(use):
    """Empty sheets of four triples and three items."""
    return use("plain")


def rows_of(page):
    """Id -> row number."""
    return {page.cell(row, 1).value: row for row in range(2, page.max_row + 1)}


def fill(file, out, name, triples, items, change=None):
    """A rater fills a sheet: answers by id, then a change that goes wrong."""
    book = load_workbook(file)
    book["Read me first"]["B3"] = name
    for title, answers in (("Triples", triples), ("Items", items)):
        places = rows_of(book[title])
        for id, values in answers.items():
            for offset, value in enumerate(values):
                book[title].cell(places[id], (6 if title == "Triples" else 5) + offset).value = value
    if change:
        change(book)
    book.save(out)
    return out


def good(file, out, name, change=None):
    return fill(file, out, name, {f"t{n}": ("yes" if n < 3 else "Unsure ",) for n in range(1, 5)},
                {f"i{n}": ("b", *GOOD_ITEM) for n in range(1, 4)}, change)


def command(capsys, *arguments):
    """Exit code, lines on standard output and lines on standard error."""
    try:
        cli.main(list(map(str, arguments)))
        code = 0
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err.splitlines()


def stored(store, name="audit_ratings.csv"):
    with open(store / name, newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


# ------------------------------------------------------------------------------ what is written


def parts_of(file):
    with zipfile.ZipFile(file) as parts:
        return {name: parts.read(name).decode() for name in parts.namelist()}


def test_sheets_hold_no_hint(sheets):
    parts = parts_of(sheets[0])
    text = "\n".join(parts.values())
    assert not [secret for secret in SECRETS if secret in text]
    assert "purinol" in text and canary.text() in text
    assert not [name for name in parts if re.search("comment|drawing|custom|external|vba", name)]
    book = load_workbook(sheets[0])
    assert book.sheetnames == ["Read me first", "Triples", "Items"] and not book.defined_names
    assert {page.sheet_state for page in book} == {"visible"}
    for page in book:
        assert not [d for d in (*page.column_dimensions.values(), *page.row_dimensions.values()) if d.hidden]


def test_same_database_same_bytes(use, tmp_path, monkeypatch):
    sheets = use("larger")
    monkeypatch.setattr("time.localtime", lambda *_: (2031, 1, 1, 1, 1, 1, 0, 1, 0))
    again = sample.sample("synthetic", tmp_path / "again", 2, False)
    assert [file.read_bytes() for file in again] == [file.read_bytes() for file in sheets]
    assert not re.search(r"20[1-9]\d-", parts_of(sheets[0])["docProps/core.xml"])
    one, two = (list(rows_of(load_workbook(file)["Triples"])) for file in sheets)
    assert sorted(one) == sorted(two) == sorted(f"t{n}" for n in range(1, 31)) and one != two


def test_cells_offer_answers_and_are_locked(sheets):
    book = load_workbook(sheets[0])
    for title, column, n_shown in (("Triples", "F", 5), ("Items", "E", 4)):
        page = book[title]
        assert page.protection.sheet and page.freeze_panes == "B2"
        offers = {place.coord: offer.formula1 for offer in page.data_validations.dataValidation
                  for place in offer.sqref.ranges}
        singles = {cell: formula for area, formula in offers.items()
                   for line in page[area if ":" in area else f"{area}:{area}"] for cell in
                   (one.coordinate for one in line)}
        for id, row in rows_of(page).items():
            letters = "A,B,C,D," if id == "i1" else "A,B,C,"
            wanted = '"yes,no,unsure"' if title == "Triples" else f'"{letters}none,unsure"'
            assert singles[f"{column}{row}"] == wanted
            for cell in page[row]:
                assert cell.protection.locked == (cell.column <= n_shown)
                assert cell.alignment.wrap_text
        assert all(page.column_dimensions[letter].width > 10 for letter in "ABCDEFG")
    front = "\n".join(str(cell.value) for row in book["Read me first"] for cell in row)
    with open(ROOT / "seeds/audit_columns.csv", newline="") as lines:
        assert not [row["wording"] for row in csv.DictReader(lines) if row["wording"] not in front]
    assert not book["Read me first"]["B3"].protection.locked and book["Read me first"]["B4"].protection.locked


def test_texts_stay_texts(sheets):
    page = load_workbook(sheets[0])["Triples"]
    places = rows_of(page)
    assert (page.cell(places["t2"], 5).value, page.cell(places["t2"], 5).data_type) == ("=1+1", "s")
    assert page.cell(places["t3"], 4).value == "Medication: allo⟨U+0007⟩purinol 3"


def test_filled_sheets_are_never_written_over(sheets, tmp_path, capsys):
    own = tmp_path / "sheets"
    shutil.copytree(sheets[0].parent, own)
    assert command(capsys, "audit", "sample", "--out", own)[0] == 0
    code, _, said = command(capsys, "audit", "sample", "--out", own, "--raters", 3)
    assert code == 1 and len(said) == 1 and "maybe filled sheets" in said[0]
    good(sheets[0], own / "rater-1.xlsx", "ann")
    before = (own / "rater-1.xlsx").read_bytes()
    code, _, said = command(capsys, "audit", "sample", "--out", own)
    assert code == 1 and (own / "rater-1.xlsx").read_bytes() == before


def test_credentialed_data_need_the_flag(use, tmp_path, capsys):
    use("closed")
    code, _, said = command(capsys, "audit", "sample", "--out", tmp_path / "out")
    assert code == 1 and "--allow-credentialed" in said[0] and not (tmp_path / "out").exists()
    code, said, _ = command(capsys, "audit", "sample", "--out", tmp_path / "out", "--allow-credentialed")
    assert code == 0 and said[-1] == "next: have them filled, then ehrbench audit import FILES"


# ------------------------------------------------------------------------------ what is read back


def test_good_sheets_reach_the_store(sheets, tmp_path, capsys):
    ann, bob = (good(file, tmp_path / f"{name}.xlsx", name) for file, name in zip(sheets, ("ann", "bob"), strict=True))
    code, said, _ = command(capsys, "audit", "import", ann, bob)
    assert code == 0
    assert said[-1] == ("next: dbt build --target synthetic --select stg_completions__audit_ratings+ "
                        "stg_completions__audit_item_ratings+")
    rows = stored(tmp_path / "store")
    assert [(row["rater"], row["triple_id"]) for row in rows] == [
        (name, f"t{n}") for name in ("ann", "bob") for n in range(1, 5)]
    assert [row["is_right"] for row in rows[:4]] == ["yes", "yes", "unsure", "unsure"]
    items = stored(tmp_path / "store", "audit_item_ratings.csv")
    assert len(items) == 6 and items[0] == {
        "rater": "ann", "item_id": "i1", "best_letter": "B", "is_unique": "yes", "has_other_right": "no",
        "is_answerable": "yes", "has_leak": "no", "comment": ""}


def test_a_rater_is_replaced_and_others_stay(sheets, tmp_path, capsys):
    store = tmp_path / "store"
    store.mkdir()
    (store / "audit_ratings.csv").write_text(
        "triple_id,rater,is_right,year\nt9,cem,1,2020\nt1, ann,no,2019\n", encoding="utf-8")
    ann = fill(sheets[0], tmp_path / "ann.xlsx", "ann", {"t1": ("no", "hm, \"x\"")}, {})
    code, said, _ = command(capsys, "audit", "import", ann)
    assert code == 0 and "replaced 1 earlier triples of ann" in said
    assert [(r["rater"], r["triple_id"], r["is_right"], r["comment"], r["year"]) for r in stored(store)] == [
        ("ann", "t1", "no", 'hm, "x"', ""), ("cem", "t9", "1", "", "2020")]
    good(sheets[0], ann, "ann")
    command(capsys, "audit", "import", good(sheets[0], tmp_path / "capital.xlsx", "Ann "))
    code, said, _ = command(capsys, "audit", "import", ann)
    assert "replaced 4 earlier triples of Ann" in said and len(stored(store)) == 5
    before = (store / "audit_ratings.csv").read_bytes()
    command(capsys, "audit", "import", ann)
    assert (store / "audit_ratings.csv").read_bytes() == before and sorted(p.name for p in store.iterdir()) == [
        "audit_item_ratings.csv", "audit_ratings.csv"]


def put(title, column, id, value):
    """A change: write into the row of an id."""
    def change(book):
        page = book[title]
        page[f"{column}{rows_of(page)[id]}"] = value
    return change


BAD_CELLS = [
    ("Triples", "F", "t1", "maybe", "'maybe' is none of yes, no, unsure"),
    ("Triples", "F", "t2", True, "'True' is none of yes, no, unsure"),
    ("Triples", "F", "t3", "=A1", "holds a formula: write the answer itself"),
    ("Triples", "D", "t4", "Medication: colchicine", "Object is not that of the id in its row: restore it"),
    ("Triples", "A", "t5", "t77", "id 't77' is unknown: restore it from a new sheet"),
    ("Triples", "A", "t6", None, "the id is missing: restore it from a new sheet"),
    ("Items", "E", "i1", None, "Best option is empty beside other answers"),
    ("Items", "E", "i2", "D", "'D' is none of A, B, C, none, unsure"),
    ("Items", "G", "i2", 3, "'3' is none of yes, no, unsure"),
    ("Items", "I", "i3", "=1", "holds a formula: write the answer itself"),
]


def test_bad_cells_are_named(use, tmp_path, capsys):
    empty = use("larger")[0]
    book = load_workbook(empty)
    places = {title: rows_of(book[title]) for title in ("Triples", "Items")}

    def spoil(book):
        for title, column, id, value, _ in BAD_CELLS:
            book[title][f"{column}{places[title][id]}"] = value

    answers = {f"t{n}": ("yes",) for n in range(1, 9)}
    file = fill(empty, tmp_path / "ann.xlsx", "ann", answers, {f"i{n}": ("b", *GOOD_ITEM) for n in (1, 2, 3)}, spoil)
    code, _, lines = command(capsys, "audit", "import", file)
    assert code == 1 and not (tmp_path / "store").exists()
    assert sorted(lines[:-1]) == sorted(
        f"ann.xlsx, {title}!{column}{places[title][id]}: {said}" for title, column, id, _, said in BAD_CELLS)
    assert lines[-1] == "error: 10 thing(s) to mend in the sheets, listed above; nothing was written"


def unnamed(book):
    book["Read me first"]["B3"] = "  "


def swapped_ids(book):
    page = book["Triples"]
    page["A2"], page["A3"] = page["A3"].value, page["A2"].value


WRONG_FILES = [
    (unnamed, ["Read me first!B3: the rater's name is missing"]),
    (put("Read me first", "B", "Sample", "0123"),
     ["Read me first!B4: the sheet is of sample 0123, the database draws"]),
    (put("Triples", "F", "t1", ""), []),
    (lambda book: book.remove(book["Items"]), ["has no sheet 'Items'"]),
    (lambda book: book["Items"].delete_cols(2), ["Items!B1: 'Question' stands where the heading 'Records of the"]),
    (swapped_ids, ["is not that of the id in its row"] * 6),
    (lambda book: book["Triples"].merge_cells("F2:F3"), ["Triples!F2:F3: cells are merged"]),
    (lambda book: book["Triples"].append(["t1", *[None] * 4, "no"]), ["is not that of the id"] * 3),
]


@pytest.mark.parametrize(("change", "said"), WRONG_FILES)
def test_wrong_sheets_are_refused(sheets, tmp_path, capsys, change, said):
    file = good(sheets[0], tmp_path / "ann.xlsx", "ann", change)
    code, _, lines = command(capsys, "audit", "import", file)
    assert (code, (tmp_path / "store").exists()) == ((1, False) if said else (0, True))
    for line, part in zip(lines, [*said, *["nothing was written"] * bool(said)], strict=True):
        assert part in line


def test_an_id_is_rated_once(sheets, tmp_path, capsys):
    def doubled(book):
        page = book["Triples"]
        page.append([cell.value for cell in page[rows_of(page)["t2"]]])

    file = good(sheets[0], tmp_path / "ann.xlsx", "ann", doubled)
    first = f"Triples!A{rows_of(load_workbook(sheets[0])['Triples'])['t2']}"
    _, _, lines = command(capsys, "audit", "import", file)
    assert lines[0] == f"ann.xlsx, Triples!A6: ann has rated this id already in ann.xlsx, {first}"
    good(sheets[0], file, "ann")
    for name in ("ann", "Ann"):
        other = good(sheets[1], tmp_path / "other.xlsx", name)
        code, _, lines = command(capsys, "audit", "import", file, other)
        assert code == 1 and "7 thing(s)" in lines[-1]
        assert f"{name} has rated this id already in ann.xlsx" in lines[0]


def test_all_bad_cells_are_counted(use, tmp_path, capsys):
    file = use("larger")[0]
    bad = fill(file, tmp_path / "bad.xlsx", "", {f"t{n}": ("perhaps",) for n in range(1, 31)}, {"i1": ("x",)})
    code, _, lines = command(capsys, "audit", "import", bad)
    assert code == 1 and len(lines) == 21
    assert lines[-1] == ("error: 32 thing(s) to mend in the sheets, listed above (and 12 more not shown); "
                         "nothing was written")


def test_files_that_cannot_be_read(sheets, tmp_path, capsys):
    def refused(file, part):
        code, out, lines = command(capsys, "audit", "import", file)
        assert code == 1 and len(lines) == 1 and part in lines[0], (lines, out)

    refused(tmp_path / "gone.xlsx", "is not there")
    (tmp_path / "p.xlsx").write_bytes(b"\xd0\xcf\x11\xe0 protected")
    refused(tmp_path / "p.xlsx", "protected by a password")
    (tmp_path / "p.ods").write_bytes(b"")
    refused(tmp_path / "p.ods", "neither .xlsx nor .csv")
    other = Workbook()
    other.save(tmp_path / "other.xlsx")
    code, _, lines = command(capsys, "audit", "import", tmp_path / "other.xlsx")
    assert code == 1 and lines[0] == "other.xlsx: has no sheet 'Read me first': fill a sheet of audit sample"
    for name in (f"~${sheets[0].name}", f".~lock.{sheets[0].name}#"):
        shutil.copy(sheets[0], tmp_path)
        (tmp_path / name).touch()
        refused(tmp_path / sheets[0].name, "open in a spreadsheet program")
        (tmp_path / name).unlink()
    _, _, lines = command(capsys, "audit", "import", fill(sheets[0], tmp_path / "e.xlsx", "ann", {}, {}))
    assert lines[0] == "e.xlsx: holds no answer"
    assert command(capsys, "audit", "import")[0] == 2
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "audit_ratings.csv").write_text("who,what\na,b\n")
    refused(good(sheets[0], tmp_path / "ann.xlsx", "ann"), "has no column rater")


def test_csv_files_are_read(sheets, tmp_path, capsys):
    def taken(text, encoding="utf-8"):
        (tmp_path / "a.csv").write_bytes(text.encode(encoding))
        shutil.rmtree(tmp_path / "store", ignore_errors=True)
        code, _, lines = command(capsys, "audit", "import", tmp_path / "a.csv")
        return lines if code else stored(tmp_path / "store")

    assert [row["is_right"] for row in taken("rater,triple_id,is_right\nann,t1,YES\n\nbob,t1,no\n")] == ["yes", "no"]
    (tmp_path / "b.csv").write_text("rater,item_id,best_letter,is_unique,has_other_right,is_answerable,has_leak\n"
                                    "ann,i1,a,yes,no,yes,no\nbob,i1,a,yes,no,yes,no\nbob,i2,b,yes,,yes,no\n")
    assert command(capsys, "audit", "import", tmp_path / "b.csv")[1][:2] == [
        "b.csv: ann rated 1 items", "b.csv: bob rated 2 items, 1 of them with an answer open"]
    torn = taken("rater;triple_id;is_right;comment\r\nann;t1;yes;na; \r\n")
    assert torn[0] == "a.csv, row 2: 5 values under 4 columns"
    rows = taken("\ufeffId;Subject;Right?;rater\r\nt1;Diagnosis:  Gout 1;no;Zoë\r\n")
    assert (rows[0]["triple_id"], rows[0]["rater"], rows[0]["is_right"]) == ("t1", "Zoë", "no")
    # As Excel writes it where a comma is the decimal sign, with the line that names the separator.
    for told, separator in (("sep=;", ";"), ('"sep=,"', ","), ("SEP=|", "|")):
        lines = ["rater,triple_id,is_right,comment", 'Zoë,t1,yes,"a; b, c|d"', "bob,t2,no,", ""]
        text = "\r\n".join([told, *(line.replace(",", separator, 3) for line in lines)])
        assert [(row["rater"], row["is_right"], row["comment"]) for row in taken("\ufeff" + text)] == [
            ("Zoë", "yes", "a; b, c|d"), ("bob", "no", "")]
        assert taken(text.replace("t2", "t9"))[0].startswith("a.csv, row 4, column triple_id: id 't9' is unknown")
    assert "has no column triple_id or item_id" in taken("sep=;\n")[0]
    assert "is not UTF-8" in taken("sep=;\nrater;triple_id;is_right\nann;t1;yes\n", "utf-16")[0]
    bad = taken("rater,triple_id,is_right,subject\nann,t9,yes,\n,t1,yes,Diagnosis: Gout 1\nann,t2,=1,Gout\n"
                "ann,t3,2,x\n")
    assert bad[:5] == [
        "a.csv, row 2, column triple_id: id 't9' is unknown: restore it from a new sheet",
        "a.csv, row 3, column rater: the rater's name is missing or longer than 60 characters",
        "a.csv, row 4, column subject: Subject is not that of the id in its row: restore it",
        "a.csv, row 4, column is_right: holds a formula: write the answer itself",
        "a.csv, row 5, column subject: Subject is not that of the id in its row: restore it",
    ]
    other = taken("rater,triple_id,is_right,sample\nann,t1,no,zz\n")
    assert "row 2, column sample: the sheet is of sample zz" in other[0]
    assert "has no column triple_id or item_id" in taken("rater,is_right\nann,yes\n")[0]
    assert "has 0 columns rater and needs one" in taken("triple_id,is_right\nt1,yes\n")[0]
    assert "has 2 columns comment and needs one" in taken("rater,triple_id,is_right,comment,comment\nann,t1,no,,\n")[0]
    assert "is not UTF-8" in taken("rater,triple_id,is_right\nZoë,t1,yes\n", "latin-1")[0]


# ------------------------------------------------------------------------------ the whole circle

RATERS, SLIP, LEAKS = ("ann", "bob"), 0.05, 0.15
REPORTS = ["stg_completions__audit_ratings", "stg_completions__audit_item_ratings", "int_audit_ratings",
           "int_audit_item_ratings", "int_audit_answers", "rpt_audit_agreement", "rpt_audit_estimates",
           "rpt_audit_accuracy"]


@pytest.fixture(scope="module")
def sampled(synthetic_build, tmp_path_factory):
    """Sheets of the synthetic build, and its planted truth: right triples, and of items the key, whether the
    triple behind it is right, and a leak that the test invents for some."""
    folder = tmp_path_factory.mktemp("audit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EHRBENCH_DB", str(synthetic_build.database))
        files = sample.sample("synthetic", folder / "sheets", 2, False)
    right = dict(synthetic_build.rows("select triple_id, is_right from int_triple_truth"))
    keys = synthetic_build.rows(
        "select item_id, gold_letter, triple_id from fct_answer_keys "
        "inner join (select item_id, template_key from int_audit_item_frame) using (item_id) "
        "inner join int_templates using (template_key) order by item_id")
    leaks = np.random.default_rng(5).random(len(keys)) < LEAKS
    items = {id: (letter, right[triple], bool(leak)) for (id, letter, triple), leak in zip(keys, leaks, strict=True)}
    return files, right, items


def answers_of(rater, ids, items, right):
    """What a rater who slips now and then answers: by id, for triples and for items."""
    draw = np.random.default_rng([7, RATERS.index(rater)])

    def judged(truth):
        return "yes" if truth != (draw.random() < SLIP) else "no"

    triples = {id: (judged(right[id]),) for id in ids[0]}
    rated = {}
    for id in ids[1]:
        letter, is_right, leak = items[id]
        chosen = letter if judged(is_right) == "yes" else "none"
        rated[id] = (chosen, judged(True), judged(False), judged(True), judged(leak))
    return triples, rated


@pytest.fixture(scope="module")
def store(sampled, synthetic_build, tmp_path_factory):
    """The store after two raters filled all rows of their sheets."""
    files, right, items = sampled
    folder = tmp_path_factory.mktemp("circle")
    ids = [sorted(id for (id,) in synthetic_build.rows(f"select {column} from {table}"))
           for table, column in (("fct_audit_sample", "triple_id"), ("fct_audit_items", "item_id"))]
    filled = [fill(file, folder / f"{rater}.xlsx", rater, *answers_of(rater, ids, items, right))
              for rater, file in zip(RATERS, files, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EHRBENCH_DB", str(synthetic_build.database))
        patch.setenv("EHRBENCH_COMPLETIONS_DIR", str(folder / "store"))
        assert ratings.take_in("synthetic", filled).bad == []
    return folder / "store"


@pytest.fixture(scope="module")
def reports(synthetic_build, unqualified):
    """Makes the reports out of a store beside the build, which stays as it is."""

    def make(store):
        connection = duckdb.connect()
        connection.execute(f"attach '{synthetic_build.database}' as built (read_only)")
        connection.execute("set search_path = 'memory.main,built.main'")
        for model in REPORTS:
            sql = unqualified[model]
            if model.startswith("stg_"):
                file = store / f"{model.removeprefix('stg_completions__')}.csv"
                sql, n = re.subn(
                    r"\(select\s+cast\(null as varchar\).*?where false\)",
                    f"(select *, row_number() over () as _row from read_csv('{file}', all_varchar = true))",
                    sql, flags=re.DOTALL)
                assert n == 1
            connection.execute(f"create table {model} as {sql}")
        return connection

    return make


@pytest.fixture(scope="module")
def rated(reports, store):
    with reports(store) as connection:
        yield connection


def estimates(connection, method):
    return {row[0]: tuple(map(float, row[1:])) for row in connection.execute(
        "select measure, estimate, estimate_low, estimate_high from rpt_audit_estimates "
        "where source = 'all' and task = 'all' and n_rated > 0 and method = ?", [method]).fetchall()}


def test_real_sheets_show_what_they_should_and_no_more(sampled, synthetic_build):
    files, _, _ = sampled
    text = "\n".join(parts_of(files[0]).values())
    for hint in ("accepted", "rejected", "kb_rules", "mimic", "gold", "pmid", "verdict", "policy", "stratum"):
        assert not re.search(rf"\b{hint}", text, re.I), hint
    book = load_workbook(files[0], read_only=True)
    shown = {row[0]: row for row in book["Items"].iter_rows(min_row=2, values_only=True)}
    options = synthetic_build.rows(
        "select item_id, string_agg(option_letter || '. ' || label, chr(10) order by option_letter) "
        "from fct_item_options semi join fct_audit_items using (item_id) group by item_id")
    assert len(options) == len(shown) > 100 and all(shown[id][3] == text for id, text in options)
    triples = {row[0] for row in book["Triples"].iter_rows(min_row=2, values_only=True)}
    drawn = synthetic_build.rows("select triple_id, verdict from fct_audit_sample")
    assert triples == {id for id, _ in drawn} and {verdict for _, verdict in drawn} == {"accepted", "rejected"}
    asked_twice = synthetic_build.rows(
        "select count(*) from fct_audit_items inner join int_templates using (template_key) "
        "semi join fct_audit_sample using (triple_id)")
    assert asked_twice == [(0,)]


def test_estimates_are_near_the_planted_truth(rated, sampled):
    """Within 3.3 standard errors: that 95 of 100 intervals hold it is measured in the soak runs."""
    _, right, items = sampled
    frame = rated.execute("select verdict, triple_id from int_audit_frame").fetchall()
    shares = {verdict: np.mean([right[id] for one, id in frame if one == verdict])
              for verdict in ("accepted", "rejected")}
    corrected, plain = estimates(rated, "corrected"), estimates(rated, "as_rated")

    def near(interval, truth):
        _, low, high = interval
        spare = (3.3 / 1.96 - 1) * (high - low) / 2
        return low - spare <= truth <= high + spare

    assert near(corrected["precision_of_accepted"], shares["accepted"])
    assert near(corrected["miss_rate_of_rejected"], shares["rejected"])
    assert plain["miss_rate_of_rejected"][0] > shares["rejected"]
    assert near(corrected["leak_of_items"], np.mean([leak for _, _, leak in items.values()]))
    # Valid for a rater: right and no slip in it, no leak, and no slip in the three other answers.
    valid = np.mean([
        (1 - SLIP if is_right else SLIP) * (SLIP if leak else 1 - SLIP) * (1 - SLIP) ** 3
        for _, is_right, leak in items.values()])
    assert near(plain["valid_of_items"], valid)
    assert "valid_of_items" not in corrected and "key_of_items" not in corrected


def test_agreement_against_statsmodels(rated):
    rows = rated.execute(
        "select question, n, kappa, kappa_low, kappa_high, ac1, ac1_low, ac1_high from rpt_audit_agreement").fetchall()
    assert len(rows) == 7
    for question, n, kappa, low, high, *gwet in rows:
        pairs = rated.execute(
            "select a.answer::int, b.answer::int from int_audit_answers as a inner join int_audit_answers as b "
            "using (audited_id, question) where a.rater = 'ann' and b.rater = 'bob' and question = ?", [question]
        ).fetchnumpy()
        first, second = (np.asarray(values) for values in pairs.values())
        table = np.array([[np.sum((first == i) & (second == j)) for j in (0, 1)] for i in (0, 1)])
        theirs = cohens_kappa(table)
        assert n == len(first) and float(kappa) == pytest.approx(theirs.kappa, abs=1e-6)
        # Theirs divides by n, ours by n - 1.
        half = 1.96 * theirs.std_kappa * np.sqrt(n / (n - 1))
        assert float(low) == pytest.approx(max(-1, theirs.kappa - half), abs=2e-6), question
        assert float(high) == pytest.approx(min(1, theirs.kappa + half), abs=2e-6), question

        def ac1(one, other):
            yes = (one.mean() + other.mean()) / 2
            return ((one == other).mean() - 2 * yes * (1 - yes)) / (1 - 2 * yes * (1 - yes))

        left_out = [ac1(np.delete(first, i), np.delete(second, i)) for i in range(n)]
        jackknife = 1.96 * np.sqrt((n - 1) / n * np.sum((left_out - np.mean(left_out)) ** 2))
        mine, low, high = map(float, gwet)
        assert mine == pytest.approx(ac1(first, second), abs=1e-6)
        assert mine - low == pytest.approx(jackknife, rel=0.03), question


def test_accuracy_against_weighted_regression(rated):
    """A weighted mean with two ways of clustering is a regression on a constant."""
    items = rated.execute(
        "select template_key, stratum_key, n_in_stratum, n_stands_for, avg(answer::int) as valid from fct_audit_items "
        "inner join int_audit_answers on item_id = audited_id where question = 'is_valid' group by all").df()
    rated_for = items.groupby("stratum_key").n_stands_for.transform("sum")
    items["weight"] = items.n_in_stratum * items.n_stands_for / rated_for
    scores = rated.execute(
        "select model, mode, task, template_key, person_group, answer_cui_id, correct from int_headline_scores").df()
    joined = scores.merge(items, on="template_key")
    found = rated.execute("select * from rpt_audit_accuracy where status = 'estimable'").df()
    assert len(found) > 20 and set(found.task) >= {"all", "tx"}
    assert found.accuracy.astype(float).sub(found.accuracy_rated.astype(float)).abs().max() > 0.005
    for row in found.itertuples():
        one = joined[(joined.model == row.model) & (joined["mode"] == row.mode)]
        one = one if row.task == "all" else one[one.task == row.task]
        assert row.n == len(one) <= row.n_asked and row.n_templates == one.template_key.nunique()
        for name, weight in (("accuracy", one.weight * one.valid), ("accuracy_rated", one.weight)):
            kept = one[weight > 0]
            fit = WLS(kept.correct.to_numpy(float), np.ones(len(kept)), weights=weight[weight > 0].to_numpy()).fit()
            groups = [pd.factorize(kept[column])[0] for column in ("person_group", "answer_cui_id")]
            covariances = cov_cluster_2groups(fit, *groups, use_correction=True)
            both, persons, answers = (float(np.atleast_2d(one)[0, 0]) for one in covariances)
            error = np.sqrt(max(both, persons, answers))
            mean = fit.params[0]
            assert float(getattr(row, name)) == pytest.approx(mean, abs=1e-3)
            for side, end in (("low", max(0, mean - 1.96 * error)), ("high", min(1, mean + 1.96 * error))):
                assert float(getattr(row, f"{name}_{side}")) == pytest.approx(end, abs=4e-3), (row.model, name)


def test_without_ratings_nothing_is_claimed(synthetic_build):
    assert synthetic_build.rows("select count(*) from rpt_audit_agreement") == [(0,)]
    assert synthetic_build.rows("select count(*) > 0, count(estimate), sum(n_rated) from rpt_audit_estimates") == [
        (True, 0, 0)]
    assert synthetic_build.rows("select count(*) > 0, sum(n_asked), min(status), max(status) from rpt_audit_accuracy"
                                ) == [(True, 0, "not_assessed", "not_assessed")]


def test_one_rater_of_a_few_rows(reports, store, tmp_path):
    for file in store.iterdir():
        with open(file) as lines:
            (tmp_path / file.name).write_text("".join(itertools.islice(lines, 12)))
    with reports(tmp_path) as connection:
        assert connection.execute("select count(*) from rpt_audit_agreement").fetchone() == (0,)
        plain = connection.execute(
            "select count(estimate), max(frame_covered) < 1 from rpt_audit_estimates where method = 'as_rated' "
            "and source = 'all' and task = 'all'").fetchone()
        assert plain == (8, True)
        assert estimates(connection, "corrected") == {}
        assert connection.execute("select distinct status from rpt_audit_accuracy where task = 'all'").fetchall() == [
            ("not_estimable",)]
        hidden = "select count(*) from rpt_audit_accuracy where n > 0 and accuracy is null"
        assert connection.execute(hidden).fetchone()[0] > 0
