{%- set tasks = ['dx', 'tx', 'px'] %}
{%- set figure_names = ['overall', 'dx', 'tx', 'px', 'acc_4', 'acc_5', 'acc_6',
    'parse_failure_rate', 'chance_corrected', 'valid_only'] %}

with

figures as (

    select * from {{ ref('int_leaderboard_figures') }}

),

scores as (

    select * from {{ ref('int_headline_scores') }}

),

headline_asked as (

    select * from {{ ref('int_headline_asked') }}

),

correlations as (

    select * from {{ ref('int_template_correlation') }}

),

ranks as (

    select * from {{ ref('int_rank_bootstrap') }}

),

tiers as (

    select * from {{ ref('int_leaderboard_tiers') }}

),

asked as (

    select
        model,
        mode,
        sum(n_asked) as n_asked
    from headline_asked
    group by
        model,
        mode

),

answered as (

    select
        model,
        mode,
        count(*) as n,
        {%- for task in tasks %}
        count(*) filter (where task = '{{ task }}') as n_{{ task }},
        {%- endfor %}
        count(distinct template_key) as n_templates,
        count(distinct person_group) as n_clusters
    from scores
    group by
        model,
        mode

),

pivoted as (

    select
        model,
        mode,
        max(design_effect) filter (where figure = 'overall') as design_effect,
        max(n) filter (where figure = 'overall') as n_overall,
        {%- for figure in figure_names %}
        max(mean) filter (where figure = '{{ figure }}') as {{ figure }},
        max(low) filter (where figure = '{{ figure }}') as {{ figure }}_low,
        max(high) filter (where figure = '{{ figure }}') as {{ figure }}_high,
        max(status) filter (where figure = '{{ figure }}') as {{ figure }}_status
        {{- ',' if not loop.last }}
        {%- endfor %}
    from figures
    group by
        model,
        mode

),

leaderboard as (

    select
        ---------- ids
        asked.model,
        asked.mode,

        ---------- counts
        cast(coalesce(answered.n, 0) as integer) as n,
        cast(asked.n_asked as integer) as n_asked,
        cast(coalesce(answered.n_templates, 0) as integer) as n_templates,
        cast(coalesce(answered.n_clusters, 0) as integer) as n_clusters,
        {%- for task in tasks %}
        cast(coalesce(answered.n_{{ task }}, 0) as integer) as n_{{ task }},
        {%- endfor %}

        ---------- place
        ranks.rank,
        ranks.rank_low,
        ranks.rank_high,
        ranks.p_best,
        tiers.tier,
        ranks.average_rank,
        ranks.average_rank_low,
        ranks.average_rank_high,
        ranks.n_rank_columns,

        ---------- figures
        {%- for figure in figure_names %}
        {{ rounded_share('pivoted.' ~ figure) }} as {{ figure }},
        {{ rounded_share('pivoted.' ~ figure ~ '_low') }} as {{ figure }}_low,
        {{ rounded_share('pivoted.' ~ figure ~ '_high') }} as {{ figure }}_high,
        pivoted.{{ figure }}_status,
        {%- endfor %}

        ---------- how much the answers depend on each other
        {{ rounded_share('correlations.icc') }} as icc_template,
        case when correlations.standard_error is not null then {{ rounded_share(
            'least(correlations.icc, greatest(-1.0, '
            ~ 'correlations.icc - ' ~ var('interval_z') ~ ' * correlations.standard_error))'
        ) }} end as icc_template_low,
        case when correlations.standard_error is not null then {{ rounded_share(
            'greatest(correlations.icc, least(1.0, '
            ~ 'correlations.icc + ' ~ var('interval_z') ~ ' * correlations.standard_error))'
        ) }} end as icc_template_high,
        cast(round(pivoted.design_effect, 4) as decimal(12, 4)) as design_effect,
        cast(round(pivoted.n_overall / nullif(pivoted.design_effect, 0), 1) as decimal(12, 1))
            as n_effective
    from asked
    left join answered
        on asked.model = answered.model
        and asked.mode = answered.mode
    left join pivoted
        on asked.model = pivoted.model
        and asked.mode = pivoted.mode
    left join correlations
        on asked.model = correlations.model
        and asked.mode = correlations.mode
    left join ranks
        on asked.model = ranks.model
        and asked.mode = ranks.mode
    left join tiers
        on asked.model = tiers.model
        and asked.mode = tiers.mode

)

select * from leaderboard
