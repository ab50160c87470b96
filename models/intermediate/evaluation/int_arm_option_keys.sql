-- One row per letter that an item of the evaluation subset has under an arm whose options are not
-- the item's own: rotated ones, those with a spare distractor in the answer's place, and those
-- followed by the option to abstain, which has no key. It knows which option is the answer, to
-- replace it, and holds no text.
with

items as (

    select * from {{ ref('dim_items') }}
    where in_subset
        and format = 'mcq'

),

arms as (

    select * from {{ ref('prompt_arms') }}

),

options as (

    select * from {{ ref('fct_item_options') }}

),

templates as (

    select
        template_key,
        answer_option_key
    from {{ ref('int_templates') }}

),

distractors as (

    select
        template_key,
        rank,
        option_key
    from {{ ref('int_distractors') }}

),

placed as (

    select
        items.item_id,
        items.template_key,
        items.n_options,
        options.option_key,
        ascii(options.option_letter) - 65 as place
    from items
    inner join options
        on items.item_id = options.item_id

),

rotated as (

    select
        placed.item_id,
        arms.arm,
        (placed.place + arms.rotation) % placed.n_options as place,
        placed.option_key
    from placed
    inner join arms
        on (arms.options = 'own' and arms.has_abstention)
        or (arms.options = 'rotated' and arms.rotation < placed.n_options)

),

-- Distractors are ranked from 1, so an item of k options shows those of rank 1 to k - 1.
replaced as (

    select
        placed.item_id,
        arms.arm,
        placed.place,
        case
            when placed.option_key = templates.answer_option_key then spares.option_key
            else placed.option_key
        end as option_key
    from placed
    inner join arms
        on arms.options = 'gold_removed'
    inner join templates
        on placed.template_key = templates.template_key
    inner join distractors as spares
        on placed.template_key = spares.template_key
        and placed.n_options = spares.rank

),

united as (

    select * from rotated
    union all
    select * from replaced

),

abstentions as (

    select distinct
        united.item_id,
        united.arm,
        items.n_options as place,
        cast(null as varchar) as option_key
    from united
    inner join arms
        on united.arm = arms.arm
    inner join items
        on united.item_id = items.item_id
    where arms.has_abstention

),

lettered as (

    select
        item_id,
        arm,
        chr(cast(65 + place as integer)) as option_letter,
        option_key
    from (
        select * from united
        union all
        select * from abstentions
    )

)

select * from lettered
order by item_id, arm, option_letter
