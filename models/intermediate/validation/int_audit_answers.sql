{%- set questions = [
    'is_key', 'is_unique', 'has_other_right', 'is_answerable', 'has_leak', 'is_valid',
] -%}
with

triple_ratings as (

    select * from {{ ref('int_audit_ratings') }}
    where reason is null

),

item_ratings as (

    select * from {{ ref('int_audit_item_ratings') }}
    where reason is null

),

answers as (

    select
        rater,
        triple_id as audited_id,
        'is_right' as question,
        is_right as answer
    from triple_ratings

    {%- for question in questions %}

    union all

    select
        rater,
        item_id as audited_id,
        '{{ question }}' as question,
        {{ question }} as answer
    from item_ratings
    where {{ question }} is not null
    {%- endfor %}

)

select * from answers
