-- One row per pool (source, task, event type, semantic group) x concept that answers at least one
-- template: what distractors are drawn from. Templates that only a model's completions propose do
-- not count here or in the weights: completions never change an item.
with

templates as (

    select * from {{ ref('int_templates') }}
    where not needs_completion

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

answers_counted as (

    select
        pool_number,
        source,
        task,
        answer_event_type as event_type,
        semantic_group,
        answer_cui_id as cui_id,
        cast(count(*) as integer) as n_answers
    from templates
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
