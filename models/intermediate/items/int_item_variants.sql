-- One row per item to be rendered: template x option count x paraphrase, and one open-ended item.
-- A template without enough distractors for the smallest option count gives no item at all; the
-- fifth and sixth of a block have no items with fewer options than their place.
{%- set counts = var('item_option_counts') %}
with

templates as (

    select * from {{ ref('int_templates') }}

),

distractors as (

    select * from {{ ref('int_distractors') }}

),

balanced as (

    select * from {{ ref('int_templates_balanced') }}

),

paraphrases as (

    select * from {{ ref('question_paraphrases') }}

),

option_counts as (

    {%- for n in counts %}
    select 'mcq' as format, {{ n }} as n_options
    union all
    {%- endfor %}
    select 'oeq' as format, cast(null as integer) as n_options

),

distractors_counted as (

    select
        template_key,
        count(*) as n_distractors
    from distractors
    group by all

),

variants as (

    select
        {{ key(['templates.template_key', 'option_counts.format', 'option_counts.n_options',
            'paraphrases.variant']) }} as item_key,
        templates.template_key,
        templates.source,
        templates.task,
        paraphrases.answer_type,
        option_counts.format,
        option_counts.n_options,
        paraphrases.variant
    from templates
    inner join balanced
        on templates.template_key = balanced.template_key
    inner join distractors_counted
        on templates.template_key = distractors_counted.template_key
    inner join paraphrases
        on templates.task = paraphrases.task
        and templates.answer_event_type = paraphrases.answer_type
    inner join option_counts
        on paraphrases.format = option_counts.format
    where distractors_counted.n_distractors
        >= coalesce(option_counts.n_options, {{ counts | min }}) - 1
        and coalesce(option_counts.n_options >= balanced.smallest_size, true)

)

select * from variants
