{#- Rows of the staging tables of a source: table_name, n_rows. -#}
{% macro staged_row_counts(source_name, table_names) -%}
{%- for table_name in table_names -%}
    select
        cast('{{ source_name }}' as varchar) as source,
        cast('{{ table_name }}' as varchar) as table_name,
        count(*) as n_rows
    from {{ ref('stg_' ~ source_name ~ '__' ~ table_name) }}
    {{- '\n    union all\n    ' if not loop.last }}
{%- endfor -%}
{%- endmacro %}
