-- One row per multiple-choice item x option with its letter. The place of the answer is
-- (number of the template + variant) mod option count; the others follow in md5 order. This is
-- the only model that knows the answer and the letters together; it holds no text.
with

variants as (

    select * from {{ ref('int_item_variants') }}
    where format = 'mcq'

),

templates as (

    select * from {{ ref('int_templates') }}

),

distractors as (

    select * from {{ ref('int_distractors') }}

),

gold_placed as (

    select
        variants.item_key,
        templates.answer_option_key as option_key,
        cast(
            ({{ md5_integer('variants.template_key') }} % variants.n_options + variants.variant)
                % variants.n_options as integer
        ) as position
    from variants
    inner join templates
        on variants.template_key = templates.template_key

),

others_ordered as (

    select
        variants.item_key,
        distractors.option_key,
        row_number() over (
            partition by variants.item_key
            order by
                {{ key(['variants.item_key', 'distractors.option_key']) }},
                distractors.option_key
        ) - 1 as place
    from variants
    inner join distractors
        on variants.template_key = distractors.template_key
        and distractors.rank < variants.n_options

),

others_placed as (

    select
        others_ordered.item_key,
        others_ordered.option_key,
        cast(
            case
                when others_ordered.place < gold_placed.position then others_ordered.place
                else others_ordered.place + 1
            end as integer
        ) as position
    from others_ordered
    inner join gold_placed
        on others_ordered.item_key = gold_placed.item_key

),

placed as (

    select * from gold_placed
    union all
    select * from others_placed

),

lettered as (

    select
        item_key,
        option_key,
        chr(65 + position) as option_letter
    from placed

)

select * from lettered
order by item_key, option_letter
