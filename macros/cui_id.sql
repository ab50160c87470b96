{#- Integer form of a CUI; null for anything that is not C and seven digits. -#}
{% macro cui_id(column) -%}
{{ adapter.dispatch('cui_id')(column) }}
{%- endmacro %}

{% macro default__cui_id(column) -%}
case when regexp_matches({{ column }}, '^C[0-9]{7}$')
    then cast(substr({{ column }}, 2) as integer) end
{%- endmacro %}

{#- In Java a dollar sign stands before a closing line end too. -#}
{% macro spark__cui_id(column) -%}
case when regexp_like({{ column }}, '^C[0-9]{7}$') and length({{ column }}) = 8
    then cast(substr({{ column }}, 2) as integer) end
{%- endmacro %}
