{#- Text form of an integer CUI. -#}
{% macro cui_text(column) -%}
concat('C', lpad(cast({{ column }} as string), 7, '0'))
{%- endmacro %}
