-- The letter that is most often right for the source, task, option count and wording: the best that
-- position alone could do on these very items.
with

items as (

    select * from {{ ref('dim_items') }}
    where released
        and format = 'mcq'

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

placed as (

    select
        items.template_key,
        items.source,
        items.task,
        items.n_options,
        items.variant,
        answer_keys.gold_letter,
        count(*) over (
            partition by
                items.source,
                items.task,
                items.n_options,
                items.variant,
                answer_keys.gold_letter
        ) as n_letter
    from items
    inner join answer_keys
        on items.item_id = answer_keys.item_id

),

best_letters as (

    select
        source,
        task,
        n_options,
        variant,
        gold_letter
    from placed
    qualify row_number() over (
        partition by source, task, n_options, variant
        order by n_letter desc, gold_letter
    ) = 1

),

picked as (

    select
        cast('B2' as varchar) as baseline,
        cast('best_letter' as varchar) as pick,
        cast(null as varchar) as model,
        placed.template_key,
        placed.n_options,
        placed.variant,
        cast(case when placed.gold_letter = best_letters.gold_letter then 1 else 0 end
            as decimal(9, 6)) as n_correct,
        cast(1 as integer) as n_answered
    from placed
    inner join best_letters
        on placed.source = best_letters.source
        and placed.task = best_letters.task
        and placed.n_options = best_letters.n_options
        and placed.variant = best_letters.variant

)

select * from picked
