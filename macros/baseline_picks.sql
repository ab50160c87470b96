{#- CTEs of a surface baseline; the last one is called `picked`, the rows of every int_baseline__
    model. `picks` are pairs of a name and the SQL of a score over `options`; the option with the
    largest score is picked, and options that tie for it share the point: no order decides.
    concordance is the share of its distractors that the answer outscores, ties by half.
    Relations given by CTE name: `templates` (template_key, n_options), `options` (template_key,
    rank, is_gold and what the scores read; with `by_count` n_options too, for scores that differ by
    it, and with `by_model` the model that they come from). -#}
{% macro baseline_picks(baseline, picks, by_count=false, by_model=false) -%}
scored as (

    select
        {%- if by_model %}
        model,
        {%- endif %}
        template_key,
        {%- if by_count %}
        n_options,
        {%- endif %}
        rank,
        is_gold,
        {%- for _, score in picks %}
        {{ score }} as score_{{ loop.index }}{{ ',' if not loop.last }}
        {%- endfor %}
    from options

),

answers_scored as (

    select * from scored
    where is_gold

),

compared as (

    select
        {%- if by_model %}
        answers_scored.model,
        {%- endif %}
        templates.template_key,
        templates.n_options,
        {%- for _ in picks %}
        count(*) filter (
            where scored.score_{{ loop.index }} < answers_scored.score_{{ loop.index }}
        ) as n_below_{{ loop.index }},
        count(*) filter (
            where scored.score_{{ loop.index }} > answers_scored.score_{{ loop.index }}
        ) as n_above_{{ loop.index }},
        count(*) filter (
            where scored.score_{{ loop.index }} = answers_scored.score_{{ loop.index }}
        ) as n_equal_{{ loop.index }}{{ ',' if not loop.last }}
        {%- endfor %}
    from templates
    inner join answers_scored
        on templates.template_key = answers_scored.template_key
        {%- if by_count %}
        and templates.n_options = answers_scored.n_options
        {%- endif %}
    inner join scored
        on templates.template_key = scored.template_key
        {%- if by_count %}
        and templates.n_options = scored.n_options
        {%- endif %}
        {%- if by_model %}
        and answers_scored.model = scored.model
        {%- endif %}
        and scored.rank < templates.n_options
    group by
        {%- if by_model %}
        answers_scored.model,
        {%- endif %}
        templates.template_key,
        templates.n_options

),

picked as (

    {%- for pick, _ in picks %}
    select
        cast('{{ baseline }}' as varchar) as baseline,
        cast('{{ pick }}' as varchar) as pick,
        {{ 'model' if by_model else 'cast(null as varchar) as model' }},
        template_key,
        n_options,
        cast(null as integer) as variant,
        cast(case when n_above_{{ loop.index }} = 0 then 1 / n_equal_{{ loop.index }} else 0 end
            as decimal(9, 6)) as n_correct,
        cast(1 as integer) as n_answered,
        cast((2 * n_below_{{ loop.index }} + n_equal_{{ loop.index }} - 1)
            / (2 * (n_options - 1)) as decimal(9, 6)) as concordance
    from compared
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}

)
{%- endmacro %}
