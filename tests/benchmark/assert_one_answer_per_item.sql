-- A multiple-choice item whose options are not n_options distinct ones of one event type, lettered
-- from A without a gap, exactly one of which is the answer at the place the key names.
with

items as (

    select * from {{ ref('dim_items') }}
    where format = 'mcq'

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
        items.n_options,
        count(options.option_key) as n_found,
        count(distinct options.option_letter) as n_letters,
        max(options.option_letter) as last_letter,
        count(distinct options.cui) as n_cuis,
        count(distinct {{ norm_label('options.label') }}) as n_labels,
        count(distinct options.event_type) as n_types,
        count(*) filter (where options.option_key = answer_keys.gold_option_key) as n_answers,
        count(*) filter (
            where options.option_key = answer_keys.gold_option_key
                and options.option_letter = answer_keys.gold_letter
                and options.label = answer_keys.gold_label
                and options.cui = answer_keys.gold_cui
        ) as n_answers_in_place
    from items
    left join options
        on items.item_id = options.item_id
    left join answer_keys
        on items.item_id = answer_keys.item_id
    group by
        items.item_id,
        items.n_options

)

select *
from counted
where n_found is distinct from n_options
    or n_letters is distinct from n_options
    or last_letter is distinct from chr(64 + n_options)
    or n_cuis is distinct from n_options
    or n_labels is distinct from n_options
    or n_types is distinct from 1
    or n_answers is distinct from 1
    or n_answers_in_place is distinct from 1
