-- Seed match_levels and the columns that stand one per level (macro match_level_names) name the
-- same levels in the same order, and the counts agree with those of the checks: nothing inherited
-- up to the last level of its own, everything up to the widest.
{%- set names = match_level_names() %}
with

columns as (
    {% for name in names %}
    select
        '{{ name }}' as match_level,
        {{ loop.index0 }} as level_rank
    {{- '\n\n    union all\n' if not loop.last }}
    {%- endfor %}

),

levels as (

    select * from {{ ref('match_levels') }}

),

own_rank as (

    select max(case when not is_inherited then level_rank end) as level_rank
    from levels

),

uncounted as (

    select
        coalesce(columns.match_level, levels.match_level) as found_in,
        'level without a column, or the other way round' as problem
    from columns
    full outer join levels
        on columns.match_level = levels.match_level
        and columns.level_rank = levels.level_rank
    where columns.match_level is null
        or levels.match_level is null

),

own_counts as (

    select
        counts.*,
        case own_rank.level_rank
            {%- for name in names %}
            when {{ loop.index0 }} then n_pmids_to_{{ name }}
            {%- endfor %}
        end as n_own_pmids,
        case own_rank.level_rank
            {%- for name in names %}
            when {{ loop.index0 }} then n_curated_to_{{ name }}
            {%- endfor %}
        end as n_own_curated,
        case own_rank.level_rank
            {%- for name in names %}
            when {{ loop.index0 }} then n_undirected_to_{{ name }}
            {%- endfor %}
        end as n_own_undirected
    from {{ ref('int_triple_counts') }} as counts
    cross join own_rank

),

unequal as (

    select
        triple_id as found_in,
        'counts by level are not those of the checks' as problem
    from own_counts
    where n_pmids_to_{{ names[-1] }} <> n_supporting_pmids
        or n_curated_to_{{ names[-1] }} <> n_supporting_curated
        or n_undirected_to_{{ names[-1] }} <> n_undirected_curated
        or n_own_pmids <> n_supporting_pmids_exact
        or n_own_curated <> n_supporting_curated_exact
        or n_own_undirected <> n_undirected_curated_exact

)

select * from uncounted
union all
select * from unequal
