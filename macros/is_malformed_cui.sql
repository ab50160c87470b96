{#- Whether a printed argument is neither a CUI (alone or piped with gene identifiers) nor a gene
    identifier alone: the fields of its line are shifted. -#}
{% macro is_malformed_cui(column) -%}
({{ first_cui_id(column) }} is null and translate({{ column }}, '0123456789|', '') <> '')
{%- endmacro %}
