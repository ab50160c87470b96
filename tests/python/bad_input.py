"""Small clean files of every source, and ways to damage one of them."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SEMMEDDB = "semmedVER43_2024_R_{}.csv.gz"

CSV = {
    "mimic_iv": {
        "patients": (
            "hosp/patients.csv.gz",
            "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n"
            "10,F,52,2180,2014 - 2016,\n11,M,61,2150,2011 - 2013,2155-01-01\n"
            "12,F,33,2110,2017 - 2019,\n",
        ),
        "admissions": (
            "hosp/admissions.csv.gz",
            "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,race\n"
            "10,20,2180-05-06 22:23:00,2180-05-07 17:15:00,,URGENT,WHITE\n"
            "11,21,2150-06-26 18:27:00,2150-06-27 18:49:00,,EW EMER.,UNKNOWN\n"
            "12,22,2110-08-05 23:44:00,2110-08-07 17:50:00,,EW EMER.,ASIAN\n",
        ),
        "diagnoses_icd": (
            "hosp/diagnoses_icd.csv.gz",
            "subject_id,hadm_id,seq_num,icd_code,icd_version\n"
            "10,20,1,5723,9\n10,20,2,78959,9\n11,21,1,I4891,10\n",
        ),
        "procedures_icd": (
            "hosp/procedures_icd.csv.gz",
            "subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version\n"
            "10,20,1,2180-05-07,5491,9\n11,21,1,2150-06-27,02HV33Z,10\n12,22,1,2110-08-06,3893,9\n",
        ),
        "prescriptions": (
            "hosp/prescriptions.csv.gz",
            "subject_id,hadm_id,pharmacy_id,starttime,stoptime,drug_type,drug,ndc,route\n"
            "10,20,1,2180-05-07 08:00:00,2180-05-07 22:00:00,MAIN,Furosemide,00054829725,PO\n"
            '11,21,2,2150-06-26 20:00:00,,MAIN,"Heparin, flush",0,IV\n'
            "12,22,3,2110-08-06 08:00:00,2110-08-07 08:00:00,MAIN,Aspirin,63739043401,PO\n",
        ),
        "emar": (
            "hosp/emar.csv.gz",
            "subject_id,hadm_id,emar_id,pharmacy_id,charttime,medication,event_txt\n"
            "10,20,10-1,1,2180-05-07 08:05:00,Furosemide,Administered\n"
            "11,21,11-1,2,2150-06-26 20:05:00,Heparin,Flushed\n"
            "12,22,12-1,3,2110-08-06 08:05:00,Aspirin,Administered\n",
        ),
        "d_icd_diagnoses": (
            "hosp/d_icd_diagnoses.csv.gz",
            "icd_code,icd_version,long_title\n"
            '5723,9,Portal hypertension\n78959,9,"Other ascites"\nI4891,10,Atrial fibrillation\n',
        ),
        "d_icd_procedures": (
            "hosp/d_icd_procedures.csv.gz",
            "icd_code,icd_version,long_title\n"
            "5491,9,Percutaneous abdominal drainage\n02HV33Z,10,Insertion of device\n"
            "3893,9,Venous catheterization\n",
        ),
    },
    "mimic_iii": {
        "patients": (
            "PATIENTS.csv.gz",
            '"ROW_ID","SUBJECT_ID","GENDER","DOB","DOD"\n'
            '1,10,"F",2094-03-05 00:00:00,\n2,11,"M",2090-06-05 00:00:00,2126-08-28 00:00:00\n'
            '3,12,"F",2038-09-03 00:00:00,\n',
        ),
        "admissions": (
            "ADMISSIONS.csv.gz",
            '"ROW_ID","SUBJECT_ID","HADM_ID","ADMITTIME","DISCHTIME","ADMISSION_TYPE","ETHNICITY"\n'
            '1,10,20,2164-10-23 21:09:00,2164-11-01 17:15:00,"EMERGENCY","WHITE"\n'
            '2,11,21,2126-08-14 22:32:00,2126-08-28 18:59:00,"EMERGENCY","ASIAN"\n'
            '3,12,22,2104-08-14 22:32:00,2104-08-28 18:59:00,"ELECTIVE","WHITE"\n',
        ),
        "icustays": (
            "ICUSTAYS.csv.gz",
            '"ROW_ID","SUBJECT_ID","HADM_ID","ICUSTAY_ID","DBSOURCE"\n'
            '1,10,20,30,"carevue"\n2,11,21,31,"metavision"\n3,12,22,32,"carevue"\n',
        ),
        "diagnoses_icd": (
            "DIAGNOSES_ICD.csv.gz",
            '"ROW_ID","SUBJECT_ID","HADM_ID","SEQ_NUM","ICD9_CODE"\n'
            '1,10,20,1,"99591"\n2,10,20,2,"486"\n3,11,21,1,"V4582"\n',
        ),
        "procedures_icd": (
            "PROCEDURES_ICD.csv.gz",
            '"ROW_ID","SUBJECT_ID","HADM_ID","SEQ_NUM","ICD9_CODE"\n'
            '1,10,20,1,"3605"\n2,11,21,1,"9671"\n3,12,22,1,"3893"\n',
        ),
        "prescriptions": (
            "PRESCRIPTIONS.csv.gz",
            '"ROW_ID","SUBJECT_ID","HADM_ID","STARTDATE","DRUG","NDC","ROUTE"\n'
            '1,10,20,2164-10-24 00:00:00,"Furosemide","00054829725","PO"\n'
            '2,11,21,2126-08-15 00:00:00,"Heparin, flush","0","IV"\n'
            '3,12,22,2104-08-15 00:00:00,"Aspirin","63739043401","PO"\n',
        ),
        "d_icd_diagnoses": (
            "D_ICD_DIAGNOSES.csv.gz",
            '"ROW_ID","ICD9_CODE","SHORT_TITLE","LONG_TITLE"\n'
            '1,"99591","Sepsis","Sepsis"\n2,"486","Pneumonia","Pneumonia"\n3,"V4582","PTCA","PTCA"\n',
        ),
        "d_icd_procedures": (
            "D_ICD_PROCEDURES.csv.gz",
            '"ROW_ID","ICD9_CODE","SHORT_TITLE","LONG_TITLE"\n'
            '1,"3605","PTCA","PTCA"\n2,"9671","Vent","Ventilation"\n3,"3893","Cath","Catheter"\n',
        ),
    },
    "omop": {
        "person": (
            "site_a/person.csv",
            "person_id,gender_concept_id,year_of_birth,race_source_value\n"
            "-10,8532,1960,white\n11,8507,1970,black\n12,8507,1980,\n",
        ),
        "visit_occurrence": (
            "site_a/visit_occurrence.csv",
            "visit_occurrence_id,person_id,visit_concept_id,visit_start_date,visit_end_date\n"
            "-20,-10,9201,2020-01-01,2020-01-05\n21,11,9201,2019-02-01,2019-02-03\n"
            "22,12,9201,2018-03-01,2018-03-02\n",
        ),
        "condition_occurrence": (
            "site_a/condition_occurrence.csv",
            "person_id,visit_occurrence_id,condition_concept_id,condition_type_concept_id,"
            "condition_start_date\n-10,-20,317009,32817,2020-01-02\n"
            "11,21,313217,32817,2019-02-01\n12,22,316866,32817,2018-03-01\n",
        ),
        "drug_exposure": (
            "site_a/drug_exposure.csv",
            "person_id,visit_occurrence_id,drug_concept_id,drug_type_concept_id,"
            "drug_exposure_start_date\n-10,-20,1112807,32838,2020-01-02\n"
            "11,21,1310149,32838,2019-02-01\n12,22,1503297,32838,2018-03-01\n",
        ),
        "procedure_occurrence": (
            "site_a/procedure_occurrence.csv",
            "person_id,visit_occurrence_id,procedure_concept_id,procedure_type_concept_id,"
            "procedure_date\n-10,-20,4324693,32817,2020-01-02\n"
            "11,21,4107743,32817,2019-02-01\n12,22,4213288,32817,2018-03-01\n",
        ),
        "concept": (
            "site_a/concept.csv",
            "concept_id\tconcept_name\tvocabulary_id\tconcept_code\n317009\tAsthma\tSNOMED\t195967001\n"
            "313217\tAtrial fibrillation\tSNOMED\t49436004\n316866\tHypertension\tSNOMED\t38341003\n",
        ),
    },
    "umls": {
        "mrconso": (
            "META/MRCONSO.RRF",
            "C0000001|ENG|P|L1|PF|S1|Y|A1||||MTH|PN|NOCODE|Aspirin|0|N||\n"
            'C0000002|ENG|P|L2|PF|S2|Y|A2||||MTH|PN|NOCODE|5" tube|0|N||\n'
            "C0000003|ENG|P|L3|PF|S3|Y|A3||||MTH|PN|NOCODE|Heparin|0|N||\n",
        ),
        "mrsty": (
            "META/MRSTY.RRF",
            "C0000001|T109|A1.4|Organic Chemical|AT1|256|\nC0000002|T074|A1.3|Medical Device|AT2||\n"
            "C0000003|T121|A1.4|Pharmacologic Substance|AT3|256|\n",
        ),
        "mrdef": (
            "META/MRDEF.RRF",
            "C0000001|A1|AT1||MTH|A drug.|N||\nC0000002|A2|AT2||MTH|A tube.|N||\n"
            "C0000003|A3|AT3||MTH|A drug too.|N||\n",
        ),
        "mrrel": (
            "META/MRREL.RRF",
            "C0000001|A1|AUI|RO|C0000002|A2|AUI|has_part|R1||NDFRT|NDFRT|||N||\n"
            "C0000001|A1|AUI|RO|C0000003|A3|AUI|may_treat|R2||NDFRT|NDFRT|||N||\n"
            "C0000002|A2|AUI|RO|C0000003|A3|AUI|may_treat|R3||NDFRT|NDFRT|||N||\n",
        ),
        "mrcui": (
            "META/MRCUI.RRF",
            "C0000007||SY|||C0000001|Y|\nC0000008||SY|||C0000002|Y|\nC0000009||DEL|||||\n",
        ),
        "mrsat": (
            "META/MRSAT.RRF",
            "C0000001|||A1|AUI||AT1||NDC|RXNORM|00002202402|N||\n"
            "C0000001|||A1|AUI||AT2||NDC|RXNORM|00002202403|N||\n"
            "C0000003|||A3|AUI||AT3||NDC|RXNORM|00002202404|N||\n",
        ),
        "mrrank": ("META/MRRANK.RRF", "0001|MTH|PN|N|\n0002|MSH|MH|N|\n0003|RXNORM|IN|N|\n"),
    },
    "semmeddb": {
        "predication": (
            SEMMEDDB.format("PREDICATION"),
            "".join(
                f'{n},{n},"{n}","TREATS","C0004057","Aspirin","phsu",1,"C0004238","AF","dsyn",1,'
                "\\N,\\N,\\N\n"
                for n in (1, 2, 3)
            ),
        ),
        "predication_aux": (
            SEMMEDDB.format("PREDICATION_AUX"),
            "".join(
                f'{n},{n},"aspirin",1,2,0,7,1000,"VERB",8,14,"AF",1,2,15,17,1000,"2020-01-01"\n'
                for n in (1, 2, 3)
            ),
        ),
        "sentence": (
            SEMMEDDB.format("SENTENCE"),
            "".join(f'{n},"{n}","ab",1,0,"Aspirin was given.",18,"",""\n' for n in (1, 2, 3)),
        ),
        "citations": (
            SEMMEDDB.format("CITATIONS"),
            "".join(f'"{n}","0000-0000","1998 Jan","1998-01-01",1998\n' for n in (1, 2, 3)),
        ),
        "generic_concept": (
            SEMMEDDB.format("GENERIC_CONCEPT"),
            '1,"C0030705","Patients"\n2,"C0000001","One"\n3,"C0000002","Two"\n',
        ),
    },
    "drugbank": {
        "vocabulary": (
            "drugbank vocabulary.csv",
            "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
            "DB00001,A,Lepirudin,1-00-0,U1,Hirudin | Lepirudin r,\n"
            'DB00002,B,Cetuximab,2-00-0,U2,"One, with a comma",\nDB00003,C,Dornase,3-00-0,U3,,\n',
        ),
    },
    "icd": {
        "i9_gems": (
            "2018_I9gem.txt",
            "0010  A000    00000\n0011  A001    00000\n0020  A0100   10000\n",
        ),
        "i10_gems": (
            "2018_I10gem.txt",
            "A000    0010  00000\nA001    0011  00000\nA0100   0020  10000\n",
        ),
        "tabular_notes": (
            "icd10cm_tabular_notes.csv",
            "code,note_type,note,target_codes\nA00,excludes1,typhoid (A01.-),A01\n"
            'A01,excludes1,"cholera, any (A00.-)",A00\nB95,useAdditionalCode,code (Z16.-),Z16\n',
        ),
        "procedure_concepts": (
            "procedure_concepts.csv",
            "code_system,code_or_prefix,match,cui,concept_name,role,origin\n"
            "ICD10PCS,009600Z,exact,C3161261,Drain,therapeutic,x\n"
            "ICD10PCS,02HV33Z,exact,C0000001,Device,therapeutic,x\n"
            "ICD9PROC,38.93,exact,C0000002,Catheter,therapeutic,x\n",
        ),
        "icd9cm_tree": (
            "icd9cm_tree.csv.gz",
            "code,parent_code,title\n001,001-009,Cholera\n001.0,001,Cholera due\n001.1,001,El tor\n",
        ),
        "icd10cm_tree": (
            "icd10cm_tree.csv.gz",
            "code,parent_code,title\nA00,A00-A09,Cholera\nA00.0,A00,Cholera due\nA00.1,A00,El tor\n",
        ),
        "icd9cm_titles": (
            "CMS32_DESC_LONG_DX.txt",
            "0010  Cholera\n0011  El tor\n38600 Ménière's disease\n",
        ),
        "icd9proc_titles": ("CMS32_DESC_LONG_SG.txt", "0001 Ultrasound\n0002 Heart\n3893 Catheter\n"),
        "icd10cm_titles": ("icd10cm-codes-2024.txt", "A000    Cholera\nA001    El tor\nA009    Unspecified\n"),
        "icd10pcs_titles": (
            "icd10pcs-codes-2024.txt.gz",
            "0016070 Bypass\n02HV33Z Device\n009600Z Drainage\n",
        ),
    },
    "atc": {
        "atc_codes": (
            "atc_codes.csv",
            "atc_code,level,parent_code,name\nA,1,,alimentary\nA01,2,A,stomatological\n"
            'A01A,3,A01,"stomatological, all"\n',
        ),
        "ingredient_atc": (
            "ingredient_atc.csv",
            "cui,ingredient_name,atc_code,atc_name\nC0000294,Mesna,R05CB05,mesna\n"
            "C0000001,Aspirin,N02BA01,aspirin\nC0000002,Heparin,B01AB01,heparin\n",
        ),
    },
    "completions": {
        "audit_ratings": (
            "audit_ratings.csv",
            "rater,triple_id,is_right,comment\nann,t1,true,\nann,t2,false,no\nbob,t1,unsure,\n",
        ),
        "audit_item_ratings": (
            "audit_item_ratings.csv",
            "rater,item_id,best_letter,is_unique,has_other_right,is_answerable,has_leak,comment\n"
            "ann,i1,A,yes,no,yes,no,\nann,i2,B,yes,no,yes,no,\nbob,i1,C,yes,no,yes,no,\n",
        ),
    },
}

PARQUET = {
    "pubmed": {
        "articles": (
            "articles.parquet",
            {"pmid": ["1", "2", "3"], "title": ["One", "Two", "Three"], "pub_year": [1998, 1999, None]},
        ),
    },
    "drugbank": {
        "drugs": (
            "drugs.parquet",
            {
                "drugbank_id": ["DB00001", "DB00002", "DB00003"],
                "name": ["Lepirudin", "Cetuximab", "Dornase"],
                **{
                    name: ["x", "x", None]
                    for name in ("drug_type", "cas_number", "unii", "groups", "indication")
                },
            },
        ),
        "interactions": (
            "interactions.parquet",
            {
                "drugbank_id": ["DB00001", "DB00001", "DB00002"],
                "other_drugbank_id": ["DB00002", "DB00003", "DB00003"],
                "other_name": ["a", "b", "c"],
                "description": ["risk of bleeding", "x", "x"],
            },
        ),
    },
    "completions": {
        "completions": (
            "answers/tiny/part-1.parquet",
            {
                "request_key": ["a", "b", "c"],
                "attempt": [1, 1, 1],
                **{
                    name: ["x", "x", "x"]
                    for name in ("stage", "model", "revision", "engine", "text", "finish_reason")
                },
                "prompt_tokens": [1, 1, 1],
                "completion_tokens": [1, 1, 1],
                "option_logprobs": [None, None, "{}"],
                "latency_ms": [1, 1, 1],
                "error": [None, None, "x"],
                "schema_version": [1, 1, 1],
            },
        ),
    },
}


# ----------------------------------------------------------------------------- whole-file damages


def base(source: str, table: str) -> tuple[str, str]:
    """Name and text of a clean file."""
    return CSV[source][table]


def _columns(text: str, change: Callable[[list[str]], list[str]]) -> str:
    """A text whose rows were changed cell by cell."""
    delimiter = "\t" if "\t" in text.split("\n", 1)[0] else ","
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerows(change(row) for row in csv.reader(io.StringIO(text), delimiter=delimiter))
    return out.getvalue()


def _zipped(text: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("file.csv", text)
    return out.getvalue()


def _of_another(content: str) -> str:
    """The file of another table (source.table), long enough to be told by its values."""
    _, text = base(*content.split("."))
    lines = text.splitlines(keepends=True)
    head = lines[:1] if "," in lines[0] and not lines[0][0].isdigit() else []
    return "".join(head + lines[len(head) :] * 10)


# A damage takes the text of a clean file and the content of the table's cell, and gives the text or
# the bytes of the damaged one; it is packed where its name says so.
WRITTEN: dict[str, Callable[[str, str], str | bytes]] = {
    "no bytes but packing": lambda text, _: "",
    "header only": lambda text, _: text.split("\n", 1)[0] + "\n",
    "blank lines": lambda text, _: text.replace("\n", "\n\n"),
    "blank lines first": lambda text, _: "\n\n" + text,
    "byte order mark": lambda text, _: "\ufeff" + text,
    "UTF-16": lambda text, _: text.encode("utf-16"),
    "Latin-1": lambda text, content: text.replace(content, content[:-1] + "é").encode("latin-1"),
    "CRLF": lambda text, _: text.replace("\n", "\r\n"),
    "CR only": lambda text, _: text.replace("\n", "\r"),
    "mixed line ends": lambda text, _: text.replace("\n", "\r\n", 2),
    "NUL in a cell": lambda text, content: text.replace(content, content + "\0"),
    "NUL block at the end": lambda text, _: text + "\0" * 4096,
    "no last line end": lambda text, _: text.rstrip("\n"),
    "semicolons": lambda text, _: text.replace(",", ";"),
    "web page": lambda text, _: "<!DOCTYPE html>\n" + "<p>403, Forbidden</p>\n" * 30,
    "zip archive": lambda text, _: _zipped(text),
    "10 MB field": lambda text, content: text.replace(content, content + "x" * 10_000_000),
    "60 kB field": lambda text, content: text.replace(content, content + "x" * 60_000),
    "no header": lambda text, _: text.split("\n", 1)[1],
    "lines above the header": lambda text, _: "exported on Monday\n" + text,
    "a note behind #": lambda text, _: text + "# made on Monday\n",
    "twice in one file": lambda text, _: text + text,
    "extra column": lambda text, _: _columns(text, lambda row: [*row, "extra"]),
    "reordered columns": lambda text, _: _columns(text, lambda row: row[::-1]),
    "upper-case header": lambda text, _: text.replace(
        text.split("\n")[0], text.split("\n")[0].upper(), 1
    ),
    "missing column": lambda text, _: _columns(text, lambda row: row[:1] + row[2:]),
    "renamed column": lambda text, content: text.replace(*content.split(">"), 1),
    "column twice": lambda text, _: _columns(text, lambda row: [*row, row[1]]),
    "empty column title": lambda text, _: _columns(text, lambda row: [*row, ""]),
    "open quote": lambda text, content: text.replace(content, '"' + content),
    "quoted line end": lambda text, content: text.replace(content, f'"{content}\nx"'),
    "other file": lambda _, content: _of_another(content),
    "other lines": lambda _, content: (content + "\n") * 30,
}
# And these damage the bytes that lie on the disk.
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "half of the gzip": lambda data: data[: len(data) // 2],
    "gzip without its end": lambda data: data[:-8],
    "gzip with a wrong checksum": lambda data: data[:-6] + bytes([data[-6] ^ 255]) + data[-5:],
    "something after the gzip": lambda data: data + b"something",
    "no bytes": lambda data: b"",
}


def write(path: Path, data: str | bytes, packed: bool | None = None) -> None:
    """A file with its folders, packed as its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = data.encode() if isinstance(data, str) else data
    packed = path.suffix == ".gz" if packed is None else packed
    path.write_bytes(gzip.compress(data, mtime=0, compresslevel=1) if packed else data)


def write_parquet(path: Path, columns: dict[str, list]) -> None:
    """A Parquet file of columns, each of the type that its values have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def damage(path: Path, text: str, kind: str, content: str) -> None:
    """Put a damaged file where a clean one would lie."""
    if kind in WRITTEN:
        write(path, WRITTEN[kind](text, content))
    elif kind in PACKED:
        write(path, text)
        path.write_bytes(PACKED[kind](path.read_bytes()))
    elif kind == "packed, not named so":
        write(path, text, packed=True)
    elif kind == "not packed, named so":
        write(path, text, packed=False)
    elif kind == "folder in its place":
        write(path / path.name, text)
    elif kind == "broken link":
        path.symlink_to(path.with_name("nowhere"))
    else:
        raise ValueError(f"unknown damage {kind!r}")


PARQUET_DAMAGES: dict[str, Callable[[dict[str, list]], dict[str, list]]] = {
    "missing column": lambda columns: dict(list(columns.items())[1:]),
    "extra column": lambda columns: {**columns, "extra": ["x"] * 3},
    "reordered columns": lambda columns: dict(reversed(columns.items())),
    "upper-case header": lambda columns: {name.upper(): cells for name, cells in columns.items()},
    "no rows": lambda columns: {
        name: pa.array([], pa.array(cells).type) for name, cells in columns.items()
    },
}


def damage_parquet(path: Path, columns: dict[str, list], kind: str, content: str) -> None:
    """The same for Parquet."""
    if kind in PARQUET_DAMAGES:
        write_parquet(path, PARQUET_DAMAGES[kind](columns))
    elif kind == "text in a column of numbers":
        write_parquet(path, {**columns, content: ["x", "y", "z"]})
    elif kind == "CSV named .parquet":
        write(path, ",".join(columns) + "\n")
    elif kind == "half of the file":
        write_parquet(path, columns)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif kind == "other file":
        write_parquet(path, PARQUET[content.split(".")[0]][content.split(".")[1]][1])
    else:
        damage(path, "", kind, content)
