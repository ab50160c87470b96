-- Do models do better on facts with more articles, as if they knew them rather than read the case?
-- Per model, accuracy on the half of its items whose triple has more supporting articles less that
-- on the other half. A gap is knowledge or memory and no proof of either; the public demos have no
-- calendar years that would separate old items from new ones.
{%- set z = var('set_rule_z') %}
{%- set allowed = var('set_rule_max_model_gap') %}
{%- set needed = var('set_rule_min_templates') %}
with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

models as (

    select * from {{ ref('models') }}
    where engine <> 'sql'

),

templates as (

    select * from {{ ref('int_templates') }}

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

),

answered as (

    select
        scores.source,
        scores.task,
        concat_ws(', ', scores.model, scores.mode) as stratum,
        scores.person_group,
        1 as n,
        1000000 * scores.correct as value,
        triple_counts.n_supporting_pmids,
        median(triple_counts.n_supporting_pmids) over (
            partition by scores.source, scores.task, scores.model, scores.mode
        ) as middle
    from scores
    inner join models
        on scores.model = models.model
    inner join templates
        on scores.template_key = templates.template_key
    inner join triple_counts
        on templates.triple_id = triple_counts.triple_id

),

halves as (

    select
        *,
        n_supporting_pmids > middle as is_first
    from answered

),

{{ group_difference('gaps', 'halves', ['source', 'task', 'stratum']) }},

-- Strata with answers on one side only have no gap, but say what is missing.
compared as (

    select
        gaps_totals.source,
        gaps_totals.task,
        gaps_totals.stratum,
        gaps_totals.all_first as n_first,
        gaps_totals.all_second as n_second,
        gaps.difference,
        gaps.standard_error,
        least(gaps_totals.all_first, gaps_totals.all_second) >= {{ needed }} as is_enough
    from gaps_totals
    left join gaps
        on gaps_totals.source = gaps.source
        and gaps_totals.task = gaps.task
        and gaps_totals.stratum = gaps.stratum

),

results as (

    select
        cast('L29' as varchar) as rule_id,
        source,
        task,
        cast(stratum as varchar) as stratum,
        cast(n_first + n_second as bigint) as n,
        cast(difference as decimal(18, 6)) as statistic,
        cast(difference - {{ z }} * standard_error as decimal(18, 6)) as low,
        cast(difference + {{ z }} * standard_error as decimal(18, 6)) as high,
        cast({{ allowed }} as decimal(18, 6)) as allowed,
        case
            when is_enough
                then difference > {{ allowed }} and difference > {{ z }} * standard_error
        end as is_found,
        cast(concat(n_first, ' answers on facts of more articles, ', n_second, ' on the others',
            case when not is_enough then '; each needs {{ needed }}' end) as varchar) as evidence
    from compared

)

select * from results
