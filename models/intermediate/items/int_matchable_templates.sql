-- One row per template that counts in the draw of distractors: proposed without a model's
-- completions, in no leak rule that keeps its items back, its answer possible for the person. Only
-- these calibrate the draw and take room in it.
with

templates as (

    select * from {{ ref('int_templates') }}
    where not needs_completion

),

leaking as (

    select * from {{ ref('int_leaking_templates') }}

),

absurd_answers as (

    select * from {{ ref('int_absurd_answers') }}
    where is_answer

),

matchable as (

    select
        templates.template_number,
        templates.template_key,
        templates.pool_number,
        templates.person_group,
        templates.answer_cui_id
    from templates
    anti join leaking
        on templates.template_key = leaking.template_key
    anti join absurd_answers
        on templates.template_number = absurd_answers.template_number

)

select * from matchable
