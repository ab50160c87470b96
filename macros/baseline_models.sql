{#- Names of the models of surface baselines. -#}
{% macro baseline_models() -%}
{{- return([
    'int_baseline__b0_random',
    'int_baseline__b1_length',
    'int_baseline__b2_position',
    'int_baseline__b3_frequency',
    'int_baseline__b4_popularity',
    'int_baseline__b4_option_pairs',
    'int_baseline__b5a_kb_oracle',
    'int_baseline__b5b_kb_degree',
    'int_baseline__b6_embedding',
    'int_baseline__b6_lexical',
    'int_baseline__answers',
    'int_baseline__b10_cooccurrence',
    'int_baseline__b11_logistic',
]) -}}
{%- endmacro %}
