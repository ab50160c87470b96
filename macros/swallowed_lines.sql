{#- Whether a row of raw() holds a line break: a quote that nothing closes ran on over the lines
    below it, up to the next quote, and took them into a text. raw() marks a line with too many
    fields in the same way. Parquet has no lines to swallow, so the name of the file is asked only
    where there is a break. -#}
{% macro swallowed_lines() -%}
case
            when contains(concat_ws('', *columns(* exclude (_file, _row))), chr(10))
                then lower(_file) not like '%.parquet'
            else false
        end
{%- endmacro %}
