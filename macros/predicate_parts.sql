{#- Columns `predicate` and `is_negated` of a predicate's name in SemMedDB. -#}
{% macro predicate_parts(name) -%}
case when substr({{ name }}, 1, 4) = 'NEG_' then substr({{ name }}, 5) else {{ name }} end
    as predicate,
substr({{ name }}, 1, 4) = 'NEG_' as is_negated
{%- endmacro %}
