"""Broken cases of the leakage tests on time, patients and identifiers (L13, L14, L27, L30, L32, L35, L36).

Two templates of one patient of MIMIC-IV: kx (px: index visit v1, target v2, answer C0000005) and kt (tx:
visit v1, answer C0000007); two more of other people: km (MIMIC-III) and ko (the OMOP twin of MIMIC-IV).
"""

import csv
from pathlib import Path

SEEDS = Path(__file__).parents[3] / "seeds"
PA, P3, PO = "md5('mimic_iv|10')", "md5('mimic_iii|20')", "md5('omop_mimic_iv_demo|30')"


def values(seed: str, *columns: str) -> str:
    """A seed's columns as the rows of a values list."""
    with (SEEDS / f"{seed}.csv").open(encoding="utf-8", newline="") as file:
        rows = [[row[name].replace("'", "''") for name in columns] for row in csv.DictReader(file)]
    return ", ".join("(" + ", ".join(f"'{cell}'" for cell in row) + ")" for row in rows)


SOUND = f"""
create table identifier_patterns as
select * from (values {values("identifier_patterns", "pattern_name", "pattern")})
    as v(pattern_name, pattern);
create table event_type_words as
select * from (values {values("event_type_words", "event_type", "word")}) as v(event_type, word);
create table dim_items as select * from (values
    ('ix', 'kx', 'px', '- Diagnosis: Gout' || chr(10) || '- Medication ordered: Lithium', 'Next?', true, true),
    ('it', 'kt', 'tx', '- Diagnosis: Gout', 'Which?', true, true),
    ('im', 'km', 'tx', '- Diagnosis: Gout', 'Which?', true, true),
    ('io', 'ko', 'tx', '- Diagnosis: Gout', 'Which?', true, false))
    as v(item_id, template_key, task, scenario, question, released, in_subset);
create table fct_item_options as select * from (values ('ix', 'Asthma'), ('ix', 'Body mass index 36.0-36.9, adult'),
    ('it', 'Colchicine'), ('im', 'Colchicine'), ('io', 'Insulin 70:30')) as v(item_id, label);
create table fct_templates as select * from (values
    ('kx', 'tx1', 'px', {PA}, 'e1,e2', 'e5', 'C0000005'),
    ('kt', 'tt1', 'tx', {PA}, 'e1', 'e7', 'C0000007'),
    ('km', 'tm1', 'tx', {P3}, 'm1', 'm7', 'C0000007'),
    ('ko', 'to1', 'tx', {PO}, 'o1', 'o7', 'C0000007'))
    as v(template_key, triple_id, task, patient_key, scenario_event_keys, answer_event_key, answer_cui);
create table fct_triples as select * from (values
    ('tx1', 'v1', 'v2'), ('tt1', 'v1', null), ('tm1', 'vm', null), ('to1', 'vo', null))
    as v(triple_id, visit_key, target_visit_key);
create table dim_visits as select * from (values
    ('v0', {PA}, 'g1', 1, 'emergency', timestamp '2150-01-01', timestamp '2150-01-02'),
    ('v1', {PA}, 'g1', 2, 'inpatient', timestamp '2150-02-01', timestamp '2150-02-05'),
    ('v2', {PA}, 'g1', 3, 'inpatient', timestamp '2150-03-01', timestamp '2150-03-05'),
    ('vm', {P3}, 'g3', 1, 'inpatient', timestamp '2150-02-01', timestamp '2150-02-05'),
    ('vo', {PO}, 'g1', 1, 'inpatient', timestamp '2150-02-01', timestamp '2150-02-05'))
    as v(visit_key, patient_key, person_group, visit_number, visit_class, admitted_at, discharged_at);
create table fct_visit_events as select * from (values
    ('e0', 'v0', 'diagnosis', 'ICD10CM', 'M10.9', 'Gout', timestamp '2150-01-02', false),
    ('e1', 'v1', 'diagnosis', 'ICD10CM', 'M10.9', 'gout', timestamp '2150-02-05', false),
    ('e2', 'v1', 'medication', 'DRUG', 'lithium', 'Lithium', timestamp '2150-02-02', false),
    ('e5', 'v2', 'diagnosis', 'ICD10CM', 'J45.2', 'Asthma', timestamp '2150-03-05', false),
    ('e6', 'v2', 'diagnosis', 'ICD10CM', 'J45.9', 'Asthma', timestamp '2150-03-05', false),
    ('e7', 'v1', 'medication', 'DRUG', 'colchicine', 'Colchicine', timestamp '2150-02-02', false),
    ('m1', 'vm', 'diagnosis', 'ICD9CM', '274.9', 'Gout', null, false),
    ('m7', 'vm', 'medication', 'DRUG', 'colchicine', 'Colchicine', null, false),
    ('o1', 'vo', 'diagnosis', 'ICD10CM', 'M10.9', 'Gout', null, false),
    ('o7', 'vo', 'medication', 'DRUG', 'colchicine', 'Colchicine', null, false))
    as v(event_key, visit_key, event_type, code_system, normalized_code, label, first_at, is_hindsight);
create table brg_event_concepts as select * from (values
    ('e0', 'C0000001', 1), ('e1', 'C0000001', 1), ('e2', 'C0000002', 2), ('e5', 'C0000005', 5),
    ('e6', 'C0000006', 6), ('e7', 'C0000007', 7), ('m1', 'C0000001', 1), ('m7', 'C0000007', 7),
    ('o1', 'C0000001', 1), ('o7', 'C0000007', 7)) as v(event_key, cui, cui_id);
create table int_concept_relatives as select * from (values
    (5, 6, 'sibling'), (2, 5, 'same_class'), (5, 1, 'same_class')) as v(cui_id, relative_cui_id, relation);
create table int_leak_concept_codes as select * from (values
    (5, 'ICD10CM', 'J45.9'), (5, 'ICD9CM', '493.90'), (6, 'ICD10CM', 'M10.9'))
    as v(cui_id, code_system, normalized_code);
create table int_source_patients as select * from (values
    ('mimic_iv', '10', 'A'), ('mimic_iii', '20', 'B'), ('omop_mimic_iv_demo', '30', 'A'))
    as v(source, patient_id, person_id);
create table dim_patients as select * from (values
    ({PA}, 'mimic_iv', 'g1'), ({P3}, 'mimic_iii', 'g3'), ({PO}, 'omop_mimic_iv_demo', 'g1'))
    as v(patient_key, source, person_group);
create table source_overlaps as select * from (values
    ('mimic_iv', 'mimic_iv_family', null), ('omop_mimic_iv_demo', 'mimic_iv_family', 'mimic_iv'),
    ('mimic_iii', 'mimic_iii_family', null)) as v(source, person_family, derived_from);
create table stg_mimic_iii__icustays as select * from (values ('20', 'carevue'), ('21', 'metavision'))
    as v(subject_id, dbsource);
"""

# One text per pattern of the seed.
IDENTIFIERS = [
    "Seen on 2180-07-23", "Seen on 23/7/2180", "Seen on 23 July", "July 2180", "Since 2180", "At 14:30", "At 9:05:11",
    "Subject 12345", "Stay 80000022", "Key 0123456789abcdef", "Key 0a1b2c3d-1111-2222", "Aged 93", "A 91-year-old",
    "Mr. Smith", "Dr Jones", "(617) 555-0199", "Mail a.b@site.org", "Seen by ___", "Seen on [**Date**]", "MRN unknown",
]

L13 = "assert_l13_answer_already_present"
L14 = "assert_l14_after_index_time"
L27 = "assert_l27_patient_overlap"
L30 = "assert_l30_identifiers"
L32 = "assert_l32_subset_items_reveal_no_answer"
L35 = "assert_l35_grounding"
L36 = "assert_l36_visit_order"

BROKEN = [
    # the concept in the index visit, a sibling or a code of the category before it (of the answer's own code or
    # of another code of its concept), the twin source's visit
    (L13, "insert into brg_event_concepts values ('e1', 'C0000005', 5)"),
    (L13, "insert into brg_event_concepts values ('e0', 'C0000006', 6)"),
    (L13, "update fct_visit_events set normalized_code = 'J45.8' where event_key = 'e0'"),
    (L13, "update fct_visit_events set code_system = 'ICD9CM', normalized_code = '493.20' where event_key = 'e0'"),
    (L13, "insert into brg_event_concepts values ('o1', 'C0000005', 5)"),
    (L14, "update fct_templates set scenario_event_keys = 'e1,e0' where template_key = 'kx'"),
    (L14, "update fct_templates set scenario_event_keys = 'e1,e6' where template_key = 'kx'"),
    (L14, "update fct_visit_events set first_at = timestamp '2150-02-05 00:01' where event_key = 'e2'"),
    (L14, "update fct_templates set scenario_event_keys = 'e1,e2' where template_key = 'kt'"),
    (L14, "update fct_visit_events set is_hindsight = true where event_key = 'e1'"),
    (L27, "update stg_mimic_iii__icustays set subject_id = '20'"),
    (L27, "delete from stg_mimic_iii__icustays where subject_id = '20'"),
    (L27, "update dim_patients set person_group = 'g3'; update dim_visits set person_group = 'g3'"),
    (L27, "update source_overlaps set derived_from = null"),
    (L27, "update dim_patients set person_group = 'g2' where source = 'omop_mimic_iv_demo'"),
    (L27, "delete from dim_patients where source = 'mimic_iv'"),
    *[(L30, f"update dim_items set scenario = '- Diagnosis: {text}' where item_id = 'it'") for text in IDENTIFIERS],
    (L30, "update dim_items set question = 'At 14:30?'"),
    (L30, "update fct_item_options set label = 'Stay 80000022' where item_id = 'io'"),
    (L30, "delete from identifier_patterns; update dim_items set scenario = md5('x')"),
    (L32, "update fct_templates set answer_cui = 'C0000002' where template_key = 'kt'"),
    # one stay in two sources
    (L32, "update dim_items set in_subset = true where item_id = 'io'; "
          "insert into brg_event_concepts values ('o1', 'C0000007', 7)"),
    (L32, "update fct_triples set visit_key = 'v2' where triple_id = 'tt1'; "
          "insert into brg_event_concepts values ('e1', 'C0000005', 5)"),
    (L35, "update dim_items set scenario = '- Diagnosis: Gout' || chr(10) || '- Diagnosis: Scurvy'"),
    (L35, "update dim_items set scenario = '- Diagnosis: Lithium' where item_id = 'ix'"),
    (L35, "update fct_visit_events set visit_key = 'v0' where event_key = 'e1'"),
    (L35, f"update dim_visits set patient_key = {PO} where visit_key = 'v1'"),
    (L35, "update fct_visit_events set visit_key = 'v1' where event_key = 'e5'"),
    (L35, "delete from fct_visit_events where event_key = 'e7'"),
    (L35, "update fct_templates set answer_cui = 'C0000001' where template_key = 'kx'"),
    (L36, "update dim_visits set admitted_at = timestamp '2150-02-04' where visit_key = 'v2'"),
    (L36, "update dim_visits set admitted_at = timestamp '2152-02-06' where visit_key = 'v2'"),
    (L36, "update fct_visit_events set visit_key = 'v1' where event_key = 'e5'"),
    (L36, "update dim_visits set person_group = 'g9' where visit_key = 'v2'"),
    (L36, "update dim_visits set visit_class = 'observation' where visit_key = 'v2'"),
    (L36, "update dim_visits set visit_number = 1 where visit_key = 'v2'"),
    (L36, "update dim_visits set discharged_at = null where visit_key = 'v1'"),
]
