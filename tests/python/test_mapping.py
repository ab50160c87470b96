"""From code to CUI: bad lines of the knowledge files, overrides, tests that are able to fail."""

import pytest
from conftest import rows_on
from raw_renderer import made

# ------------------------------------------------------------------- files with bad lines

FILES = {
    "umls/MRCONSO.RRF": [
        # whole lines: an unbalanced quote, the preferred name, a title of a code
        'C0000727|ENG|P|L1|PF|S1|Y|A1||||MTH|PN|NOCODE|5" tube|0|N||',
        "C0028754|ENG|P|L2|PF|S2|Y|A2||E66.9||ICD10CM|PT|E66.9|Obesity, unspecified|0|N||",
        # 3: old layout, 4: torn, 5: a pipe within the name, 6: no CUI, 7-8: policy, not damage
        "C0000726|ENG|P|L3|PF|S3|Y|A3||||MTH|PN|NOCODE|Abdomen|0|N|",
        "C0000728|ENG|P|L4|PF|S4|Y|A4||||MTH|PN|NOCO",
        "C0000729|ENG|P|L5|PF|S5|Y|A5||||MTH|PN|NOCODE|One|two|0|N||",
        "1|medd|ENG|P|L6|PF|S6|Y|A6||||MTH|PN|NOCODE|0|N||",
        "C0000730|ENG|S|L7|PF|S7|Y|A7||||MTH|PN|NOCODE|Old name|0|O||",
        "C0000731|SPA|S|L8|PF|S8|Y|A8||||MTH|PN|NOCODE|Nombre|0|N||",
    ],
    "umls/MRSTY.RRF": ["C0028754|T047|B2|Dis\rease|AT1||", "C28754|T047|B2|Disease|AT2||"],
    "umls/MRREL.RRF": [
        "C0028754|A1|CUI|RO|C0000726|A2|CUI|may_be_treated_by|R1||MTH|MTH|||N||",
        "C0028754|A1|CUI|RO|C0000726|A2",
    ],
    "umls/MRDEF.RRF": ["C0028754|A1|AT3||MSH|Too much fat.|N||", "",
                       "C0028754|A1|AT4||MSH|a|b|N||"],
    "umls/MRCUI.RRF": ["C0000005|2020AA|SY|||C0028754|Y|", "C0000006|2020AA|DEL|||||",
                       "C0000007|2020AA|SY|||gone|Y|",
                       # a ring, a CUI that leads into it, a chain whose further row is damaged
                       "C0000008|2020AA|SY|||C0000009|Y|", "C0000009|2020AA|SY|||C0000008|Y|",
                       "C0000010|2020AA|SY|||C0000009|Y|", "C0000011|2020AA|SY|||C0000007|Y|"],
    "umls/MRSAT.RRF": [
        "C0000727||||CUI||AT5||NDC|RXNORM|00002143380|N||",
        "C0000727||||CUI||AT6||NDC|RXNORM|1234567890|N||",
        "C0000727||||CUI||AT7||NDC|RXNORM|2143380|N||",
        "C0000727||||CUI||AT8||LABELER|RXNORM|anything|N||",
        "C0000727||||CUI",
    ],
    "umls/MRRANK.RRF": ["0767|MTH|PN|N|", "high|MTH|PT|N|"],
    "icd/2018_I9gem.txt": ["0010  A000    00000", "0010 A000    00000", "5856  N186    0000",
                           "V8741 NoDx    11000"],
    "icd/2018_I10gem.txt": ["N186    5856  00000\r", "N186    5856  0x000"],
    "icd/CMS32_DESC_LONG_DX.txt": ["27800 Obesity, unspecified", "27801"],
    "icd/icd10cm_tree.csv": ["code,parent_code,title", "E66,E65-E68,Overweight and obesity",
                             ",E66,Lost its code", "E68"],
    "icd/procedure_concepts.csv": [
        "code_system,code_or_prefix,match,cui,concept_name,role",
        "ICD9PROC,3615,exact,C0010055,Coronary artery bypass,therapeutic",
        "ICD9PROC,3616,exact,10055,Coronary artery bypass,therapeutic",
        "ICD9PROC,3617,contains,C0010055,Coronary artery bypass,therapeutic",
        "ICD9PROC,3618",
        "ICD9PROC,3619,exact,C0010055,Coronary artery bypass,curative",
        "ICD9PROC,3620,exact,C0010055,Coronary artery bypass",
    ],
    "icd/icd10cm_tabular_notes.csv": [
        "code,note_type,note,target_codes",
        "E66,codeFirst,obesity in pregnancy (O99.21-),O99.21",
        ",codeFirst,lost its code (O99.21-),O99.21",
        "E67",
        "E68,codeFirst",
        "E68,seeAlso,of another kind (O99.21-),O99.21",
        "E68,excludes1,overweight (E66.3),E66.3",
        "E68,excludes2,localised fat (E65),",
    ],
}

BAD = {
    ("umls.mrconso", "MRCONSO.RRF", 3, "no_trailing_pipe", "repaired"),
    ("umls.mrconso", "MRCONSO.RRF", 4, "too_few_fields", "set_aside"),
    ("umls.mrconso", "MRCONSO.RRF", 5, "too_many_fields", "set_aside"),
    ("umls.mrconso", "MRCONSO.RRF", 6, "malformed_cui", "set_aside"),
    # A carriage return inside a line ends it.
    ("umls.mrsty", "MRSTY.RRF", 1, "too_few_fields", "set_aside"),
    ("umls.mrsty", "MRSTY.RRF", 2, "too_few_fields", "set_aside"),
    ("umls.mrsty", "MRSTY.RRF", 3, "malformed_cui", "set_aside"),
    ("umls.mrrel", "MRREL.RRF", 2, "too_few_fields", "set_aside"),
    ("umls.mrdef", "MRDEF.RRF", 2, "too_few_fields", "set_aside"),
    ("umls.mrdef", "MRDEF.RRF", 3, "too_many_fields", "set_aside"),
    ("umls.mrcui", "MRCUI.RRF", 3, "malformed_cui", "set_aside"),
    ("umls.mrcui", "MRCUI.RRF", 4, "replacement_cycle", "set_aside"),
    ("umls.mrcui", "MRCUI.RRF", 5, "replacement_cycle", "set_aside"),
    ("umls.mrcui", "MRCUI.RRF", 6, "replacement_cycle", "set_aside"),
    ("umls.mrsat", "MRSAT.RRF", 2, "ambiguous_10_digit", "set_aside"),
    ("umls.mrsat", "MRSAT.RRF", 3, "repaired_zero_padding", "repaired"),
    ("umls.mrsat", "MRSAT.RRF", 5, "too_few_fields", "set_aside"),
    ("umls.mrrank", "MRRANK.RRF", 2, "unreadable_rank", "set_aside"),
    ("icd.i9_gems", "2018_I9gem.txt", 2, "wrong_width", "set_aside"),
    ("icd.i9_gems", "2018_I9gem.txt", 3, "wrong_width", "set_aside"),
    ("icd.i10_gems", "2018_I10gem.txt", 2, "wrong_width", "set_aside"),
    ("icd.icd9cm_titles", "CMS32_DESC_LONG_DX.txt", 2, "no_title", "set_aside"),
    ("icd.icd10cm_tree", "icd10cm_tree.csv", 2, "missing_code", "set_aside"),
    ("icd.procedure_concepts", "procedure_concepts.csv", 2, "malformed_cui", "set_aside"),
    ("icd.procedure_concepts", "procedure_concepts.csv", 3, "unknown_match", "set_aside"),
    ("icd.procedure_concepts", "procedure_concepts.csv", 4, "malformed_cui", "set_aside"),
    ("icd.procedure_concepts", "procedure_concepts.csv", 5, "unknown_role", "set_aside"),
    ("icd.procedure_concepts", "procedure_concepts.csv", 6, "unknown_role", "set_aside"),
    ("icd.tabular_notes", "icd10cm_tabular_notes.csv", 2, "missing_code", "set_aside"),
    ("icd.tabular_notes", "icd10cm_tabular_notes.csv", 3, "too_few_fields", "set_aside"),
    ("icd.tabular_notes", "icd10cm_tabular_notes.csv", 4, "too_few_fields", "set_aside"),
    ("icd.tabular_notes", "icd10cm_tabular_notes.csv", 5, "unknown_note_type", "set_aside"),
}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """A query function over what becomes of the files above."""
    folder = tmp_path_factory.mktemp("mapping")
    for name, lines in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(("\n".join(lines) + "\n").encode())
    with made(
        *("int_umls__bad_rows", "int_icd__bad_rows", "int_ndc_attributes"),
        *("int_terminology_atoms", "int_gem_targets", "int_retired_cuis"),
        EHRBENCH_UMLS_DIR=folder / "umls",
        EHRBENCH_ICD_DIR=folder / "icd",
    ) as rows:
        yield rows


def test_every_bad_line_is_listed_with_file_row_and_reason(read):
    found = read(
        "select * from int_umls__bad_rows union all select * from int_icd__bad_rows order by all"
    )
    assert set(found) == BAD
    assert len(found) == len(BAD)


def test_no_line_is_lost_and_good_ones_arrive_whole(read):
    assert read("select count(*) from stg_umls__atoms") == [(len(FILES["umls/MRCONSO.RRF"]),)]
    assert read("select cui_id, name from int_terminology_atoms order by all") == [
        (726, "Abdomen"), (727, '5" tube'), (28754, "Obesity, unspecified"),
    ]
    assert read("select * from int_retired_cuis order by all") == [(5, 28754), (11, 7)]
    assert read("select ndc11 from int_ndc_attributes") == [("00002143380",)]
    assert read("select normalized_code, target_code from int_gem_targets order by all") == [
        ("001.0", "A00.0"), ("N18.6", "585.6"),
    ]


# ------------------------------------------------------- dbt tests that are able to fail

TABLES = {
    "code_overrides": (
        "code_system varchar, normalized_code varchar, cui varchar, comment varchar",
        [("ICD10CM", "E87.1", "C0020625", "low sodium"), ("DRUG_TEXT", "adde", "none", "typo")],
    ),
    "code_systems": ("code_system varchar", [("ICD9CM",), ("ICD10CM",), ("DRUG_TEXT",)]),
    "mapping_reasons": ("reason varchar", [("no_concept",), ("residual_title",)]),
    "int_events_placed": (
        "source varchar, event_type varchar, n_source_rows integer",
        [("s", "diagnosis", 3), ("s", "diagnosis", 1), ("t", "diagnosis", 1)],
    ),
    "int_events_mapped": (
        "source varchar, event_type varchar, visit_key varchar, code_system varchar, "
        "normalized_code varchar, n_source_rows integer, set_aside_reason varchar",
        [("s", "diagnosis", "v", "ICD9CM", "585.6", 3, None),
         ("s", "diagnosis", "w", "ICD10CM", "N18.6", 1, None),
         ("t", "diagnosis", "x", "ICD10CM", "N18.6", 1, "unknown_admission")],
    ),
    "fct_visit_events": (
        "event_key varchar, visit_key varchar, source varchar, event_type varchar, "
        "code_system varchar, normalized_code varchar",
        [("a", "v", "s", "diagnosis", "ICD9CM", "585.6"),
         ("b", "w", "s", "diagnosis", "ICD10CM", "N18.6")],
    ),
    "dim_visits": ("visit_key varchar, person_group varchar", [("v", "p"), ("w", "p")]),
    "brg_event_concepts": (
        "event_key varchar, cui varchar, cui_id integer, rank integer, reason varchar",
        [("a", "C0000001", 1, 1, None), ("b", "C0000001", 1, 1, None),
         ("b", "C0000002", 2, 2, None)],
    ),
    "int_icd_code_concepts": (
        "code_system varchar, normalized_code varchar, cui_id integer, mapping_level varchar",
        [("ICD9CM", "E850", 1, "exact"), ("ICD10CM", "E85.0", 2, "exact"),
         ("ICD9CM", "V44.3", 3, "ancestor"), ("ICD10CM", "V44.3", 3, "exact")],
    ),
    "int_gem_targets": (
        "code_system varchar, normalized_code varchar, target_system varchar, "
        "target_code varchar, is_approximate boolean, is_combination boolean",
        [("ICD9CM", "585.6", "ICD10CM", "N18.6", False, False)],
    ),
    "int_concept_equivalents": (
        "cui_id integer, equivalent_cui_id integer", [(8, 9)],
    ),
}

BREAKS = {
    "code_override_with_malformed_cui": [
        "update code_overrides set cui = 'c0020625' where cui <> 'none'",
        "update code_overrides set cui = 'C20625' where cui <> 'none'",
        "update code_overrides set cui = null where cui <> 'none'",
        "update code_overrides set cui = 'None' where cui = 'none'",
    ],
    "code_override_of_unknown_code_system": [
        "update code_overrides set code_system = 'ICD10' where code_system = 'ICD10CM'",
    ],
    "code_override_given_twice": [
        "insert into code_overrides values ('ICD10CM', 'E87.1', 'none', 'again')",
    ],
    "assert_every_event_is_explained": [
        "delete from brg_event_concepts where event_key = 'a'",
        "update brg_event_concepts set cui_id = null where event_key = 'a'",
        "update brg_event_concepts set cui_id = null, reason = 'because' where event_key = 'a'",
        "update brg_event_concepts set reason = 'no_concept' where event_key = 'a'",
    ],
    "assert_mapping_multiplies_no_events": [
        "insert into int_events_mapped select * from int_events_mapped where visit_key = 'v'",
        "delete from int_events_mapped where source = 't'",
        "insert into fct_visit_events values ('c', 'v', 's', 'diagnosis', 'ICD9CM', '585.60')",
        "insert into brg_event_concepts values ('b', 'C0000003', 3, 1, null)",
        "delete from fct_visit_events where event_key = 'b'",
    ],
    "assert_equal_texts_of_two_versions_do_not_meet": [
        "update int_icd_code_concepts set cui_id = 1",
        "update int_icd_code_concepts set mapping_level = 'equivalent'",
    ],
    "assert_versions_of_a_disease_meet": [
        "update brg_event_concepts set cui_id = 7 where event_key = 'a'",
        "update brg_event_concepts set cui_id = 9 where event_key = 'a'; "
        "update brg_event_concepts set cui_id = 7 where event_key = 'b'",
    ],
}


@pytest.fixture
def failing_rows(unqualified):
    """Number of rows that a dbt test finds after a change to the tables above."""
    return lambda name, change=None: rows_on(TABLES, unqualified[name], change)


@pytest.mark.parametrize("name", BREAKS)
def test_passes_on_sound_tables(failing_rows, name):
    assert failing_rows(name) == 0


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name, changes in BREAKS.items() for change in changes]
)
def test_fails_on_broken_tables(failing_rows, name, change):
    assert failing_rows(name, change) >= 1


@pytest.mark.parametrize("change", [
    "update brg_event_concepts set cui_id = 8 where event_key = 'a'; "
    "update brg_event_concepts set cui_id = 9 where event_key = 'b'",
    "update dim_visits set person_group = visit_key; update brg_event_concepts set cui_id = 7",
    "update brg_event_concepts set cui_id = 5; update int_gem_targets set is_approximate = true",
])
def test_equivalent_concepts_of_a_patient_meet(failing_rows, change):
    assert failing_rows("assert_versions_of_a_disease_meet", change) == 0


# ------------------------------------------------------------------------- a whole build


def test_the_versions_of_a_patients_disease_share_a_concept(synthetic_build):
    """The assertion above holds for pairs that exist: some patient has both versions' codes."""
    pairs = synthetic_build.rows(
        """
        select count(distinct nine.person_group)
        from (
            select v.person_group, e.code_system, b.cui_id
            from fct_visit_events e
            join dim_visits v on e.visit_key = v.visit_key
            join brg_event_concepts b on e.event_key = b.event_key
            where e.code_system = 'ICD9CM' and b.mapping_level in ('exact', 'equivalent')
        ) nine
        join (
            select v.person_group, e.code_system, b.cui_id
            from fct_visit_events e
            join dim_visits v on e.visit_key = v.visit_key
            join brg_event_concepts b on e.event_key = b.event_key
            where e.code_system = 'ICD10CM' and b.mapping_level in ('exact', 'equivalent')
        ) ten on nine.person_group = ten.person_group and nine.cui_id = ten.cui_id
        """
    )
    assert pairs[0][0] >= 1


def test_every_kind_of_outcome_adds_up(synthetic_build):
    """Mapped and unmapped rows of a class are its sums, and the sums are the events."""
    wrong = synthetic_build.rows(
        """
        select source, event_type, code_system, code_class
        from rpt_mapping_coverage
        group by all
        having sum(n_events) filter (where outcome_kind = 'total')
            <> sum(n_events) filter (where outcome_kind <> 'total')
        """
    )
    assert not wrong
    counted = synthetic_build.rows(
        """
        select sum(n_events) from rpt_mapping_coverage
        where outcome_kind = 'total' and code_class = 'all'
        """
    )
    assert counted == synthetic_build.rows("select count(*) from fct_visit_events")
