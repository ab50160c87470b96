{#- CTEs that give a mean and its standard error with clusters of two kinds, by Cameron, Gelbach and
    Miller: the variance by person plus that by answer less that by both, never below the larger of
    the two alone. Whole numbers until the last step. `rows` names a CTE with the `strata` columns,
    person_group, answer_cui_id, n (integer) and `value` (sum over the n, in millionths). The last
    CTE is called `name`: strata, n, n_persons, n_answers, mean and standard_error (null with fewer
    than two persons). -#}
{% macro two_way_error(name, rows, strata, value='value') -%}
{%- set columns = strata | join(', ') -%}
{%- set clusters = {
    'persons': ['person_group'],
    'answers': ['answer_cui_id'],
    'pairs': ['person_group', 'answer_cui_id'],
} -%}
{{ name }}_pairs as (

    select
        {{ columns }},
        person_group,
        answer_cui_id,
        sum(n) as n,
        sum({{ value }}) as value
    from {{ rows }}
    group by {{ columns }}, person_group, answer_cui_id

),

{{ name }}_totals as (

    select
        {{ columns }},
        sum(n) as n,
        sum(value) as value
    from {{ name }}_pairs
    group by {{ columns }}

),

{% for kind, keys in clusters.items() -%}
{{ name }}_{{ kind }}_summed as (

    select
        {{ columns }},
        sum(n) as n,
        sum(value) as value
    from {{ name }}_pairs
    group by {{ columns }}, {{ keys | join(', ') }}

),

{{ name }}_{{ kind }}_spread as (

    select
        {% for column in strata -%}
        totals.{{ column }},
        {% endfor -%}
        count(*) as n_clusters,
        sum(
            (cast(parts.value as hugeint) * totals.n - cast(totals.value as hugeint) * parts.n)
            * (cast(parts.value as hugeint) * totals.n - cast(totals.value as hugeint) * parts.n)
        ) as squares
    from {{ name }}_{{ kind }}_summed as parts
    inner join {{ name }}_totals as totals
        on {% for column in strata -%}
        parts.{{ column }} is not distinct from totals.{{ column }}
        {%- if not loop.last %}
        and {% endif %}
        {%- endfor %}
    group by {% for column in strata %}totals.{{ column }}{{ ', ' if not loop.last }}{% endfor %}

),

{% endfor -%}
{{ name }}_variances as (

    select
        {% for column in strata -%}
        totals.{{ column }},
        {% endfor -%}
        totals.n,
        persons.n_clusters as n_persons,
        answers.n_clusters as n_answers,
        cast(totals.value as double) / totals.n / 1000000 as mean,
        {%- for kind in clusters %}
        case
            when {{ kind }}.n_clusters >= 2
                then cast({{ kind }}.squares as double)
                    * {{ kind }}.n_clusters / ({{ kind }}.n_clusters - 1)
        end as {{ kind }}_squares,
        {%- endfor %}
        power(cast(totals.n as double), 4) * 1000000 * 1000000 as scale
    from {{ name }}_totals as totals
    {%- for kind in clusters %}
    inner join {{ name }}_{{ kind }}_spread as {{ kind }}
        on {% for column in strata -%}
        totals.{{ column }} is not distinct from {{ kind }}.{{ column }}
        {%- if not loop.last %}
        and {% endif %}
        {%- endfor %}
    {%- endfor %}

),

{{ name }} as (

    select
        {{ columns }},
        n,
        n_persons,
        n_answers,
        mean,
        case
            when persons_squares is not null then sqrt(greatest(
                persons_squares,
                coalesce(answers_squares, 0),
                persons_squares + coalesce(answers_squares, 0) - coalesce(pairs_squares, 0)
            ) / scale)
        end as standard_error
    from {{ name }}_variances

)
{%- endmacro %}
