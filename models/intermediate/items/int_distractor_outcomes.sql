{{ config(materialized='view') }}

-- One row per template x other concept of its pool, with what came of it as a distractor. A view:
-- as a table it would be templates times answers; readers ask for few templates, by number.
with

templates as (

    select * from {{ ref('int_templates') }}

),

vocabulary as (

    select * from {{ ref('int_answer_vocabulary') }}

),

reasons as (

    select * from {{ ref('int_distractor_reasons') }}

),

candidates as (

    select * from {{ ref('int_distractor_candidates') }}

),

distractors as (

    select * from {{ ref('int_distractors') }}

),

judged as (

    select
        templates.template_number,
        templates.template_key,
        vocabulary.pool_number,
        vocabulary.cui_id,
        vocabulary.cui,
        vocabulary.option_key,
        vocabulary.label,
        case
            when distractors.cui_id is not null then 'shown'
            when candidates.cui_id is not null then 'not_drawn'
            when reasons.cui_id is null then 'never_together'
            else coalesce(reasons.reason, 'too_many_critical')
        end as outcome
    from templates
    inner join vocabulary
        on templates.pool_number = vocabulary.pool_number
        and templates.answer_cui_id <> vocabulary.cui_id
    left join reasons
        on templates.template_number = reasons.template_number
        and vocabulary.cui_id = reasons.cui_id
    left join candidates
        on templates.template_number = candidates.template_number
        and vocabulary.cui_id = candidates.cui_id
    left join distractors
        on templates.template_key = distractors.template_key
        and vocabulary.cui_id = distractors.cui_id

)

select * from judged
