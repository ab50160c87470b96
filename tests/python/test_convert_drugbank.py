"""DrugBank's full database, in the shape of the published schema, becomes Parquet.

The file is made up: element names and nesting as the schema has them, contents our own.
"""

import gzip
import zipfile

import pyarrow.parquet as pq
import pytest
from conftest import ehrbench

from ehrbench.convert import drugbank
from ehrbench.errors import EhrbenchError

DRUGS = """
<drug type="biotech" created="2005-06-13" updated="2024-01-02">
  <drugbank-id>BTD00001</drugbank-id>
  <drugbank-id primary="true">DB00001</drugbank-id>
  <drugbank-id>BIOD00001</drugbank-id>
  <name>Alpha</name><description>Made up.</description><cas-number>1-00-0</cas-number>
  <unii>AAAAAAAAAA</unii><state>liquid</state>
  <groups><group>approved</group><group>withdrawn</group></groups>
  <general-references><articles/></general-references>
  <indication>Used for &lt;nothing&gt; in
particular.</indication>
  <salts><salt><drugbank-id primary="true">DBSALT000001</drugbank-id><name>Alpha chloride</name>
    <unii>SSSSSSSSSS</unii><cas-number>9-99-9</cas-number></salt></salts>
  <synonyms><synonym language="english/german" coder="inn">Alphum</synonym>
    <synonym language="" coder="">Alfa, α</synonym></synonyms>
  <products><product><name>Brandalpha</name><labeller>Maker</labeller></product></products>
  <mixtures><mixture><name>Mix</name><ingredients>Alpha + Beta</ingredients></mixture></mixtures>
  <atc-codes>
    <atc-code code="X01AB02"><level code="X01AB">d</level><level code="X01A">c</level>
      <level code="X01">b</level><level code="X">a</level></atc-code>
    <atc-code code="Y02CD03"/>
  </atc-codes>
  <drug-interactions>
    <drug-interaction><drugbank-id>DB00002</drugbank-id><name>Beta</name>
      <description>Alpha may raise Beta.</description></drug-interaction>
    <drug-interaction><drugbank-id>DB00003</drugbank-id><name>Gamma</name><description/></drug-interaction>
  </drug-interactions>
  <external-identifiers>
    <external-identifier><resource>RxCUI</resource><identifier>123</identifier></external-identifier>
    <external-identifier><resource>Empty</resource><identifier></identifier></external-identifier>
  </external-identifiers>
  <pathways><pathway><smpdb-id>SMP1</smpdb-id><name>Way</name>
    <drugs><drug><drugbank-id>DB00077</drugbank-id><name>Nested</name></drug></drugs></pathway></pathways>
  <reactions><reaction><left-element><drugbank-id>DB00078</drugbank-id><name>L</name></left-element></reaction></reactions>
  <targets><target><id>BE1</id><polypeptide id="P1" source="S"><external-identifiers><external-identifier>
    <resource>HGNC</resource><identifier>1</identifier></external-identifier></external-identifiers>
    <synonyms><synonym>Not a drug's</synonym></synonyms></polypeptide></target></targets>
</drug>
<drug type="small molecule"><drugbank-id primary="true">DB00002</drugbank-id><name>Beta</name>
  <cas-number/><unii/><groups/><indication/><synonyms/><atc-codes/><drug-interactions/></drug>
<drug type="small molecule"><name>No identifier</name></drug>
"""
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<drugbank xmlns="http://www.drugbank.ca" version="5.1" exported-on="2024-01-03">'
DATABASE = f"{HEAD}{DRUGS}</drugbank>\n"


@pytest.fixture
def convert(tmp_path):
    """Convert a text as a file of the given name; returns table -> rows."""

    def make(text=DATABASE, name="full database.xml"):
        file = tmp_path / name
        data = text.encode() if isinstance(text, str) else text
        if name.endswith(".gz"):
            data = gzip.compress(data)
        if name.endswith(".zip"):
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("full database.xml", data)
        else:
            file.write_bytes(data)
        drugbank.convert_drugbank(file, tmp_path / "out")
        return {
            name: [tuple(row.values()) for row in pq.read_table(tmp_path / f"out/{name}.parquet").to_pylist()]
            for name in drugbank.SCHEMAS
        }

    return make


def test_the_schema_s_shape_is_read(convert):
    tables = convert()
    assert tables["drugs"] == [
        (
            "DB00001", "Alpha", "biotech", "1-00-0", "AAAAAAAAAA", "approved; withdrawn",
            "Used for <nothing> in\nparticular.",
        ),
        ("DB00002", "Beta", "small molecule", None, None, None, None),
        # Kept, so that the quarantine sees it.
        (None, "No identifier", "small molecule", None, None, None, None),
    ]
    assert tables["synonyms"] == [("DB00001", "Alphum", "english/german"), ("DB00001", "Alfa, α", None)]
    assert tables["atc_codes"] == [("DB00001", "X01AB02", 5), ("DB00001", "Y02CD03", 5)]
    assert tables["interactions"] == [
        ("DB00001", "DB00002", "Beta", "Alpha may raise Beta."),
        ("DB00001", "DB00003", "Gamma", None),
    ]
    assert tables["external_identifiers"] == [("DB00001", "RxCUI", "123")]


def test_nested_drugs_and_identifiers_are_not_the_drug_s_own(convert):
    said = str(convert())
    for nested in ("DBSALT", "SSSS", "9-99-9", "DB00077", "DB00078", "Nested", "HGNC", "Not a drug", "BTD"):
        assert nested not in said


@pytest.mark.parametrize("name", ["full database.xml.gz", "drugbank_all_full_database.xml.zip"])
def test_packed_files_are_the_same(convert, name):
    assert convert(name=name) == convert()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DATABASE.replace("http://www.drugbank.ca", "http://example.org"), "is not DrugBank's full database: its root"),
        ("<html><body/></html>", "is not DrugBank's full database: its root is html"),
        (DATABASE[: DATABASE.index("<pathways>")], "is cut off or broken at line"),
        (DATABASE[: DATABASE.rindex("</drugbank>")], "after 3 whole entries"),
        ("no xml at all", "is no XML at line 1"),
        (f"{HEAD}<drug><name>x</name></drug></drugbank>", "holds no drug with a primary drugbank-id"),
    ],
)
def test_other_files_are_refused_with_the_place(convert, tmp_path, text, said):
    with pytest.raises(EhrbenchError) as error:
        convert(text)
    assert said in str(error.value) and "\n" not in str(error.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_cut_off_archive_is_refused(tmp_path):
    whole = gzip.compress(DATABASE.encode() * 1)
    (tmp_path / "full.xml.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "full.zip").write_bytes(b"PK\x03\x04 cut off")
    (tmp_path / "named.xml.gz").write_text(DATABASE)
    for name, said in (("full.xml.gz", "is cut off"), ("full.zip", "is cut off"), ("named.xml.gz", "is not packed")):
        with pytest.raises(EhrbenchError, match=said):
            drugbank.convert_drugbank(tmp_path / name, tmp_path / "out")
    done = ehrbench("convert", "drugbank", tmp_path / "full.zip", "--out", tmp_path / "out")
    assert done.returncode == 1 and "is cut off" in done.stderr and len(done.stderr.splitlines()) == 1


def test_what_was_converted_before_stays_when_the_new_file_is_broken(convert, tmp_path):
    before = convert()
    with pytest.raises(EhrbenchError):
        convert(DATABASE[:-20])
    assert pq.read_table(tmp_path / "out/drugs.parquet").num_rows == len(before["drugs"])
