-- One row per item to be rendered, with its text and its content hash. Items that read alike
-- (scenario, question, options, variant) have one item_id; one of them is kept, of a template that
-- needs no completion where there is one, then of the lowest template key. Every candidate is
-- rendered, released or not: the leak rules read this model.
with

variants as (

    select * from {{ ref('int_item_variants') }}

),

templates as (

    select * from {{ ref('int_templates') }}

),

template_texts as (

    select * from {{ ref('int_template_texts') }}

),

question_texts as (

    select * from {{ ref('int_question_texts') }}

),

ordered as (

    select * from {{ ref('int_item_options_ordered') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

options_written as (

    select
        ordered.item_key,
        string_agg(labels.label, chr(10) order by labels.label, labels.option_key) as options
    from ordered
    inner join labels
        on ordered.option_key = labels.option_key
    group by all

),

written as (

    select
        variants.item_key,
        variants.template_key,
        variants.source,
        variants.task,
        variants.format,
        variants.n_options,
        variants.variant,
        template_texts.n_context,
        template_texts.scenario,
        question_texts.question,
        options_written.options,
        templates.needs_completion
    from variants
    inner join templates
        on variants.template_key = templates.template_key
    inner join template_texts
        on variants.template_key = template_texts.template_key
    inner join question_texts
        on variants.task = question_texts.task
        and variants.answer_type = question_texts.answer_type
        and variants.format = question_texts.format
        and variants.variant = question_texts.variant
    left join options_written
        on variants.item_key = options_written.item_key

),

hashed as (

    select
        {{ key(['scenario', 'question', 'options', 'variant']) }} as item_id,
        *
    from written

),

marked as (

    select
        *,
        row_number() over (
            partition by item_id
            order by needs_completion, template_key, item_key
        ) = 1 as is_kept
    from hashed

)

select * exclude (needs_completion) from marked
