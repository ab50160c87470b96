{#- Rows whose column falls (or, with `strictly`, does not rise) in the order of `order_by` within
    `group_columns`; nulls are left out. -#}
{% test ordered_within(model, column_name, group_columns, order_by, strictly=false) %}

with

paired as (

    select
        {{ group_columns | join(', ') }},
        {{ order_by }},
        {{ column_name }},
        lag({{ column_name }}) over (
            partition by {{ group_columns | join(', ') }}
            order by {{ order_by }}
        ) as previous_value
    from {{ model }}
    where {{ column_name }} is not null

)

select *
from paired
where {{ column_name }} {{ '<=' if strictly else '<' }} previous_value

{% endtest %}
