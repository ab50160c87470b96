-- Are templates that a model proposed easier for models of its family? Per family that both
-- proposed triples and answers items: its accuracy less that of other families on the same items,
-- on templates that it proposed against those that it did not. No rows without two such families.
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

proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

templates as (

    select * from {{ ref('int_templates') }}

),

families_proposing as (

    select distinct
        templates.template_key,
        models.family
    from templates
    inner join proposals
        on templates.triple_id = proposals.triple_id
    inner join models
        on proposals.generator = models.model

),

families as (

    select distinct family
    from families_proposing

),

answered as (

    select
        scores.source,
        scores.task,
        scores.item_id,
        scores.template_key,
        scores.person_group,
        models.family,
        count(*) as n,
        sum(scores.correct) as n_correct
    from scores
    inner join models
        on scores.model = models.model
    group by
        scores.source,
        scores.task,
        scores.item_id,
        scores.template_key,
        scores.person_group,
        models.family

),

-- Items that the family and some other family answered.
contrasts as (

    select
        own.source,
        own.task,
        own.family as stratum,
        own.template_key,
        own.person_group,
        1 as n,
        1000000 * own.n_correct // own.n - 1000000 * sum(other.n_correct) // sum(other.n) as value
    from answered as own
    inner join families
        on own.family = families.family
    inner join answered as other
        on own.item_id = other.item_id
        and own.family <> other.family
    where (select count(*) from families) >= 2
    group by
        own.source,
        own.task,
        own.family,
        own.item_id,
        own.template_key,
        own.person_group,
        own.n,
        own.n_correct

),

marked as (

    select
        contrasts.*,
        families_proposing.family is not null as is_first
    from contrasts
    left join families_proposing
        on contrasts.template_key = families_proposing.template_key
        and contrasts.stratum = families_proposing.family

),

{{ group_difference('gaps', 'marked', ['source', 'task', 'stratum']) }},

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
        cast('L28' as varchar) as rule_id,
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
        cast(concat(n_first, ' answers to items that the family proposed, ', n_second, ' to others',
            case when not is_enough then '; each needs {{ needed }}' end) as varchar) as evidence
    from compared

)

select * from results
