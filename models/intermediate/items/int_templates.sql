-- One row per template: a candidate that passed every cap. template_number is a narrow handle for
-- the joins of one build and is never stored in an item. Each template is weighed against every
-- answer of its pool, so a pool of many templates falls into parts of about one size: the work then
-- grows with the templates and not with their square. A part holds scenarios of like reach, that is
-- of how many events have their commonest concept. Common scenarios occur with any answer, rare ones
-- with common answers alone: drawn from together, the first would show rarer distractors than
-- answers, the second commoner ones.
with

capped as (

    select * from {{ ref('int_templates_capped') }}
    where cap_reason is null

),

reaches as (

    select * from {{ ref('int_scenario_reach') }}

),

-- What only a model's completions propose never changes the parts.
sized as (

    select
        *,
        count(*) filter (where not needs_completion) over (
            partition by source, task, answer_event_type, semantic_group
        ) as n_counted
    from capped

),

ordered as (

    select
        sized.*,
        count(*) filter (where not sized.needs_completion) over (
            partition by sized.source, sized.task, sized.answer_event_type, sized.semantic_group
            order by coalesce(reaches.n_events, 0), sized.template_key
        ) as place
    from sized
    left join reaches
        on sized.template_key = reaches.template_key

),

numbered as (

    select
        template_key,
        cast(row_number() over (order by template_key) as integer) as template_number,
        triple_id,
        source,
        task,
        visit_key,
        target_visit_key,
        patient_key,
        person_group,
        subject_event_key,
        relation,
        answer_event_key,
        claim_key,
        answer_event_type,
        answer_cui_id,
        answer_option_key,
        semantic_group,
        needs_completion,
        cast(dense_rank() over (
            order by
                source, task, answer_event_type, semantic_group,
                greatest(place - 1, 0)
                    * greatest(1, (n_counted + {{ var('max_pool_templates') }} - 1)
                        // {{ var('max_pool_templates') }})
                    // greatest(1, n_counted)
        ) as integer) as pool_number
    from ordered

)

select * from numbered
