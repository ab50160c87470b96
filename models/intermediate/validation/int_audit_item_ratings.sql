{%- set answers = ['is_unique', 'has_other_right', 'is_answerable', 'has_leak'] -%}
with

ratings as (

    select * from {{ ref('stg_completions__audit_item_ratings') }}

),

audit_items as (

    select item_id
    from {{ ref('fct_audit_items') }}

),

answer_keys as (

    select
        item_id,
        lower(gold_letter) as gold_letter
    from {{ ref('fct_answer_keys') }}

),

options as (

    select
        item_id,
        lower(option_letter) as option_letter
    from {{ ref('fct_item_options') }}

),

-- What a valid item is answered with.
audit_columns as (

    select
        {%- for answer in answers %}
        bool_or(valid_answer = 'yes') filter (where question = '{{ answer }}')
            as valid_{{ answer }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ ref('audit_columns') }}
    where sheet = 'items'

),

decided as (

    select
        ratings.source_row,
        ratings.rater,
        ratings.item_id,
        case when ratings.best_letter <> 'unsure'
            then ratings.best_letter = answer_keys.gold_letter end as is_key,
        {%- for answer in answers %}
        ratings.{{ answer }},
        {%- endfor %}
        case
            when ratings.rater is null or ratings.rater = '' then 'no_rater'
            when audit_items.item_id is null then 'not_in_the_sample'
            when ratings.best_letter is null
                or (ratings.best_letter not in ('none', 'unsure') and options.item_id is null)
                then 'unreadable_answer'
            -- A rater who changed their mind writes another row; the last one counts.
            when row_number() over (
                partition by ratings.rater, ratings.item_id
                order by
                    case when ratings.best_letter in ('none', 'unsure')
                        or options.item_id is not null then 0 else 1 end,
                    ratings.source_row desc
            ) > 1 then 'replaced_by_a_later_row'
        end as reason
    from ratings
    left join audit_items
        on ratings.item_id = audit_items.item_id
    left join answer_keys
        on ratings.item_id = answer_keys.item_id
    left join options
        on ratings.item_id = options.item_id
        and ratings.best_letter = options.option_letter

)

select
    decided.*,
    -- One answer that is not as it should be decides; without one, an open answer leaves it open.
    decided.is_key
    {%- for answer in answers %}
    and decided.{{ answer }} = audit_columns.valid_{{ answer }}
    {%- endfor %} as is_valid
from decided
cross join audit_columns
