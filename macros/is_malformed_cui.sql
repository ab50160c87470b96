{#- Whether a printed argument is neither a CUI (alone or piped with gene identifiers) nor a gene
    identifier alone: the fields of its line are shifted. `cui_id` is first_cui_id of it. -#}
{% macro is_malformed_cui(column, cui_id) -%}
({{ cui_id }} is null and translate({{ column }}, '0123456789|', '') <> '')
{%- endmacro %}
