{#- Lines of a Metathesaurus file as their fields. A line ends in a pipe; the layout of old releases
    without it has the same fields. A torn line keeps its place and loses its shifted fields. -#}
{% macro rrf_lines(table_name, n_fields) -%}
select
    case when coalesce(line_problem, 'no_trailing_pipe') = 'no_trailing_pipe' then fields end
        as fields,
    line_problem,
    source_file,
    source_row
from (
    select
        *,
        case
            when len(fields) = {{ n_fields + 1 }} and fields[{{ n_fields + 1 }}] = '' then null
            when len(fields) = {{ n_fields }} then 'no_trailing_pipe'
            when len(fields) > {{ n_fields }} then 'too_many_fields'
            else 'too_few_fields'
        end as line_problem
    from (
        select
            string_split(line, '|') as fields,
            _file as source_file,
            _row as source_row
        from {{ raw('umls', table_name) }}
    )
)
{%- endmacro %}
