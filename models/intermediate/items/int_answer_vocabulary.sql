-- One row per pool (source, task, event type, semantic group) x concept that answers at least one
-- template that may be matched: what distractors are drawn from. Templates that leak, and those
-- that only a model's completions propose, do not count: completions never change an item.
with

templates as (

    select * from {{ ref('int_templates') }}

),

matchable as (

    select * from {{ ref('int_matchable_templates') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

answers_counted as (

    select
        templates.pool_number,
        templates.source,
        templates.task,
        templates.answer_event_type as event_type,
        templates.semantic_group,
        templates.answer_cui_id as cui_id,
        cast(count(*) as integer) as n_answers
    from templates
    inner join matchable
        on templates.template_number = matchable.template_number
    group by all

),

vocabulary as (

    select
        answers_counted.*,
        labels.option_key,
        labels.cui,
        labels.label,
        labels.label_words
    from answers_counted
    inner join labels
        on answers_counted.event_type = labels.event_type
        and answers_counted.cui_id = labels.cui_id

)

select * from vocabulary
