"""MIMIC-III as it is released: gzipped CSV with quoted upper-case headers, and its bad rows.

One dbt call reads a cohort that this file writes. Beside it lies a small MIMIC-IV, so that the rule
of the CareVue stays is in force.
"""

import csv
import gzip
import io

import pytest
from raw_renderer import made

COLUMNS = {
    "PATIENTS": "ROW_ID SUBJECT_ID GENDER DOB DOD DOD_HOSP DOD_SSN EXPIRE_FLAG",
    "ADMISSIONS": "ROW_ID SUBJECT_ID HADM_ID ADMITTIME DISCHTIME DEATHTIME ADMISSION_TYPE "
    "ADMISSION_LOCATION DISCHARGE_LOCATION INSURANCE LANGUAGE RELIGION MARITAL_STATUS ETHNICITY "
    "EDREGTIME EDOUTTIME DIAGNOSIS HOSPITAL_EXPIRE_FLAG HAS_CHARTEVENTS_DATA",
    "ICUSTAYS": "ROW_ID SUBJECT_ID HADM_ID ICUSTAY_ID DBSOURCE FIRST_CAREUNIT LAST_CAREUNIT "
    "FIRST_WARDID LAST_WARDID INTIME OUTTIME LOS",
    "DIAGNOSES_ICD": "ROW_ID SUBJECT_ID HADM_ID SEQ_NUM ICD9_CODE",
    "PROCEDURES_ICD": "ROW_ID SUBJECT_ID HADM_ID SEQ_NUM ICD9_CODE",
    "PRESCRIPTIONS": "ROW_ID SUBJECT_ID HADM_ID ICUSTAY_ID STARTDATE ENDDATE DRUG_TYPE DRUG "
    "DRUG_NAME_POE DRUG_NAME_GENERIC FORMULARY_DRUG_CD GSN NDC PROD_STRENGTH DOSE_VAL_RX "
    "DOSE_UNIT_RX FORM_VAL_DISP FORM_UNIT_DISP ROUTE",
    "D_ICD_DIAGNOSES": "ROW_ID ICD9_CODE SHORT_TITLE LONG_TITLE",
    "D_ICD_PROCEDURES": "ROW_ID ICD9_CODE SHORT_TITLE LONG_TITLE",
}


def stay(subject, hadm, **fields):
    return {"SUBJECT_ID": subject, "HADM_ID": hadm, **fields}


def order(subject, hadm, start, drug, strength="8.6 mg"):
    return stay(subject, hadm, STARTDATE=start, ENDDATE=start, DRUG_TYPE="MAIN", DRUG=drug,
                NDC="00904516561", PROD_STRENGTH=strength, ROUTE="PO")


# File -> rows; a comment gives the number of the row where it matters below.
ROWS = {
    "PATIENTS": [
        {"SUBJECT_ID": 1, "GENDER": "F", "DOB": "2080-05-01 00:00:00"},
        {"SUBJECT_ID": 2, "GENDER": "M", "DOB": "1850-05-01 00:00:00"},
        {"SUBJECT_ID": 3, "GENDER": "M", "DOB": "2080-05-01 00:00:00"},
        {"SUBJECT_ID": 1, "GENDER": "F", "DOB": "2081-05-01 00:00:00"},  # 4: twice
        {"SUBJECT_ID": "", "GENDER": "F", "DOB": "2081-05-01 00:00:00"},  # 5: no key
        {"SUBJECT_ID": 6, "GENDER": "F", "DOB": "first of May"},  # 6: kept
    ],
    "ADMISSIONS": [
        stay(1, 10, ADMITTIME="2150-01-01 21:09:00", DISCHTIME="2150-01-05 17:15:00",
             ADMISSION_TYPE="NEWBORN", DIAGNOSIS='SEPSIS, "LATE"; \\'),
        stay(2, 20, ADMITTIME="2150-01-01 08:00:00", DISCHTIME="2150-01-05 17:15:00",
             ADMISSION_TYPE="EMERGENCY"),
        stay(3, 30, ADMITTIME="2150-01-01 08:00:00", DISCHTIME="2150-01-05 17:15:00",
             ADMISSION_TYPE="EMERGENCY"),
        stay(1, 11, ADMITTIME="31/12/2150", DISCHTIME="2151-01-05 17:15:00",
             ADMISSION_TYPE="URGENT"),  # 4: unreadable
        stay(1, "", ADMITTIME="2150-01-01 08:00:00", ADMISSION_TYPE="URGENT"),  # 5: no key
        stay(2, 10, ADMITTIME="2152-01-01 08:00:00", DISCHTIME="2152-01-02 08:00:00",
             ADMISSION_TYPE="URGENT"),  # 6: twice
    ],
    "ICUSTAYS": [
        stay(1, 10, ICUSTAY_ID=100, DBSOURCE="carevue"),
        stay(2, 20, ICUSTAY_ID=200, DBSOURCE="carevue"),
        stay(3, 30, ICUSTAY_ID=300, DBSOURCE="metavision"),
        stay(6, 60, ICUSTAY_ID=600, DBSOURCE="carevue"),
    ],
    "DIAGNOSES_ICD": [
        stay(1, 10, SEQ_NUM=1, ICD9_CODE="0414"),
        stay(1, 10, SEQ_NUM=2, ICD9_CODE="4019"),
        stay(1, "", SEQ_NUM=3, ICD9_CODE="4019"),  # 3: no key
        stay(1, 10, SEQ_NUM="", ICD9_CODE=""),  # 4: no code
        stay(1, 10, SEQ_NUM="two", ICD9_CODE="E8500"),  # 5: kept
        stay(3, 30, SEQ_NUM=1, ICD9_CODE="4019"),
        stay(9, 90, SEQ_NUM=1, ICD9_CODE="4019"),
    ],
    "PROCEDURES_ICD": [
        stay(1, 10, SEQ_NUM=1, ICD9_CODE="0066"),
        stay(1, 10, SEQ_NUM=2, ICD9_CODE="458"),
        {"SUBJECT_ID": "SUBJECT_ID", "HADM_ID": "HADM_ID"},  # 3: header
    ],
    "PRESCRIPTIONS": [
        order(1, 10, "2150-01-01 00:00:00", "Senna "),
        order(1, 10, "2150-01-01 00:00:00", "Senna "),  # 2: twice
        order(1, 10, "2150-01-01 00:00:00", "Senna ", "17.2 mg"),
        order(1, 10, "soon", "Senna "),  # 4: kept
        order(1, 10, "2150-01-05 00:00:00", " "),  # 5: no text
        order(2, 20, "2150-01-05 00:00:00", 'Study "A", or Placebo'),
        order(2, 20, "2150-01-05 00:00:00", "Heparin\nsodium"),  # 7: took in what follows
    ],
    "D_ICD_DIAGNOSES": [
        {"ICD9_CODE": "4019", "LONG_TITLE": "Hypertension, unspecified"},
        {"ICD9_CODE": "E8500", "LONG_TITLE": "Poisoning"},
    ],
    "D_ICD_PROCEDURES": [{"ICD9_CODE": "0066", "LONG_TITLE": "Angioplasty"}],
}

MIMIC_IV = {
    "patients": "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n"
    "1,F,50,2150,2008 - 2010,\n2,M,fifty,2150,2008 - 2010,\n,M,50,2150,2008 - 2010,\n",
    "admissions": "subject_id,hadm_id,admittime,dischtime,admission_type\n"
    "1,10,2150-01-01 08:00:00,2150-01-02 08:00:00,URGENT\n1,11,yesterday,,URGENT\n",
    "diagnoses_icd": "subject_id,hadm_id,seq_num,icd_code,icd_version\n"
    "1,10,1,E850,9\n1,10,2,E850,10\n1,10,3,I10,11\n1,,4,I10,10\n",
}


# Lines as a torn download leaves them, after the last row; and one with a field too many.
TORN = {
    "ADMISSIONS": '"7","2","21"',  # 7: without its times
    "DIAGNOSES_ICD": '"8","2","20","1","4019","surplus"\n"9","2","20","2",',  # 9: no code
    "PRESCRIPTIONS": '"7","1","10",,"2150-01-02 00:00:00","2150-01-02 00:00:00","MAIN","Insulin"',
}


def write(folder, name, rows):
    """One release file: every text and the header in quotes, missing values empty."""
    columns = COLUMNS[name].split()
    text = io.StringIO()
    out = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    out.writerow(columns)
    for number, row in enumerate(rows, 1):
        out.writerow([{"ROW_ID": number, **row}.get(column, "") for column in columns])
    text.write(TORN.get(name, ""))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A query function over what becomes of the files."""
    folder = tmp_path_factory.mktemp("mimic_iii")
    for name, lines in ROWS.items():
        write(folder / "mimic_iii", name, lines)
    (folder / "mimic_iv/hosp").mkdir(parents=True)
    for name, text in MIMIC_IV.items():
        (folder / f"mimic_iv/hosp/{name}.csv").write_text(text, encoding="utf-8")
    with made(
        *("int_mimic_iii__events", "int_mimic_iii__patients", "int_mimic_iii__stay_rule_effect"),
        *("int_mimic_iii__data_class", "int_mimic_iv__bad_rows"),
        EHRBENCH_MIMIC_III_DIR=folder / "mimic_iii",
        EHRBENCH_MIMIC_IV_DIR=folder / "mimic_iv",
    ) as query:
        yield query


def test_bad_rows_have_a_file_a_row_and_a_reason(rows):
    found = rows("select source_table, file, row, reason, action from int_mimic_iii__bad_rows")
    assert sorted(found) == sorted(
        (f"mimic_iii.{table}", f"{table.upper()}.csv.gz", row, reason, action)
        for table, row, reason, action in [
            ("patients", 4, "duplicate_key", "set_aside"),
            ("patients", 5, "missing_key", "set_aside"),
            ("patients", 6, "unreadable_date", "repaired"),
            ("admissions", 4, "unreadable_date", "set_aside"),
            ("admissions", 5, "missing_key", "set_aside"),
            ("admissions", 6, "duplicate_key", "set_aside"),
            ("admissions", 7, "missing_time", "set_aside"),
            ("diagnoses_icd", 3, "missing_key", "set_aside"),
            ("diagnoses_icd", 4, "missing_code", "set_aside"),
            ("diagnoses_icd", 5, "unreadable_number", "repaired"),
            ("diagnoses_icd", 8, "torn_line", "set_aside"),
            ("diagnoses_icd", 9, "missing_code", "set_aside"),
            ("procedures_icd", 3, "header_row", "set_aside"),
            ("prescriptions", 2, "duplicate_row", "set_aside"),
            ("prescriptions", 4, "unreadable_date", "repaired"),
            ("prescriptions", 5, "missing_drug_text", "set_aside"),
            ("prescriptions", 7, "torn_line", "set_aside"),
        ]
    )


def test_bad_rows_of_mimic_iv(rows):
    found = rows("select source_table, file, row, reason, action from int_mimic_iv__bad_rows")
    assert sorted(found) == sorted(
        (f"mimic_iv.{table}", f"{table}.csv", row, reason, action)
        for table, row, reason, action in [
            ("patients", 2, "unreadable_number", "repaired"),
            ("patients", 3, "missing_key", "set_aside"),
            ("admissions", 2, "unreadable_date", "set_aside"),
            ("diagnoses_icd", 3, "unknown_code_version", "set_aside"),
            ("diagnoses_icd", 4, "missing_key", "set_aside"),
        ]
    )


def test_patients(rows):
    """The very old have no year of birth; without a stay or with a MetaVision one nobody counts."""
    assert rows(
        "select patient_id, sex, birth_year, set_aside_reason from int_mimic_iii__patients "
        "where set_aside_reason is null or set_aside_reason like '%carevue%' order by 1"
    ) == [
        ("1", "female", 2080, None),
        ("2", "male", None, None),
        ("3", "male", 2080, "not_carevue"),
        ("6", "female", None, None),
    ]


def test_admissions(rows):
    assert rows(
        "select admission_id, admission_type, strftime(admitted_at, '%Y-%m-%d %H:%M') "
        "from int_mimic_iii__admissions where set_aside_reason is null order by 1"
    ) == [("10", "NEWBORN", "2150-01-01 21:09"), ("20", "EMERGENCY", "2150-01-01 08:00")]


def test_events_keep_zeros_untitled_codes_and_one_of_equal_orders(rows):
    assert rows(
        "select event_type, source_code, normalized_code, source_label, n_source_rows "
        "from int_mimic_iii__events where set_aside_reason is null and admission_id = '10' "
        "order by all"
    ) == [
        ("diagnosis", "0414", "041.4", None, 1),
        ("diagnosis", "4019", "401.9", "Hypertension, unspecified", 1),
        ("diagnosis", "E8500", "E850.0", "Poisoning", 1),
        ("medication", "Insulin", None, None, 1),
        ("medication", "Senna", None, None, 3),
        ("procedure", "0066", "00.66", "Angioplasty", 1),
        ("procedure", "458", "45.8", None, 1),
    ]


def test_no_row_is_lost(rows):
    for event_type, table in (("diagnosis", "DIAGNOSES_ICD"), ("procedure", "PROCEDURES_ICD"),
                              ("medication", "PRESCRIPTIONS")):
        assert rows(
            "select sum(n_source_rows) from int_mimic_iii__events "
            f"where event_type = '{event_type}'"
        ) == [(len(ROWS[table]) + len(TORN.get(table, "").splitlines()),)]


def test_orders_keep_their_text_and_their_day(rows):
    assert rows(
        "select source_code, ndc, strftime(first_at, '%Y-%m-%d %H:%M') "
        "from int_mimic_iii__events where event_type = 'medication' and set_aside_reason is null "
        "order by 1"
    ) == [
        ("Insulin", None, "2150-01-02 00:00"),
        ("Senna", "00904516561", "2150-01-01 00:00"),
        ('Study "A", or Placebo', "00904516561", "2150-01-05 00:00"),
    ]


def test_real_looking_data_are_credentialed(rows):
    assert rows("from int_mimic_iii__data_class") == [("mimic_iii", "credentialed")]
