{#- CTEs of Kendall's W: how far judges (generators, context sizes, option counts, sources) agree
    on the order of models. Ties share their mean rank and are corrected for; chi_squared is m (n
    - 1) W with m judges and n models, Friedman's statistic. Whole numbers until the last step.

    `rows` names a CTE with judge, model and score (one row each, higher is better; round doubles
    first, so that ties are ties) and the `strata` columns, by which W is taken: with a column for
    bootstrap replicates, the quantiles of w over them are its interval. Only models that every
    judge of the stratum scored count. The last CTE is called `name`: strata, n_judges, n_models,
    w, chi_squared, p_value; null with fewer than two judges or models, or when all models tie.
    -#}
{% macro kendalls_w(name, rows, strata=[]) -%}
{%- set columns = strata | join(', ') ~ (',' if strata else '') -%}
{%- set partition = (strata | join(', ') ~ ', ') if strata else '' -%}
{{ name }}_judges as (

    select
        {{ columns }}
        count(distinct judge) as n_judges
    from {{ rows }}
    where score is not null
    group by {{ partition }}true

),

{{ name }}_scored as (

    select
        {{ columns }}
        model,
        count(*) as n_judges
    from {{ rows }}
    where score is not null
    group by {{ partition }}model

),

{{ name }}_complete as (

    select scored.*
    from {{ name }}_scored as scored
    inner join {{ name }}_judges as judges
        on scored.n_judges = judges.n_judges
        {%- for column in strata %}
        and scored.{{ column }} = judges.{{ column }}
        {%- endfor %}

),

-- Twice the mean rank, a whole number.
{{ name }}_ranked as (

    select
        {% for column in strata -%}
        scores.{{ column }},
        {% endfor -%}
        scores.judge,
        scores.model,
        2 * rank() over (
            partition by {% for column in strata %}scores.{{ column }}, {% endfor %}scores.judge
            order by scores.score desc
        ) + count(*) over (
            partition by {% for column in strata %}scores.{{ column }}, {% endfor %}scores.judge,
                scores.score
        ) - 1 as double_rank,
        count(*) over (
            partition by {% for column in strata %}scores.{{ column }}, {% endfor %}scores.judge,
                scores.score
        ) as n_tied
    from {{ rows }} as scores
    inner join {{ name }}_complete as complete
        on scores.model = complete.model
        {%- for column in strata %}
        and scores.{{ column }} = complete.{{ column }}
        {%- endfor %}

),

{{ name }}_models as (

    select
        {{ columns }}
        model,
        count(*) as n_judges,
        sum(double_rank) as double_ranks,
        -- t models that tie give t × (t² - 1) together
        sum(n_tied * n_tied - 1) as ties
    from {{ name }}_ranked
    group by {{ partition }}model

),

{{ name }}_sums as (

    select
        {{ columns }}
        max(n_judges) as n_judges,
        count(*) as n_models,
        -- four times S times the number of models
        count(*) * sum(double_ranks * double_ranks) - sum(double_ranks) * sum(double_ranks)
            as squares,
        sum(ties) as ties
    from {{ name }}_models
    group by {{ partition }}true

),

{{ name }}_coefficients as (

    select
        *,
        case when n_judges >= 2 then
            cast(3 * squares as double) / nullif(n_models * n_judges * (
                n_judges * n_models * (n_models * n_models - 1) - ties
            ), 0)
        end as w
    from {{ name }}_sums

),

{{ name }} as (

    select
        {{ columns }}
        cast(n_judges as integer) as n_judges,
        cast(n_models as integer) as n_models,
        w,
        n_judges * (n_models - 1) * w as chi_squared,
        {{ chi_squared_p('(n_judges * (n_models - 1) * w)', '(n_models - 1)') }} as p_value
    from {{ name }}_coefficients

)
{%- endmacro %}
