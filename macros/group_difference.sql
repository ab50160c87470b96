{#- CTEs of the mean of the first group less that of the second, with its standard error by persons,
    who may have rows in both. Whole numbers until the last step. `rows` names a CTE with the
    `strata` columns, is_first (boolean), person_group, n (integer) and value (sum over the n, in
    millionths). The last CTE is called `name`: strata, n_first, n_second, n_persons, difference,
    standard_error. -#}
{% macro group_difference(name, rows, strata) -%}
{%- set columns = strata | join(', ') -%}
{{ name }}_persons as (

    select
        {{ columns }},
        person_group,
        coalesce(sum(n) filter (where is_first), 0) as n_first,
        coalesce(sum(n) filter (where not is_first), 0) as n_second,
        coalesce(sum(value) filter (where is_first), 0) as value_first,
        coalesce(sum(value) filter (where not is_first), 0) as value_second
    from {{ rows }}
    group by {{ columns }}, person_group

),

{{ name }}_totals as (

    select
        {{ columns }},
        count(*) as n_persons,
        sum(n_first) as all_first,
        sum(n_second) as all_second,
        sum(value_first) as sum_first,
        sum(value_second) as sum_second
    from {{ name }}_persons
    group by {{ columns }}

),

-- What a person moves the difference by, in whole billionths.
{{ name }}_moves as (

    select
        {% for column in strata -%}
        totals.{{ column }},
        {% endfor -%}
        cast(round(1000 * (
            (persons.value_first - cast(totals.sum_first as double) / totals.all_first
                * persons.n_first) / totals.all_first
            - (persons.value_second - cast(totals.sum_second as double) / totals.all_second
                * persons.n_second) / totals.all_second
        )) as hugeint) as move
    from {{ name }}_persons as persons
    inner join {{ name }}_totals as totals
        on {% for column in strata -%}
        persons.{{ column }} is not distinct from totals.{{ column }}
        {%- if not loop.last %}
        and {% endif %}
        {%- endfor %}
    where totals.all_first > 0
        and totals.all_second > 0

),

{{ name }}_squares as (

    select
        {{ columns }},
        sum(move * move) as squares
    from {{ name }}_moves
    group by {{ columns }}

),

{{ name }} as (

    select
        {% for column in strata -%}
        totals.{{ column }},
        {% endfor -%}
        totals.all_first as n_first,
        totals.all_second as n_second,
        totals.n_persons,
        (cast(totals.sum_first as double) / totals.all_first
            - cast(totals.sum_second as double) / totals.all_second) / 1000000 as difference,
        case
            when totals.n_persons >= 2 then sqrt(
                cast(totals.n_persons as double) / (totals.n_persons - 1)
                * cast(squares.squares as double)
            ) / 1000000000
        end as standard_error
    from {{ name }}_totals as totals
    inner join {{ name }}_squares as squares
        on {% for column in strata -%}
        totals.{{ column }} is not distinct from squares.{{ column }}
        {%- if not loop.last %}
        and {% endif %}
        {%- endfor %}

)
{%- endmacro %}
