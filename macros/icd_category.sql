{#- The category of a dotted ICD diagnosis code: what stands before the dot (250.02 -> 250,
    E850.1 -> E850, I50.9 -> I50). -#}
{% macro icd_category(code_system, normalized_code) -%}
split_part({{ normalized_code }}, '.', 1)
{%- endmacro %}
