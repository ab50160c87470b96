"""Rules on codes and concepts: k1 asks px (asthma, index visit v1, target v2), k2 and k3 ask tx (insulin
glargine, hemodialysis), each released."""

SOUND = """
create table dim_items as select * from (values
    ('i1', 'k1', 'px', true), ('i2', 'k2', 'tx', true), ('i3', 'k3', 'tx', true))
    as v(item_id, template_key, task, released);
create table fct_answer_keys as select * from (values
    ('i1', 'C0000002'), ('i2', 'C0000005'), ('i3', 'C0000006')) as v(item_id, gold_cui);
create table fct_templates as select * from (values
    ('k1', 'px', 'gout', 'gout,ctx', 'asthma', 'diagnosis', 'C0000002'),
    ('k2', 'tx', 'gout', 'gout,ctx', 'insulin', 'medication', 'C0000005'),
    ('k3', 'tx', 'gout', 'gout,ctx', 'dialysis', 'procedure', 'C0000006'))
    as v(template_key, task, subject_event_key, scenario_event_keys, answer_event_key, answer_event_type,
        answer_cui);
create table dim_visits as select * from (values ('v0', 'p', 1), ('v1', 'p', 2), ('v2', 'p', 3), ('w', 'q', 1))
    as v(visit_key, patient_key, visit_number);
create table fct_visit_events as select * from (values
    ('gout', 'v1', 'diagnosis', 'ICD10CM', 'M10.9'), ('ctx', 'v1', 'diagnosis', 'ICD10CM', 'I10'),
    ('old', 'v0', 'diagnosis', 'ICD9CM', '401.9'), ('asthma', 'v2', 'diagnosis', 'ICD10CM', 'J45.9'),
    ('late', 'v2', 'diagnosis', 'ICD9CM', '493.90'), ('hers', 'w', 'diagnosis', 'ICD9CM', '493.90'),
    ('insulin', 'v1', 'medication', 'INGREDIENT', 'insulin glargine'),
    ('dialysis', 'v1', 'procedure', 'ICD9PROC', '39.95'))
    as v(event_key, visit_key, event_type, code_system, normalized_code);
create table brg_event_concepts as select * from (values
    ('gout', 'C0000009', 9, 'exact'), ('ctx', 'C0000008', 8, 'exact'), ('old', 'C0000008', 8, 'exact'),
    ('asthma', 'C0000002', 2, 'exact'), ('insulin', 'C0000005', 5, 'exact'))
    as v(event_key, cui, cui_id, mapping_level);
create table dim_concepts as select * from (values
    ('C0000005', 5, 'Insulin glargine'), ('C0000006', 6, 'Procedure of the kidney'))
    as v(cui, cui_id, name);
create table int_gem_targets as select * from (values
    ('ICD9CM', '493.90', 'ICD10CM', 'J45.9', false), ('ICD9CM', '786.07', 'ICD10CM', 'J45.9', true))
    as v(code_system, normalized_code, target_system, target_code, is_combination);
create table status_code_reveals as select * from (values
    ('ICD10CM', 'Z79.4', 'Z79.4', 'insulin'), ('ICD9CM', 'V45.1', 'V45.1', 'dialysis'),
    ('ICD10CM', 'Z79.5', 'Z79.6', 'steroid')) as v(code_system, code_from, code_to, treatment);
create table treatment_targets as select * from (values
    ('insulin', 'atc', 'A10A'), ('insulin', 'medication_word', 'insulin'), ('dialysis', 'ICD9PROC', '39.95'),
    ('dialysis', 'procedure_word', 'dialysis'), ('steroid', 'medication_word', 'prednisone'))
    as v(treatment, target_kind, target);
create table int_drug_classes as select * from (values (5, 'A10A')) as v(cui_id, atc_code);
create table int_drug_ingredients as select * from (values (5, 5), (51, 5), (52, 52), (53, 53))
    as v(cui_id, ingredient_cui_id);
create table int_combination_parts as select * from (values (52, 5), (53, 54))
    as v(combination_cui_id, part_cui_id);
create table outcome_proxies as select * from (values ('ICD10CM', 'I46', 'I46'))
    as v(code_system, code_from, code_to);
create table icd_pair_conventions as select * from (values ('ICD10CM', 'D63.0', 'D63.0', 'C00', 'C96'))
    as v(code_system, code_from, code_to, paired_from, paired_to);
create table icd_families as select * from (values ('hypertension', 'ICD9CM', '401', '405'))
    as v(family, code_system, code_from, code_to);
create table atc_levels as select * from (values (3, 4)) as v(level, code_length);
"""

BROKEN = [
    ("assert_l03_answer_concept", "insert into brg_event_concepts values ('gout', 'C0000002', 2, 'part')"),
    ("assert_l03_answer_concept", "insert into brg_event_concepts values ('ctx', 'C0000005', 5, 'exact')"),
    ("assert_l03_answer_concept", "update fct_answer_keys set gold_cui = 'C0000009' where item_id = 'i3'"),
    ("assert_l03_answer_concept",
     "update fct_templates set scenario_event_keys = 'gout,' || answer_event_key where template_key = 'k1'"),
    # the old code translated, the other way round, by concept, in the index visit itself
    ("assert_l07_other_code_version", "update fct_visit_events set normalized_code = '493.90' where event_key = 'old'"),
    (
        "assert_l07_other_code_version",
        "insert into int_gem_targets values ('ICD10CM', 'J45.9', 'ICD9CM', '401.9', false)",
    ),
    ("assert_l07_other_code_version", "insert into brg_event_concepts values ('old', 'C0000002', 2, 'ancestor')"),
    ("assert_l07_other_code_version", "update fct_visit_events set visit_key = 'v1' where event_key = 'late'"),
    ("assert_l08_status_codes", "update fct_visit_events set normalized_code = 'Z79.4' where event_key = 'ctx'"),
    (
        "assert_l08_status_codes",
        "update fct_visit_events set normalized_code = 'Z79.4' where event_key = 'ctx'; delete from int_drug_classes",
    ),
    (
        "assert_l08_status_codes",
        "update fct_visit_events set normalized_code = 'Z79.4' where event_key = 'ctx'; delete from dim_concepts "
        "where cui_id = 5; insert into dim_concepts values ('C0000005', 5, 'Lantus')",
    ),
    (
        "assert_l08_status_codes",
        "update fct_visit_events set code_system = 'ICD9CM', normalized_code = 'V45.11' where event_key = 'ctx'",
    ),
    # the ingredient itself, its salt, a combination with it, the answer a combination with what is shown
    ("assert_l09_drug_ingredient", "insert into brg_event_concepts values ('ctx', 'C0000005', 5, 'exact')"),
    ("assert_l09_drug_ingredient", "insert into brg_event_concepts values ('ctx', 'C0000051', 51, 'exact')"),
    ("assert_l09_drug_ingredient", "insert into brg_event_concepts values ('ctx', 'C0000052', 52, 'exact')"),
    (
        "assert_l09_drug_ingredient",
        "update dim_concepts set cui_id = 53 where cui_id = 5; "
        "insert into brg_event_concepts values ('ctx', 'C0000054', 54, 'exact')",
    ),
    ("assert_leak_code_ranges_are_well_formed", "update outcome_proxies set code_to = 'I46.9'"),
    ("assert_leak_code_ranges_are_well_formed", "update icd_pair_conventions set paired_to = 'C9'"),
    ("assert_leak_code_ranges_are_well_formed", "update icd_families set code_to = '400'"),
    ("assert_leak_code_ranges_are_well_formed", "update status_code_reveals set code_from = 'Z79.9'"),
    ("assert_leak_code_ranges_are_well_formed", "update treatment_targets set target = 'A1' where target_kind = 'atc'"),
]

# Changes that no test may mind.
NEAR_MISSES = [
    ("assert_l03_answer_concept", "insert into brg_event_concepts values ('old', 'C0000002', 2, 'exact')"),
    ("assert_l03_answer_concept", "update dim_items set released = false; update fct_answer_keys set gold_cui = 'C0000009'"),
    ("assert_l07_other_code_version", "update fct_visit_events set normalized_code = '786.07' where event_key = 'old'"),
    ("assert_l07_other_code_version", "insert into brg_event_concepts values ('hers', 'C0000002', 2, 'exact')"),
    ("assert_l08_status_codes", "update fct_visit_events set normalized_code = 'Z79.52' where event_key = 'ctx'"),
    ("assert_l08_status_codes", "update fct_visit_events set normalized_code = 'Z79.4' where event_key = 'old'"),
    ("assert_l09_drug_ingredient", "insert into brg_event_concepts values ('ctx', 'C0000053', 53, 'exact')"),
]
