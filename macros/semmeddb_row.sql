{#- Row of the dump that a staged SemMedDB row comes from. A converted part is named by the row at
    which it begins (part-0000000001.parquet), so its rows count on from there. -#}
{% macro semmeddb_row() -%}
cast(_row as bigint)
    + coalesce(try_cast(split_part(split_part(_file, 'part-', 2), '.', 1) as bigint), 1) - 1
{%- endmacro %}
