-- Blocks whose released items, by option count and wording, do not all show the same options, or of
-- which an option is the answer twice, or never. Where they do and none is, nothing that is a
-- function of the options alone can tell the answer.
with

blocks as (

    select
        templates.template_key,
        matched_blocks.block_number
    from {{ ref('int_matched_blocks') }} as matched_blocks
    inner join {{ ref('int_templates') }} as templates
        on matched_blocks.template_number = templates.template_number
    inner join {{ ref('int_pool_draws') }} as pool_draws
        on templates.pool_number = pool_draws.pool_number
    where pool_draws.draw = 'blocks'

),

items as (

    select
        item_id,
        template_key,
        n_options,
        variant
    from {{ ref('dim_items') }}
    where released
        and format = 'mcq'

),

shown as (

    select
        items.item_id,
        string_agg(options.option_key, ',' order by options.option_key) as option_keys
    from items
    inner join blocks
        on items.template_key = blocks.template_key
    inner join {{ ref('fct_item_options') }} as options
        on items.item_id = options.item_id
    group by items.item_id

)

select
    blocks.block_number,
    items.n_options,
    items.variant,
    count(*) as n_items,
    count(distinct shown.option_keys) as n_option_sets,
    count(distinct answer_keys.gold_option_key) as n_answers
from items
inner join blocks
    on items.template_key = blocks.template_key
inner join shown
    on items.item_id = shown.item_id
inner join {{ ref('fct_answer_keys') }} as answer_keys
    on items.item_id = answer_keys.item_id
group by
    blocks.block_number,
    items.n_options,
    items.variant
having count(distinct shown.option_keys) > 1
    or count(distinct answer_keys.gold_option_key) < count(*)
    or count(*) < items.n_options
