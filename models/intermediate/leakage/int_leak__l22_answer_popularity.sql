-- Do few concepts answer most items, or does a concept answer whenever it is shown? Three figures
-- per source and task, over the largest item of each template: the largest share of its showings
-- in which a concept answers, the entropy of the answers (1: all equally often), and the share of
-- the commonest answer against the cap of templates per answer. Beside them the lifts of B4.
{%- set largest = var('item_option_counts') | max %}
{%- set cap = var('max_templates_per_answer') %}
{%- set enough = 'n_templates >= ' ~ var('set_rule_min_templates') %}
with

options as (

    select * from {{ ref('int_surface_options') }}

),

baselines as (

    select * from {{ ref('rpt_surface_baselines') }}

),

{{ baseline_lift_results('L22', 'B4') }},

concepts_counted as (

    select
        source,
        task,
        cui_id,
        min(option_key) as option_key,
        count(*) as n_shown,
        count(*) filter (where is_gold) as n_gold
    from options
    group by
        source,
        task,
        cui_id

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

concepts as (

    select
        concepts_counted.*,
        labels.label,
        sum(concepts_counted.n_gold) over (
            partition by concepts_counted.source, concepts_counted.task) as n_templates
    from concepts_counted
    inner join labels
        on concepts_counted.option_key = labels.option_key

),

most_often_gold as (

    select
        source,
        task,
        'answer when shown' as stratum,
        n_shown as n,
        n_gold / n_shown as statistic,
        {{ wilson_bound('n_gold', 'n_shown', 'low') }} as low,
        {{ wilson_bound('n_gold', 'n_shown', 'high') }} as high,
        {{ var('set_rule_max_gold_share') }} as allowed,
        n_gold / n_shown > {{ var('set_rule_max_gold_share') }} as is_found,
        concat(label, ': answer in ', n_gold, ' of ', n_shown, ' showings; chance ',
            round(1.0 / {{ largest }}, 3)) as evidence
    from concepts
    where n_shown >= {{ var('set_rule_min_shown') }}
    qualify row_number() over (
        partition by source, task
        order by n_gold / n_shown desc, n_shown desc, label, option_key
    ) = 1

),

spread as (

    select
        source,
        task,
        n_templates,
        count(*) as n_answers,
        -sum(n_gold / n_templates * ln(n_gold / n_templates)) / nullif(ln(count(*)), 0) as entropy
    from concepts
    where n_gold > 0
    group by
        source,
        task,
        n_templates

),

entropies as (

    select
        source,
        task,
        'entropy of answers' as stratum,
        n_templates as n,
        coalesce(entropy, 0) as statistic,
        cast(null as decimal(9, 6)) as low,
        cast(null as decimal(9, 6)) as high,
        {{ var('set_rule_min_entropy') }} as allowed,
        case
            when {{ enough }}
                then round(coalesce(entropy, 0), 6) < {{ var('set_rule_min_entropy') }}
        end as is_found,
        concat(n_answers, ' answers in ', n_templates, ' templates') as evidence
    from spread

),

commonest as (

    select
        source,
        task,
        'commonest answer' as stratum,
        n_templates as n,
        n_gold / n_templates as statistic,
        {{ wilson_bound('n_gold', 'n_templates', 'low') }} as low,
        {{ wilson_bound('n_gold', 'n_templates', 'high') }} as high,
        least(1, {{ cap }} / n_templates) as allowed,
        case when {{ enough }} then n_gold > {{ cap }} end as is_found,
        concat(label, ': answer of ', n_gold, ' templates; cap {{ cap }}') as evidence
    from concepts
    where n_templates > 0
    qualify row_number() over (
        partition by source, task
        order by n_gold desc, label, option_key
    ) = 1

),

united as (

    select * from most_often_gold
    union all
    select * from entropies
    union all
    select * from commonest

),

figures as (

    select
        cast('L22' as varchar) as rule_id,
        source,
        task,
        cast(stratum as varchar) as stratum,
        cast(n as bigint) as n,
        cast(statistic as decimal(18, 6)) as statistic,
        cast(low as decimal(18, 6)) as low,
        cast(high as decimal(18, 6)) as high,
        cast(allowed as decimal(18, 6)) as allowed,
        cast(is_found as boolean) as is_found,
        cast(evidence as varchar) as evidence
    from united

),

all_results as (

    select * from figures
    union all
    select * from results

)

select * from all_results
