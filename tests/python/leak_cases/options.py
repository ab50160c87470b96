"""Rules on options: template k1 (px, option b = asthma is the answer, patient `patient`), its items with two
and four options, and an open question; k2 (tx) asks for drug x beside drug y."""

SOUND = """
create table dim_items as select * from (values
    ('i2', 'k1', 's', 'px', 'mcq', 2, 'Gout', 'Which?', false, true),
    ('i4', 'k1', 's', 'px', 'mcq', 4, 'Gout', 'Which?', false, true),
    ('io', 'k1', 's', 'px', 'oeq', null, 'Gout', 'What?', false, true),
    ('ix', 'k2', 's', 'tx', 'mcq', 2, 'Gout', 'Which drug?', false, true))
    as v(item_id, template_key, source, task, format, n_options, scenario, question, context_critical,
        released);
create table fct_item_options as select * from (values
    ('i2', 'A', 'a', 'Sepsis', 'C0000001', 'diagnosis'), ('i2', 'B', 'b', 'Asthma', 'C0000002', 'diagnosis'),
    ('i4', 'A', 'a', 'Sepsis', 'C0000001', 'diagnosis'), ('i4', 'B', 'b', 'Asthma', 'C0000002', 'diagnosis'),
    ('i4', 'C', 'c', 'Ileus', 'C0000003', 'diagnosis'), ('i4', 'D', 'd', 'Stroke', 'C0000004', 'diagnosis'),
    ('ix', 'A', 'x', 'Codeine', 'C0000011', 'medication'),
    ('ix', 'B', 'y', 'Aspirin', 'C0000012', 'medication'))
    as v(item_id, option_letter, option_key, label, cui, event_type);
create table fct_answer_keys as select * from (values
    ('i2', 'b', 'C0000002'), ('i4', 'b', 'C0000002'), ('io', 'b', 'C0000002'), ('ix', 'x', 'C0000011'))
    as v(item_id, gold_option_key, gold_cui);
create table fct_templates as select * from (values
    ('k1', 'px', 'patient', 'gout'), ('k2', 'tx', 'patient', 'gout'))
    as v(template_key, task, patient_key, subject_event_key);
create table dim_concepts as select * from (values
    ('C0000001', 'DISO'), ('C0000002', 'DISO'), ('C0000003', 'DISO'), ('C0000004', 'DISO'),
    ('C0000011', 'CHEM'), ('C0000012', 'CHEM')) as v(cui, semantic_group);
create table int_cohort_codes as select * from (values
    ('ICD10CM', 'A41.9', true), ('ICD10CM', 'J45.9', true), ('ICD10CM', 'K56.7', true),
    ('ICD10CM', 'K56.0', false)) as v(code_system, normalized_code, is_coded);
create table int_code_concepts as select * from (values
    ('ICD10CM', 'A41.9', 1, 'exact'), ('ICD10CM', 'J45.9', 2, 'exact'), ('ICD10CM', 'K56.7', 3, 'equivalent'),
    ('ICD10CM', 'K56.7', 4, 'ancestor'), ('ICD10CM', 'K56.0', 4, 'exact'))
    as v(code_system, normalized_code, cui_id, mapping_level);
create table icd_code_systems as select * from (values
    ('ICD9CM', 'diagnosis'), ('ICD10CM', 'diagnosis'), ('ICD10PCS', 'procedure')) as v(code_system, code_kind);
create table icd_families as select * from (values
    ('sepsis', 'ICD10CM', 'A40', 'A41'), ('sepsis', 'ICD9CM', '790', '791'))
    as v(family, code_system, code_from, code_to);
create table int_administrations_mapped as select * from (values ('v1', 'bag'), ('v2', 'C0000003'))
    as v(visit_key, normalized_code);
create table int_combination_parts as select * from (values (13, 12)) as v(combination_cui_id, part_cui_id);
create table int_drug_classes as select * from (values (11, 4, 'R05DA'), (12, 4, 'N02BA'), (12, 3, 'R05D'))
    as v(cui_id, level, atc_code);
create table int_concept_ancestors as select * from (values (1, 3)) as v(cui_id, ancestor_cui_id);
create table int_template_scenario as select * from (values
    ('k1', 'gout'), ('k1', 'ctx'), ('k2', 'gout'), ('k2', 'ctx')) as v(template_key, event_key);
create table brg_event_concepts as select * from (values
    ('gout', 9), ('ans', 2), ('other', 1), ('ctx', 8), ('ileus', 3), ('gas', 7), ('seen', 7))
    as v(event_key, cui_id);
alter table brg_event_concepts add column mapping_level varchar;
create table dim_visits as select * from (values
    ('v1', 'patient', 'person'), ('v2', 'another', 'somebody'), ('v3', 'again', 'person'))
    as v(visit_key, patient_key, person_group);
create table fct_visit_events as select * from (values
    ('gout', 'v1', 'diagnosis', 'ICD10CM', 'M10.9'), ('ans', 'v1', 'diagnosis', 'ICD10CM', 'J45.9'),
    ('other', 'v2', 'diagnosis', 'ICD10CM', 'A41.9'), ('more', 'v3', 'diagnosis', 'ICD9CM', '274.0'),
    ('cut', 'v3', 'procedure', 'ICD10CM', 'A41.0'), ('ileus', 'v2', 'diagnosis', 'ICD10CM', 'K56.7'),
    ('gas', 'v2', 'diagnosis', 'ICD10CM', 'A41.1'), ('seen', 'v3', 'diagnosis', 'SNOMEDCT_US', '7'))
    as v(event_key, visit_key, event_type, code_system, normalized_code);
create table int_gem_targets as select * from (values
    ('ICD10CM', 'M10.9', 'ICD9CM', '274.9', false), ('ICD9CM', '038.9', 'ICD10CM', 'A41.9', false),
    ('ICD10CM', 'K56.7', 'ICD9CM', '274.1', true))
    as v(code_system, normalized_code, target_system, target_code, is_combination);
create table int_concept_equivalents as select * from (values (3, 30), (90, 9)) as v(cui_id, equivalent_cui_id);
create table int_curated_edges as select * from (values (1, 'contraindicated_with_disease', 8))
    as v(subject_cui_id, rela, object_cui_id);
create table int_drug_interactions as select * from (values (3, 8, 'severe'), (4, 8, 'other'))
    as v(cui_id, other_cui_id, severity);
create table conflict_predicates as select * from (values
    ('contraindicated', 'umls', 'contraindicated_with_disease', 'harm'))
    as v(rule, kb, predicate_or_rela, effect);
create table int_edge_roles as select * from (values
    ('causes', 'support', 9, 2), ('causes', 'contradict', 9, 1), ('treat_with', 'support', 9, 3))
    as v(relation, role, subject_cui_id, object_cui_id);
create table relations as select * from (values ('causes', 'px'), ('treat_with', 'tx'))
    as v(relation, task);
create table int_leak__l18_label_markers as select * from (values
    ('L18', 'dx', false), ('L18', 'tx', null)) as v(rule_id, task, is_found);
"""

MARKED = "update dim_items set context_critical = true where item_id in ('i2', 'i4'); "

BROKEN = [
    ("assert_l17_option_type", "update fct_item_options set event_type = 'procedure' where option_key = 'd'"),
    ("assert_l17_option_type", "update dim_concepts set semantic_group = 'LIVB' where cui = 'C0000003'"),
    ("assert_l17_option_type", "delete from dim_concepts where cui = 'C0000001'"),
    ("assert_l18_label_markers", "update int_leak__l18_label_markers set is_found = true where task = 'dx'"),
    # in a record: of the patient, of the same person in another source, as any of several concepts
    ("assert_l24_distractor_also_right", "update fct_visit_events set visit_key = 'v1' where event_key = 'other'"),
    ("assert_l24_distractor_also_right", "update fct_visit_events set visit_key = 'v3' where event_key = 'other'"),
    ("assert_l24_distractor_also_right", "insert into brg_event_concepts values ('ans', 3, 'exact')"),
    # and below or above what is recorded, from an equivalent of the option to one of the record
    ("assert_l24_distractor_also_right", "insert into int_concept_equivalents values (9, 3)"),
    ("assert_l24_distractor_also_right", "insert into int_concept_ancestors values (30, 9)"),
    ("assert_l24_distractor_also_right", "insert into int_concept_ancestors values (9, 3)"),
    ("assert_l24_distractor_also_right", "insert into int_concept_ancestors values (30, 90)"),
    ("assert_l24_distractor_also_right", "insert into int_concept_ancestors values (90, 30)"),
    # by its category: of this version, of the other, and translated on either side
    ("assert_l24_distractor_also_right",
     "update fct_visit_events set normalized_code = 'A41.0' where event_key = 'gout'"),
    ("assert_l24_distractor_also_right",
     "update fct_visit_events set normalized_code = '038.0' where event_key = 'more'"),
    ("assert_l24_distractor_also_right",
     "insert into int_gem_targets values ('ICD10CM', 'M10.9', 'ICD10CM', 'A41.5', false)"),
    ("assert_l24_distractor_also_right",
     "insert into int_gem_targets values ('ICD10CM', 'A41.7', 'ICD9CM', '274.0', false)"),
    ("assert_l24_distractor_also_right",
     "update brg_event_concepts set mapping_level = 'exact' where event_key = 'seen'"),
    # by its family, of the other version too, and only administered
    ("assert_l24_distractor_also_right",
     "update fct_visit_events set normalized_code = 'A40.0' where event_key = 'gout'"),
    ("assert_l24_distractor_also_right",
     "update fct_visit_events set normalized_code = '791.3' where event_key = 'more'"),
    ("assert_l24_distractor_also_right", "update int_administrations_mapped set visit_key = 'v3'"),
    # like the answer: of its class, above it, below it
    ("assert_l24_distractor_also_right", "insert into int_drug_classes values (12, 4, 'R05DA')"),
    ("assert_l24_distractor_also_right", "insert into int_concept_ancestors values (2, 3)"),
    ("assert_l24_distractor_also_right", "insert into int_concept_ancestors values (4, 2)"),
    # supported; ruled out by the context, but not marked; marked, but two of them, ruled out by the subject,
    # or by an event it helps in
    ("assert_l24_distractor_also_right", "insert into int_edge_roles values ('causes', 'support', 9, 4)"),
    ("assert_l24_distractor_also_right", "insert into int_edge_roles values ('causes', 'support', 8, 4)"),
    ("assert_l24_distractor_also_right", "insert into int_edge_roles values ('causes', 'support', 9, 1)"),
    (
        "assert_l24_distractor_also_right",
        MARKED + "update dim_items set context_critical = false where item_id = 'i4'; "
        "insert into int_edge_roles values ('causes', 'support', 9, 1)",
    ),
    (
        "assert_l24_distractor_also_right",
        MARKED + "insert into int_edge_roles values ('causes', 'support', 9, 1), ('causes', 'support', 9, 3)",
    ),
    (
        "assert_l24_distractor_also_right",
        MARKED + "insert into int_edge_roles values ('causes', 'support', 9, 1); "
        "update int_curated_edges set object_cui_id = 9",
    ),
    (
        "assert_l24_distractor_also_right",
        MARKED + "insert into int_edge_roles values ('causes', 'support', 9, 1), ('causes', 'support', 8, 1)",
    ),
    ("assert_l25_duplicate_options", "update fct_item_options set label = 'SEPSIS ' where option_key = 'c'"),
    ("assert_l25_duplicate_options", "update fct_item_options set cui = 'C0000001' where option_key = 'c'"),
    ("assert_l25_duplicate_options", "update int_cohort_codes set is_coded = true"),
    ("assert_l25_duplicate_options", "update int_code_concepts set mapping_level = 'exact'"),
    ("assert_l25_duplicate_options", "insert into int_combination_parts values (11, 12)"),
    ("assert_l25_duplicate_options", "insert into int_drug_classes values (11, 4, 'N02BA')"),
    ("assert_l34_answer_count", "delete from fct_item_options where item_id = 'i4' and option_key = 'b'"),
    ("assert_l34_answer_count", "delete from fct_item_options where item_id = 'i4' and option_key = 'd'"),
    ("assert_l34_answer_count", "delete from fct_item_options where item_id = 'i2'"),
    ("assert_l34_answer_count", "delete from fct_answer_keys where item_id = 'i2'"),
    ("assert_l34_answer_count", "update fct_answer_keys set gold_option_key = 'z' where item_id = 'ix'"),
    ("assert_l34_answer_count", "update fct_item_options set option_key = 'b' where item_id = 'i4' "
     "and option_letter = 'A'"),
    (
        "assert_l34_answer_count",
        "insert into dim_items select * replace ('iz' as item_id) from dim_items where item_id = 'io'; "
        "insert into fct_answer_keys values ('iz', 'c', 'C0000003')",
    ),
]

NEAR_MISSES = [
    # another category and family, a procedure's, a part of a combination, another person's
    ("assert_l24_distractor_also_right",
     "update fct_visit_events set normalized_code = 'A42.0' where event_key = 'gout'; "
     "update fct_visit_events set normalized_code = '792.0' where event_key = 'more'; "
     "update fct_visit_events set code_system = 'ICD9CM', normalized_code = '038.0' where event_key = 'cut'; "
     "insert into fct_visit_events values ('hers', 'v2', 'diagnosis', 'ICD10CM', 'A41.0')"),
    ("assert_l24_distractor_also_right", "insert into int_concept_equivalents values (30, 91)"),
    ("assert_l24_distractor_also_right",
     MARKED + "insert into int_edge_roles values ('causes', 'support', 9, 1)"),
    ("assert_l24_distractor_also_right",
     MARKED + "insert into int_edge_roles values ('causes', 'support', 9, 3)"),
    ("assert_l25_duplicate_options", "insert into int_drug_classes values (11, 3, 'R05D')"),
]
