{#- Integer form of a CUI; null for anything that is not C and seven digits. -#}
{% macro cui_id(column) -%}
case when regexp_matches({{ column }}, '^C[0-9]{7}$')
    then cast(substr({{ column }}, 2) as integer) end
{%- endmacro %}
