-- Theirs stands beside ours to be read, never to be equal: other items, other patients, and a
-- private source of theirs.
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

our_figures as (

    {%- for figure, column in figures.items() %}
    select
        model,
        mode,
        '{{ figure }}' as figure,
        cast({{ column }} as decimal(9, 6)) as ours,
        cast({{ column }}_low as decimal(9, 6)) as ours_low,
        cast({{ column }}_high as decimal(9, 6)) as ours_high,
        n,
        n_asked
    from leaderboard
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}

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
        published.model,
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
        on published.model = our_figures.model
        and published.figure = our_figures.figure

)

select * from published_results
