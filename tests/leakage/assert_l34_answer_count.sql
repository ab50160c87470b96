-- Released multiple-choice items without exactly one answer among as many options as they say, and
-- released open questions that read alike for several answers.
with

items as (

    select * from {{ ref('dim_items') }}
    where released

),

options as (

    select * from {{ ref('fct_item_options') }}

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

counted as (

    select
        items.item_id,
        count(options.option_key) as n_found,
        count(*) filter (where options.option_key = answer_keys.gold_option_key) as n_answers
    from items
    left join options
        on items.item_id = options.item_id
    left join answer_keys
        on items.item_id = answer_keys.item_id
    where items.format = 'mcq'
    group by
        items.item_id,
        items.n_options
    having count(options.option_key) is distinct from items.n_options
        or count(*) filter (where options.option_key = answer_keys.gold_option_key) <> 1

),

asked_twice as (

    select
        min(items.item_id) as item_id,
        cast(null as bigint) as n_found,
        count(distinct answer_keys.gold_cui) as n_answers
    from items
    inner join answer_keys
        on items.item_id = answer_keys.item_id
    where items.format = 'oeq'
    group by
        items.scenario,
        items.question
    having min(answer_keys.gold_cui) <> max(answer_keys.gold_cui)

)

select * from counted
union all
select * from asked_twice
