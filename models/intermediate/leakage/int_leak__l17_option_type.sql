-- Options of another event type or semantic group than the answer: a drug among diagnoses is ruled
-- out by the question alone.
with

options as (

    select * from {{ ref('int_leak_options') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

typed as (

    select
        options.template_key,
        options.option_key,
        options.is_gold,
        case
            when labels.option_key is null then 'no label'
            else concat(labels.event_type, ' ', labels.semantic_group)
        end as kind
    from options
    left join labels
        on options.option_key = labels.option_key

),

found as (

    select
        'L17' as rule_id,
        'option' as scope,
        distractors.template_key,
        cast(null as varchar) as item_id,
        distractors.option_key,
        min(concat(distractors.kind, ' beside ', answers.kind)) as evidence
    from typed as distractors
    inner join typed as answers
        on distractors.template_key = answers.template_key
        and answers.is_gold
    where not distractors.is_gold
        and distractors.kind <> answers.kind
    group by
        distractors.template_key,
        distractors.option_key

)

select * from found
