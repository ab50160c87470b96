{#- Digest of a relation's rows that does not depend on their order: the integer sum of a number
    per row. `columns` narrows it; without them it covers all columns but the place in the file. -#}
{% macro content_digest(relation, columns=none) -%}
    {%- set found = adapter.get_columns_in_relation(relation) if execute and not columns else [] -%}
    {%- set names = columns or found | map(attribute='name')
        | reject('in', ['source_file', 'source_row', 'line_problem']) | list or ['1'] -%}
    {%- set row_text -%}
concat_ws('|'
    {%- for name in names %}, coalesce(cast({{ name }} as varchar), '∅'){% endfor -%}
)
    {%- endset -%}
md5(cast(coalesce(sum({{ md5_integer(row_text) }}), 0) as varchar))
{%- endmacro %}
