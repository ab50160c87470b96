{#- CTEs of p adjusted by Holm: the smallest p times the size of its family, the next times one
    less, never falling, at most 1. `rows` names a CTE with the columns `family`, `p` and
    `order_key` (columns that tell rows of a family apart, comma-separated); rows without p are
    not counted. The last CTE is called `name`: all columns of `rows` and p_holm. -#}
{% macro holm_steps(name, rows, family, p, order_key) -%}
{%- set family = family | join(', ') -%}
{{ name }}_stepped as (

    select
        *,
        case when {{ p }} is not null then {{ p }} * (
            count({{ p }}) over (partition by {{ family }})
            - row_number() over (
                partition by {{ family }} order by {{ p }} nulls last, {{ order_key }}
            ) + 1
        ) end as p_stepped
    from {{ rows }}

),

{{ name }} as (

    select
        * exclude (p_stepped),
        case when {{ p }} is not null then least(1.0, max(p_stepped) over (
            partition by {{ family }}
            order by {{ p }} nulls last, {{ order_key }}
            rows between unbounded preceding and current row
        )) end as p_holm
    from {{ name }}_stepped

)
{%- endmacro %}
