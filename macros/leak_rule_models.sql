{#- The models of the leak rules by where they decide: on templates before distractors are drawn, on
    rendered items and their options, or on the released set. A pytest compares with the seed. -#}
{% macro leak_rule_models(stage) -%}
{%- set models = {
    'template': [
        'int_leak__l01_answer_text',
        'int_leak__l02_answer_synonyms',
        'int_leak__l03_answer_concept',
        'int_leak__l04_answer_hierarchy',
        'int_leak__l05_code_family',
        'int_leak__l06_code_conventions',
        'int_leak__l07_other_code_version',
        'int_leak__l08_status_codes',
        'int_leak__l09_drug_ingredient',
        'int_leak__l10_drug_class_name',
        'int_leak__l11_shared_rare_word',
        'int_leak__l12_question_type',
        'int_leak__l13_answer_already_present',
        'int_leak__l14_after_index_time',
        'int_leak__l15_outcome_proxies',
        'int_leak__l26_near_duplicates',
        'int_leak__l27_patient_overlap',
        'int_leak__l30_identifiers',
        'int_leak__l32_cross_item',
        'int_leak__l35_grounding',
        'int_leak__l36_visit_order',
    ],
    'option': [
        'int_leak__l17_option_type',
        'int_leak__l24_distractor_also_right',
        'int_leak__l25_duplicate_options',
        'int_leak__l34_answer_count',
        'int_leak__l37_absurd_option',
    ],
    'set': [
        'int_leak__l16_prompt_columns',
        'int_leak__l18_label_markers',
        'int_leak__l19_label_length',
        'int_leak__l20_answer_position',
        'int_leak__l21_concept_frequency',
        'int_leak__l22_answer_popularity',
        'int_leak__l23_knowledge_degree',
        'int_leak__l28_generator_family',
        'int_leak__l29_contamination',
        'int_leak__l31_prompt_cues',
        'int_leak__l38_semantic_outlier',
        'int_leak__l39_id_order',
        'int_leak__l40_wording_artefacts',
    ],
} -%}
{{- return(models[stage]) -}}
{%- endmacro %}
