{#- The one way a title becomes text of an item, in scenarios and options alike. -#}
{% macro render_label(column) -%}
concat(
    upper(substr(regexp_replace(trim({{ column }}), '\s+', ' ', 'g'), 1, 1)),
    substr(regexp_replace(trim({{ column }}), '\s+', ' ', 'g'), 2))
{%- endmacro %}
