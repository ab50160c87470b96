{#- Lower-case words with single blanks around each, so that `contains` finds whole words only. -#}
{% macro norm_label(column) -%}
concat(' ', trim(regexp_replace(lower({{ column }}), '[^a-z0-9]+', ' ', 'g')), ' ')
{%- endmacro %}
