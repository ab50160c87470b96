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

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

paraphrases as (

    select * from {{ ref('question_paraphrases') }}

),

ordered as (

    select * from {{ ref('int_item_options_ordered') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

scenarios_written as (

    select
        template_key,
        count(*) - 1 as n_context,
        string_agg(line, chr(10) order by order_key, event_key) as scenario
    from scenario
    group by all

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
        cast(scenarios_written.n_context as integer) as n_context,
        scenarios_written.scenario,
        replace(
            paraphrases.text, '{horizon_days}', '{{ var("px_horizon_days") }}'
        ) as question,
        options_written.options,
        templates.needs_completion
    from variants
    inner join templates
        on variants.template_key = templates.template_key
    inner join scenarios_written
        on variants.template_key = scenarios_written.template_key
    inner join paraphrases
        on variants.task = paraphrases.task
        and variants.answer_type = paraphrases.answer_type
        and variants.format = paraphrases.format
        and variants.variant = paraphrases.variant
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
