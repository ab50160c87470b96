{#- CTEs that count inversions: pairs of models that the leaderboard puts next to each other in
    different tiers, so that it calls them separated, but that a judge orders the other way round.
    `rows` names a CTE with judge, model, score (as for kendalls_w) and the `strata` columns;
    `tiers` one with mode, model, rank and tier (int_leaderboard_tiers or a part of it, one mode).
    The last CTE is called `name`: strata, n_separated (pair × judge with both scores),
    n_inversions. -#}
{% macro rank_inversions(name, rows, tiers, strata=[]) -%}
{%- set columns = strata | join(', ') ~ (',' if strata else '') -%}
{{ name }}_neighbours as (

    select
        model as upper_model,
        lead(model) over (order by rank, model) as lower_model,
        lead(tier) over (order by rank, model) <> tier as is_separated
    from {{ tiers }}
    where tier is not null

),

{{ name }}_compared as (

    select
        {% for column in strata -%}
        uppers.{{ column }},
        {% endfor -%}
        uppers.score as upper_score,
        lowers.score as lower_score
    from {{ name }}_neighbours as neighbours
    inner join {{ rows }} as uppers
        on neighbours.upper_model = uppers.model
    inner join {{ rows }} as lowers
        on neighbours.lower_model = lowers.model
        and uppers.judge = lowers.judge
        {%- for column in strata %}
        and uppers.{{ column }} = lowers.{{ column }}
        {%- endfor %}
    where neighbours.is_separated
        and uppers.score is not null
        and lowers.score is not null

),

{{ name }} as (

    select
        {{ columns }}
        cast(count(*) as integer) as n_separated,
        cast(count(*) filter (where upper_score < lower_score) as integer) as n_inversions
    from {{ name }}_compared
    {%- if strata %}
    group by {{ strata | join(', ') }}
    {%- endif %}

)
{%- endmacro %}
