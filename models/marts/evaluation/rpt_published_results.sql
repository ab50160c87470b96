-- Theirs stands beside ours to be read, never to be equal: other items, other patients, and a
-- private source of theirs. A mean over their models stands beside each of ours: a mean over the
-- few that were asked here would be no mean over the same models.
{%- set figures = {
    'overall': 'overall', 'dx': 'dx', 'tx': 'tx', 'px': 'px', 'acc_4': 'acc_4', 'acc_5': 'acc_5',
    'acc_6': 'acc_6', 'parse_failure_rate': 'parse_failure_rate', 'rank': 'average_rank',
} %}
with

published as (

    select * from {{ ref('published_results') }}

),

leaderboard as (

    select * from {{ ref('rpt_leaderboard') }}

),

figures as (

    select * from {{ ref('int_leaderboard_figures') }}

),

option_probe as (

    select * from {{ ref('rpt_option_probe') }}
    where scope = 'overall'

),

open_ended as (

    select * from {{ ref('rpt_open_ended') }}
    where task = 'all'

),

rank_agreement as (

    select * from {{ ref('rpt_rank_agreement') }}
    where kind = 'generator'
        and scope = 'all'

),

language_models as (

    select * from {{ ref('models') }}
    where kind not in ('baseline', 'embedding')

),

asked_models as (

    select
        leaderboard.mode,
        count(*) as n
    from leaderboard
    semi join language_models
        on leaderboard.model = language_models.model
    group by leaderboard.mode

),

-- A rank is no row of figures: it is of all that a model has answered.
model_figures as (

    {%- for figure, column in figures.items() %}
    select
        leaderboard.model,
        leaderboard.mode,
        '{{ figure }}' as figure,
        {%- for side in ['', '_low', '_high'] %}
        cast(leaderboard.{{ column }}{{ side }} as decimal(9, 6)) as ours{{ side }},
        {%- endfor %}
        coalesce(figures.n, leaderboard.n) as n,
        coalesce(figures.n_asked, leaderboard.n_asked) as n_asked
    from leaderboard
    left join figures
        on leaderboard.model = figures.model
        and leaderboard.mode = figures.mode
        and figures.figure = '{{ figure }}'
    union all
    {%- endfor %}
    {%- for figure, column in {'rc': 'rc_relation', 'bertscore': 'bertscore'}.items() %}
    select
        model,
        'free' as mode,
        '{{ figure }}' as figure,
        {%- for side in ['', '_low', '_high'] %}
        cast({{ column }}{{ side }} as decimal(9, 6)) as ours{{ side }},
        {%- endfor %}
        n,
        n_asked
    from open_ended
    union all
    {%- endfor %}
    select
        model,
        mode,
        concat('know_or_guess_', n_options) as figure,
        {%- for side in ['', '_low', '_high'] %}
        cast(expected{{ side }} as decimal(9, 6)) as ours{{ side }},
        {%- endfor %}
        n,
        n_asked
    from option_probe

),

our_figures as (

    select
        model_figures.*,
        language_models.model is not null as is_language_model
    from model_figures
    left join language_models
        on model_figures.model = language_models.model

    union all

    select
        cast(null as varchar) as model,
        rank_agreement.mode,
        'kendall_w' as figure,
        {%- for side in ['', '_low', '_high'] %}
        cast(rank_agreement.w{{ side }} as decimal(9, 6)) as ours{{ side }},
        {%- endfor %}
        rank_agreement.n_models as n,
        coalesce(asked_models.n, 0) as n_asked,
        true as is_language_model
    from rank_agreement
    left join asked_models
        on rank_agreement.mode = asked_models.mode

),

published_results as (

    select
        ---------- theirs
        published.model_published,
        published.item_set,
        published.figure,
        published.kind as theirs_kind,
        cast(
            case
                when published.unit = 'per_cent' then published.value / 100
                else published.value
            end as decimal(9, 6)
        ) as theirs,

        ---------- ours
        coalesce(published.model, our_figures.model) as model,
        our_figures.mode,
        our_figures.ours,
        our_figures.ours_low,
        our_figures.ours_high,
        cast(coalesce(our_figures.n, 0) as integer) as n,
        cast(coalesce(our_figures.n_asked, 0) as integer) as n_asked,

        ---------- strings
        published.comment
    from published
    left join our_figures
        on published.figure = our_figures.figure
        and (
            published.model = our_figures.model
            or (published.model is null and our_figures.is_language_model)
        )

)

select * from published_results
