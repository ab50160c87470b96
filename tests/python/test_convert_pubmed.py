"""Titles and years out of PubMed's XML: markup, dates, later files and deletions."""

import gzip

import pyarrow.parquet as pq
import pytest
from conftest import ehrbench

from ehrbench.convert import pubmed
from ehrbench.errors import EhrbenchError

HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC '
    '"-//NLM//DTD PubMedArticle, 1st January 2024//EN" "https://dtd.example.org/pubmed.dtd">\n<PubmedArticleSet>\n'
)


def article(pmid, title, date, version=1):
    return (
        f'<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="{version}">{pmid}</PMID>'
        f"<DateCompleted><Year>2020</Year></DateCompleted><Article><Journal><JournalIssue>"
        f"<PubDate>{date}</PubDate></JournalIssue></Journal><ArticleTitle>{title}</ArticleTitle></Article>"
        f"<CommentsCorrectionsList><CommentsCorrections><PMID>1</PMID></CommentsCorrections>"
        f"</CommentsCorrectionsList></MedlineCitation><PubmedData><ReferenceList><Reference><ArticleIdList>"
        f"<ArticleId>2</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>\n"
    )


BASELINE = (
    article(11, "Old title.", "<Year>1998</Year><Month>Jan</Month>")
    + article(12, "Effect of <i>in vitro</i> CO<sub>2</sub> on\n  H<sup>+</sup>.", "<MedlineDate>1998 Dec-1999 Jan</MedlineDate>")
    + article(13, "[A translated title].", "<MedlineDate>Winter 2001</MedlineDate>")
    + article(14, "To be deleted.", "<Year>2003</Year>")
    + article(15, "", "<Season>Spring</Season>")
    + article(16, "Version two.", "<Year>2005</Year>", 2)
    + article(16, "Version one.", "<Year>2004</Year>", 1)
    + '<PubmedBookArticle><BookDocument><PMID Version="1">17</PMID><Book><BookTitle>A book</BookTitle>'
    "<PubDate><Year>2010</Year></PubDate></Book><ArticleTitle>A <b>chapter</b></ArticleTitle></BookDocument></PubmedBookArticle>"
    + article("", "No PMID.", "<Year>2003</Year>")
)
UPDATE = (
    article(11, "New title.", "<Year>1999</Year>")
    + article(18, "Deleted and back.", "<Year>2020</Year>")
    + "<DeleteCitation><PMID Version='1'>14</PMID><PMID Version='1'>18</PMID></DeleteCitation>"
)
LATER = article(18, "Back again.", "<Year>2021</Year>")


@pytest.fixture
def files(tmp_path):
    made = []
    for name, body in (
        ("pubmed24n0001.xml.gz", BASELINE), ("pubmed24n1220.xml.gz", UPDATE), ("pubmed24n1221.xml", LATER)
    ):
        data = f"{HEAD}{body}</PubmedArticleSet>\n".encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        made.append(tmp_path / name)
    return made


def rows(out):
    return [tuple(row.values()) for row in pq.read_table(out / "articles.parquet").to_pylist()]


WANTED = [
    ("11", "New title.", 1999),
    ("12", "Effect of in vitro CO2 on H+.", 1998),
    ("13", "[A translated title].", 2001),
    ("15", None, None),
    ("16", "Version two.", 2005),
    ("17", "A chapter", 2010),
    ("18", "Back again.", 2021),
]


def test_titles_years_updates_and_deletions(files, tmp_path, capsys):
    # The order on the command line does not count, that of the names does.
    assert pubmed.convert_pubmed(files[::-1], tmp_path / "out") == len(WANTED)
    assert rows(tmp_path / "out") == WANTED
    assert "1 without a PMID left out" in capsys.readouterr().out
    assert [f.name for f in (tmp_path / "out").iterdir()] == ["articles.parquet"]
    schema = pq.read_schema(tmp_path / "out/articles.parquet")
    assert {field.name: field.type for field in schema} == {f.name: f.type for f in pubmed.SCHEMAS["articles"]}


def test_without_its_update_a_baseline_stands(files, tmp_path):
    pubmed.convert_pubmed(files[:1], tmp_path / "out")
    found = rows(tmp_path / "out")
    assert ("11", "Old title.", 1998) in found and ("14", "To be deleted.", 2003) in found


def test_a_stopped_run_goes_on(files, tmp_path, monkeypatch):
    broken = files[1].read_bytes()
    files[1].write_bytes(broken[:-60])
    with pytest.raises(EhrbenchError, match="pubmed24n1220.xml.gz is cut off or broken"):
        pubmed.convert_pubmed(files, tmp_path / "out")
    assert not (tmp_path / "out/articles.parquet").exists()
    files[1].write_bytes(broken)
    read = []
    convert = pubmed.convert_file
    monkeypatch.setattr(pubmed, "convert_file", lambda file, *rest: read.append(file.name) or convert(file, *rest))
    pubmed.convert_pubmed(files, tmp_path / "out")
    assert read == ["pubmed24n1220.xml.gz", "pubmed24n1221.xml"]
    assert rows(tmp_path / "out") == WANTED


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<MedlineCitationSet/>", "is not a PubMed file: its root is MedlineCitationSet"),
        (HEAD + BASELINE, "is cut off or broken (line"),
        ("", "is no XML"),
    ],
)
def test_other_files_are_refused(tmp_path, content, said):
    file = tmp_path / "pubmed24n0001.xml"
    file.write_text(content)
    with pytest.raises(EhrbenchError) as error:
        pubmed.convert_pubmed([file], tmp_path / "out")
    assert said in str(error.value) and "\n" not in str(error.value)


def test_the_command_line_takes_many_files(files, tmp_path):
    done = ehrbench("convert", "pubmed", *files, "--out", tmp_path / "out")
    assert done.returncode == 0 and rows(tmp_path / "out") == WANTED, done.stderr
    done = ehrbench("convert", "pubmed", tmp_path / "no.xml", "--out", tmp_path / "out")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
