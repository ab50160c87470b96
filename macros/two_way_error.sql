{#- CTEs of a mean and its standard error with clusters of two kinds, persons and answer concepts:
    mean_of_cells with one cell, for rows whose `value` is the sum over the n in millionths. -#}
{% macro two_way_error(name, rows, strata, value='value') -%}
{%- set columns = strata | join(', ') -%}
{{ name }}_rows as (

    select
        {{ columns }},
        person_group,
        answer_cui_id,
        1 as cell,
        cast(sum(n) as bigint) as n,
        cast(sum({{ value }}) as bigint) as value
    from {{ rows }}
    group by {{ columns }}, person_group, answer_cui_id

),

{{ mean_of_cells(name, name ~ '_rows', strata, unit=1000000) }}
{%- endmacro %}
