{#- Whether a row of raw() holds a line break: a quote that nothing closes ran on over the lines
    below it, up to the next quote, and took them into a text. raw() marks a line with too many
    fields in the same way. Parquet has no lines to swallow. -#}
{% macro swallowed_lines() -%}
(lower(_file) not like '%.parquet' and contains(concat_ws('', *columns(*)), chr(10)))
{%- endmacro %}
