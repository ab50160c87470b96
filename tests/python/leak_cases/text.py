"""Text rules: two released templates, a drug for heart failure and a diagnosis beside gout."""

SOUND = """
create table dim_items as select * from (values
    ('i1', 'k1', true, '- Diagnosis: Heart failure' || chr(10) || '- Diagnosis: Gout',
        'Which medication was ordered?'),
    ('i2', 'k2', true, '- Diagnosis: Gout' || chr(10) || '- Diagnosis: Non-insulin-dependent diabetes',
        'Which diagnosis?'),
    ('i3', 'k1', false, '- Diagnosis: Use of diuretics, furosemide', 'Which medication was ordered?'))
    as v(item_id, template_key, released, scenario, question);
create table fct_answer_keys as select * from (values
    ('i1', 'C0000001', 'Furosemide'), ('i3', 'C0000001', 'Furosemide'),
    ('i2', 'C0000002', 'Asthma, unspecified'))
    as v(item_id, gold_cui, gold_label);
create table fct_templates as select * from (values ('k1', 'medication'), ('k2', 'diagnosis'))
    as v(template_key, answer_event_type);
create table int_terminology_atoms as select * from (values
    (1, 'Furosemide'), (1, 'Lasix'), (1, 'fu'), (2, 'Asthma'), (2, 'Bronchial asthma'),
    (2, 'Disease, NOS'), (3, 'Gout')) as v(cui_id, name);
create table ambiguous_abbreviations as select * from (values ('disease')) as v(name);
create table leak_noise_words as select * from (values ('nos'), ('unspecified'), ('s')) as v(word);
create table int_drug_classes as select * from (values
    (1, 4, 'C03CA', 'sulfonamides, plain'), (3, 4, 'A10AB', 'insulins'))
    as v(cui_id, level, atc_code, atc_name);
create table class_lexicon as select * from (values
    ('diuretic', 'medication', 'C03', null), ('insulin-dependent', 'medication', 'A10A', 'non'),
    ('fracture', 'diagnosis', null, null))
    as v(phrase, event_type, atc_prefix, not_after);
create table event_type_words as select * from (values
    ('diagnosis', 'Diagnosis'), ('medication', 'Medication ordered'), ('procedure', 'Procedure'))
    as v(event_type, word);
create table int_leak_set_results as select * from (values
    ('L16', 'unknown text, standard', false), ('L31', 'message form', false), ('L20', 'mcq', true))
    as v(rule_id, stratum, is_found);
"""


def scenario(text: str, item: str = "i1") -> str:
    """SQL that puts another line in the place of an item's scenario."""
    return f"update dim_items set scenario = '- Diagnosis: {text}' where item_id = '{item}'"


def question(text: str, item: str = "i1") -> str:
    """SQL that asks an item another question."""
    return f"update dim_items set question = '{text}' where item_id = '{item}'"


BROKEN = [
    ("assert_l01_answer_text", scenario("Poisoning by FUROSEMIDE (accidental)")),
    ("assert_l01_answer_text", scenario("Poisoning by ｆｕｒｏｓémide")),
    ("assert_l01_answer_text", question("Which diagnosis but asthma - unspecified?", "i2")),
    ("assert_l01_answer_text", "update dim_items set released = true"),
    ("assert_l02_answer_synonyms", scenario("Poisoning by LASIX")),
    ("assert_l02_answer_synonyms", scenario("Bronchial-asthma of childhood", "i2")),
    ("assert_l02_answer_synonyms", question("Why was Lasix ordered?")),
    ("assert_l02_answer_synonyms", "update int_terminology_atoms set cui_id = 2 where name = 'Gout'"),
    ("assert_l10_drug_class_name", scenario("Adverse effect of loop diuretics")),
    ("assert_l10_drug_class_name", question("Which diuretic was ordered?")),
    ("assert_l10_drug_class_name",
     "update class_lexicon set phrase = 'heart-failure' where phrase = 'diuretic'"),
    ("assert_l10_drug_class_name", "update dim_items set released = true"),
    ("assert_l12_question_type", question("Which fracture diagnosis?", "i2")),
    ("assert_l12_question_type", question("Which diuretics, as medication?")),
    ("assert_l12_question_type", question("Which procedure was done?")),
    ("assert_l16_prompt_columns", "update int_leak_set_results set is_found = true where rule_id = 'L16'"),
    ("assert_l31_prompt_cues", "update int_leak_set_results set is_found = true where rule_id = 'L31'"),
]
