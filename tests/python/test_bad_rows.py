"""The hand-made bad lines of the test data pass through the staging SQL as EXPECTED.csv says.

The lines are gzipped under the dumps' names and read by dbt, with further bad kinds after them; a
line that is to be kept must arrive with its text intact, a line that is to be rejected must be set
aside with its file and row. The same lines as Parquet must give the same tables. A file that
cannot be read stops its model with one line.
"""

import csv
import gzip
import json
import os

import pytest
from conftest import ROOT
from raw_renderer import made
from test_omop import write_unreadable

from ehrbench.convert import semmeddb as converter
from ehrbench.dbt import first_failure

DUMPS = {
    "PREDICATION_bad.csv": "semmedVER43_2024_R_PREDICATION.csv.gz",
    "PREDICATION_AUX_bad.csv": "semmedVER43_2024_R_PREDICATION_AUX.csv.gz",
    "SENTENCE_bad.csv": "semmedVER43_2024_R_SENTENCE.csv.gz",
    "CITATIONS_bad.csv": "semmedVER43_2024_R_CITATIONS.csv.gz",
}
SET_ASIDE = {"torn_line", "malformed_cui"}

# Kinds that the test data lack: (lines, problem of each staged row after those of the test data).
MORE = {
    "SENTENCE_bad.csv": (
        b'900005,"99000005","ab",1,0,"He said "no" and "A" twice.",31,"",""\n'
        b'900006,"99000006","ab",1,0,"On two\nlines.",31,"",""\n'
        b'900007,"99000007","ab",1,0,"Escaped \\\nend.",31,"METHODS",""\n'
        b'900008,"99000008","ab",1,0,"With CR.",31,"","RESULTS"\r\n'
        b'900009,"99000009","ab",1,0,"Open quote,31,"","RESULTS"\n'
        b'900010,"99000010","ab",1,0,"Torn in its te\n'
        b'900011,"99000011","ab",1,0,"Too long.",31,"","",7,8\n'
        b'\n'
        b'900012,"99000012","ti",1,0,"After all of it\tsound.",31,"",\\N\n'
        b'900012,"99000012","ti",1,0,"The same key again.",31,"",\\N\n'
        b'"SENTENCE_ID","PMID","TYPE","NUMBER","START","SENTENCE","END","HEADER","NORMAL"\n',
        {
            5: ("stray_quote", "repaired"),
            6: ("line_break", "repaired"),
            8: ("line_break", "repaired"),
            11: ("unreadable_line", "set_aside"),
            12: ("torn_line", "set_aside"),
            13: ("too_many_fields", "set_aside"),
            15: ("duplicate_key", "set_aside"),
            16: ("missing_key", "set_aside"),
        },
    ),
    "PREDICATION_bad.csv": (
        b'900016,900016,"99000016","TREATS","C0004057","Aspirin","phsu",1,"C0004238","Atrial\n'
        b'900017,900017,"99000017","TREATS(SPEC)","C0004057","Aspirin","phsu",1,"C0004238",'
        b'"Atrial Fibrillation","dsyn",1,\\N,\\N,\\N\n'
        b'900017,900017,"99000017","TREATS","C0004057","Aspirin","phsu",1,"C0004238",'
        b'"Atrial Fibrillation","dsyn",1,\\N,\\N,\\N\n',
        {16: ("torn_line", "set_aside"), 18: ("duplicate_key", "set_aside")},
    ),
    "CITATIONS_bad.csv": (
        b'"","0000-0000","1998","null",1998\n"99000003","","2001 Fall","2001-11-02",\\N\n',
        {3: ("missing_key", "set_aside")},
    ),
    "PREDICATION_AUX_bad.csv": (b'900103,"torn\n', {3: ("torn_line", "set_aside")}),
}
VOCABULARY = (
    b'\xef\xbb\xbfDrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\r\n'
    b'DB00001,A | B,Plain,1-00-0,U1,"One, with a comma | Two",K\r\n'
    b'DB00002,,Stray "quoted" name,,,,\r\n'
    b'DB00003,torn\r\n'
    b'DB4,,Short id,,,,\r\n'
    b'DB00001,,Plain again,,,,\r\n'
    b'DB00006,,Last,6-00-0,U6,Six,\r\n'
    b'DB00007,,"Open quote,,,,'
)  # no line break at the end: the reader cuts the last character of the open field
STAGED = {
    "predications": "predication",
    "predication_aux": "predication_aux",
    "sentences": "sentence",
    "citations": "citations",
    "generic_concepts": "generic_concept",
}


@pytest.fixture(scope="module")
def bad_rows_dir():
    folder = ROOT / (os.environ.get("EHRBENCH_SHARED_DIR") or "../shared") / "data/kb-open/bad-rows"
    if not folder.is_dir():
        pytest.skip(f"no bad rows in {folder}: point EHRBENCH_SHARED_DIR at the shared test data")
    return folder


@pytest.fixture(scope="module")
def expected(bad_rows_dir):
    """(file, row id) -> keep or reject, in the order of the lines."""
    with open(bad_rows_dir / "EXPECTED.csv", newline="", encoding="utf-8") as lines:
        return {(row["file"], int(row["row"])): row["expected"] for row in csv.DictReader(lines)}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("bad_rows")


@pytest.fixture(scope="module")
def dumps(bad_rows_dir, place):
    """Folder of the dumps with the bad lines of the test data and those of MORE."""
    folder = place / "semmeddb"
    folder.mkdir()
    for name, dump in DUMPS.items():
        lines = (bad_rows_dir / name).read_bytes() + MORE[name][0]
        (folder / dump).write_bytes(gzip.compress(lines, mtime=0))
    (folder / "semmedVER43_2024_R_GENERIC_CONCEPT.csv").write_bytes(
        b'1,"C0030705","Patients"\n2,"C12","Short"\n'
    )
    return folder


@pytest.fixture(scope="module")
def read(bad_rows_dir, dumps, place):
    """A query function over the staged bad rows."""
    umls, drugbank = place / "umls" / "META", place / "drugbank"
    umls.mkdir(parents=True)
    drugbank.mkdir()
    (umls / "MRCONSO.RRF").write_bytes((bad_rows_dir / "MRCONSO_bad.RRF").read_bytes())
    (umls / "MRCUI.RRF").write_text("C4082455||SY|||C4300557|Y|\n", encoding="utf-8")
    (drugbank / "drugbank vocabulary.csv").write_bytes(VOCABULARY)
    with made(
        *(f"stg_semmeddb__{model}" for model in STAGED),
        *("int_predications_parsed", "int_terminology_atoms"),
        *("int_semmeddb__bad_rows", "int_drugbank__bad_rows"),
        EHRBENCH_SEMMEDDB_DIR=dumps,
        EHRBENCH_UMLS_DIR=place / "umls",
        EHRBENCH_DRUGBANK_DIR=drugbank,
    ) as rows:
        yield rows


def test_predications_are_kept_or_rejected_as_expected(expected, read):
    reasons = dict(read("select predication_id - 900000, reason from int_predications_parsed where predication_id < 900016"))
    wanted = {row: word for (file, row), word in expected.items() if file == "PREDICATION_bad.csv"}
    found = {row: "reject" if reason in SET_ASIDE else "keep" for row, reason in reasons.items()}
    assert {row: found[row] for row in wanted} == wanted


def test_predications_arrive_intact(read):
    rows = {
        row[0]: row[1:]
        for row in read(
            "select predication_id - 900000, predicate, is_negated, subject_cui_id, object_cui_id, reason "
            "from int_predications_parsed"
        )
    }
    assert rows[3][:4] == ("INHIBITS", False, 4057, 1414968)
    assert rows[4][2:4] == (757738, 33684)
    assert rows[5][2:5] == (None, 12634, "gene_id_without_cui")
    assert rows[6][2:5] == (35920, 24305, None)
    assert rows[7][2:4] == (87111, 4057)
    assert rows[8][2:4] == (600491, 13227)
    assert rows[9][2:5] == (25281, 40264, None)
    assert rows[10][:2] == ("COMPARED_WITH", False)
    assert rows[11] == ("TREATS", True, 4057, 4238, None)
    assert rows[13][2] == 4300557
    assert rows[14][4] is None
    assert rows[15][4] == rows[16][4] == "torn_line"
    assert rows[17][:2] == ("TREATS", False)


def test_aux_rows_are_kept(expected, read):
    assert read("select predication_id, indicator_type from stg_semmeddb__predication_aux where line_problem is null order by all") == [
        (900011, "INFER"),
        (999999, "VERB"),
    ]


def test_sentences_are_column_six_with_their_escapes(read):
    sentences = dict(read("select sentence_id - 900000, sentence from stg_semmeddb__sentences"))
    assert sentences == {
        1: "Aspirin was given; the value was 1, 2 and 3.",
        2: "A title.",
        3: 'They said "no, not C:\\temp".',
        4: "TNF-α ≥ 5 µg in Ménière disease.",
        5: 'He said "no" and "A" twice.',
        6: "On two\nlines.",
        7: "Escaped \nend.",
        8: "With CR.",
        10: None,
        12: sentences[12],
        None: sentences[None],
    }
    assert sentences[12] in ("After all of it\tsound.", "The same key again.")
    assert read(
        "select sentence_id - 900000, section from stg_semmeddb__sentences where section is not null and sentence_id is not null order by all"
    ) == [(1, "RESULTS"), (7, "METHODS"), (8, "RESULTS")]
    assert read("select pmid from stg_semmeddb__sentences where sentence_id = 900002") == [("00000000",)]


def test_citations_keep_their_dates(read):
    assert read(
        "select pmid, date_printed, entry_date, pyear from stg_semmeddb__citations "
        "where pmid is not null order by all"
    ) == [
        ("99000001", "1998 Jan", "null", 1998),
        ("99000002", None, "null", None),
        ("99000003", "2001 Fall", "2001-11-02", None),
    ]


def test_atoms_are_kept_or_set_aside(expected, read):
    names = dict(read("select cui, name from stg_umls__atoms"))
    assert names["C0000726"] == "Abdomen"
    assert names["C0000727"] == '5" tube'
    wanted = [word for (file, _), word in sorted(expected.items()) if file == "MRCONSO_bad.RRF"]
    kept = {row[0] for row in read("select distinct cui_id - 725 from int_terminology_atoms")}
    assert [("keep" if row in kept else "reject") for row in range(1, 5)] == wanted


def test_every_expected_row_is_tested(expected):
    files = {file for file, _ in expected}
    assert files == {*DUMPS, "MRCONSO_bad.RRF"}


# ------------------------------------------------------------------------------ the quarantine


@pytest.mark.parametrize("name", MORE)
def test_every_bad_kind_is_in_the_quarantine(name, expected, read):
    table = name.removesuffix("_bad.csv")
    rejected = {
        row: "torn_line" if (file, row) == ("PREDICATION_bad.csv", 15) else "malformed_cui"
        for (file, row), word in expected.items()
        if file == name and word == "reject"
    }
    wanted = {(row, reason, "set_aside") for row, reason in rejected.items()}
    wanted |= {(row, *said) for row, said in MORE[name][1].items()}
    found = read(
        "select row, reason, action, file, source_table from int_semmeddb__bad_rows "
        f"where source_table = 'semmeddb.{table.lower()}'"
    )
    assert {row[:3] for row in found} == wanted
    assert len(found) == len(wanted)
    assert {row[3] for row in found} == {f"semmedVER43_2024_R_{table}.csv"}


def test_a_short_generic_concept_is_set_aside(read):
    assert read(
        "select row, reason from int_semmeddb__bad_rows where source_table = 'semmeddb.generic_concept'"
    ) == [(2, "malformed_cui")]


def test_the_vocabulary_keeps_what_can_be_read(read):
    assert read(
        "select drugbank_id, name, unii, synonyms, source_row from stg_drugbank__vocabulary order by source_row"
    ) == [
        ("DB00001", "Plain", "U1", "One, with a comma | Two", 1),
        ("DB00002", 'Stray "quoted" name', None, None, 2),
        ("DB00003", None, None, None, 3),
        ("DB4", "Short id", None, None, 4),
        ("DB00001", "Plain again", None, None, 5),
        ("DB00006", "Last", "U6", "Six", 6),
        ("DB00007", "Open quote,,,", None, None, 7),
    ]
    assert read(
        "select source_table, file, row, reason, action from int_drugbank__bad_rows order by row"
    ) == [
        ("drugbank.vocabulary", "drugbank vocabulary.csv", 3, "missing_name", "set_aside"),
        ("drugbank.vocabulary", "drugbank vocabulary.csv", 4, "malformed_key", "set_aside"),
        ("drugbank.vocabulary", "drugbank vocabulary.csv", 5, "duplicate_key", "set_aside"),
        ("drugbank.vocabulary", "drugbank vocabulary.csv", 7, "open_quote", "set_aside"),
    ]


# ------------------------------------------------------------------- Parquet, unreadable files


def test_converted_dumps_give_the_same_staging(dumps, read, place):
    """Small parts, so that rows count on over parts and over joined lines."""
    converter.convert_semmeddb(dumps, place / "parquet", part_rows=7, group_rows=3)
    staged = [f"stg_semmeddb__{model}" for model in STAGED]
    with made(*staged, EHRBENCH_SEMMEDDB_DIR=place / "parquet") as read_parquet:
        for model in staged:
            for sql in (f"describe {model}", f"select * from {model} order by source_row"):
                assert read_parquet(sql) == read(sql), model


def test_unreadable_files_stop_their_models_with_one_line(place, synthetic_project):
    """Documented order of SENTENCE, a torn gzip, no gzip at all, another width, a re-saved CSV, a
    lacking column, a quote that swallows lines."""
    raw = place / "broken" / "raw"
    folder, drugbank = raw / "semmeddb", raw / "drugbank"
    folder.mkdir(parents=True)
    drugbank.mkdir()
    write_unreadable(raw / "omop" / "torn")
    packed = gzip.compress(os.urandom(3000).hex().encode() * 50, mtime=0)
    name = "semmedVER43_2024_R_{}.csv.gz"
    documented = b'1,"99000001","ab",3,100,144,"RESULTS","RESULTS","Aspirin was given."\n' * 3
    (folder / name.format("SENTENCE")).write_bytes(gzip.compress(documented, mtime=0))
    (folder / name.format("PREDICATION")).write_bytes(packed[: len(packed) // 2])
    (folder / name.format("CITATIONS")).write_bytes(b"no gzip")
    older = b'1,2,"aspirin",0\n' * 3
    (folder / name.format("PREDICATION_AUX")).write_bytes(gzip.compress(older, mtime=0))
    (drugbank / "drugbank vocabulary.csv").write_bytes(VOCABULARY.replace(b",", b";"))
    done = synthetic_project.run(
        *("run", "--select", "staging.semmeddb", "stg_drugbank__vocabulary"),
        *("stg_omop__person", "stg_omop__condition_occurrence"),
        EHRBENCH_SYNTH_DIR=place / "broken",
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    results = synthetic_project.artefact("run_results.json")["results"]
    said = {}
    for result in results:
        if result["status"] != "error":
            continue
        # `ehrbench run` prints one line per failed build; plain dbt prints the same message.
        alone = place / "one.json"
        alone.write_text(json.dumps({"results": [result]}))
        said[result["unique_id"].split(".")[-1]] = first_failure(alone, [])
        assert message_line(result["message"]) in done.stdout
    wanted = {
        "stg_semmeddb__sentences": ("field 7 (sent_end_index) is no number", "fetch that release"),
        "stg_semmeddb__predications": ("PREDICATION.csv.gz",),
        "stg_semmeddb__citations": ("CITATIONS.csv.gz",),
        "stg_semmeddb__predication_aux": ("has 18 fields", "fetch that release"),
        "stg_drugbank__vocabulary": ('column "DrugBank ID" is missing', "re-saved copy"),
        "stg_omop__person": ("column gender_concept_id is missing", "torn/Person.CSV"),
        "stg_omop__condition_occurrence": (
            *("Line: 22002 in", "torn/condition_occurrence.csv (", "): mend that line"),
        ),
    }
    assert set(said) == set(wanted)
    for model, words in wanted.items():
        assert "\n" not in said[model] and "I10" not in said[model]
        for word in words:
            assert word in said[model], (model, said[model])


def message_line(message):
    """The line of dbt's message that says what is wrong."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[1] if len(lines) > 1 else lines[0]
