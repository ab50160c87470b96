-- One row per template: a candidate that passed every cap. template_number is a narrow handle for
-- the joins of one build and is never stored in an item.
with

capped as (

    select * from {{ ref('int_templates_capped') }}
    where cap_reason is null

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
            order by source, task, answer_event_type, semantic_group
        ) as integer) as pool_number
    from capped

)

select * from numbered
