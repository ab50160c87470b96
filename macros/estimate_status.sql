{#- Whether a cell has templates enough to be estimated: estimable or not_estimable. -#}
{% macro estimate_status(n_templates) -%}
case
    when {{ n_templates }} >= {{ var('evaluation_min_templates') }} then 'estimable'
    else 'not_estimable'
end
{%- endmacro %}
