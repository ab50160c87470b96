-- One row per template: a candidate that passed every cap. template_number is a narrow handle for
-- the joins of one build and is never stored in an item. Each template is weighed against every
-- answer of its pool, so a pool of many templates falls into parts: the work then grows with the
-- templates and not with their square. A part holds whole persons.
with

capped as (

    select * from {{ ref('int_templates_capped') }}
    where cap_reason is null

),

-- What only a model's completions propose never changes the parts.
sized as (

    select
        *,
        greatest(1, ceil(
            count(*) filter (where not needs_completion) over (
                partition by source, task, answer_event_type, semantic_group
            ) / {{ var('max_pool_templates') }}
        )) as n_parts
    from capped

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
                md5_number_lower({{ key(['person_group', "'pool part'"]) }}) % cast(n_parts as bigint)
        ) as integer) as pool_number
    from sized

)

select * from numbered
