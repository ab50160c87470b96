{%- set questions = ['is_right', 'is_unique', 'has_other_right', 'is_answerable', 'has_leak'] -%}
with

ratings as (

    select * from {{ ref('int_audit_ratings') }}
    where reason is null

),

answers as (
    {% for question in questions %}
    select
        rater,
        triple_id,
        '{{ question }}' as question,
        {{ question }} as answer
    from ratings
    where {{ question }} is not null
    {{- '\n\n    union all\n' if not loop.last }}
    {%- endfor %}

)

select * from answers
