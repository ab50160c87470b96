-- Are answers commoner or rarer than the distractors beside them? Mean of log visits of the answer
-- less the mean of its distractors; found when the whole interval lies beyond what is allowed.
{%- set z = var('set_rule_z') %}
{%- set allowed = var('set_rule_max_log_frequency') %}
with

options as (

    select * from {{ ref('int_surface_options') }}

),

measured as (

    select
        template_key,
        source,
        task,
        person_group,
        answer_cui_id,
        is_gold,
        cast(round(1000000 * ln(n_visits + 1)) as bigint) as log_visits
    from options

),

differences as (

    select
        source,
        task,
        person_group,
        answer_cui_id,
        1 as n,
        sum(log_visits) filter (where is_gold)
            - sum(log_visits) filter (where not is_gold) // count(*) filter (where not is_gold)
            as value
    from measured
    group by
        template_key,
        source,
        task,
        person_group,
        answer_cui_id

),

{{ two_way_error('means', 'differences', ['source', 'task']) }},

results as (

    select
        cast('L21' as varchar) as rule_id,
        source,
        task,
        cast('log visits' as varchar) as stratum,
        cast(n as bigint) as n,
        cast(mean as decimal(18, 6)) as statistic,
        cast(mean - {{ z }} * standard_error as decimal(18, 6)) as low,
        cast(mean + {{ z }} * standard_error as decimal(18, 6)) as high,
        cast({{ allowed }} as decimal(18, 6)) as allowed,
        case
            when n >= {{ var('set_rule_min_templates') }} and standard_error > 0
                then mean - {{ z }} * standard_error > {{ allowed }}
                    or mean + {{ z }} * standard_error < -{{ allowed }}
        end as is_found,
        cast(concat('answers are ', round(exp(mean), 2), ' times as common as distractors')
            as varchar) as evidence
    from means

)

select * from results
