{#- Keys whose number of rows differs between the model and `compare_to`. A key that only one side
    has counts as a difference (`is distinct from`, where `<>` would see nothing). `compare_columns`
    names the key on the other side when it differs; no columns at all compares the totals. -#}
{% test rows_match(model, compare_to, columns=[], compare_columns=none,
    condition='true', compare_condition='true') %}
{%- set others = compare_columns or columns %}

with

left_counts as (

    select
        {%- for column in columns %}
        {{ column }} as key_{{ loop.index }},
        {%- endfor %}
        count(*) as n_rows
    from {{ model }}
    where {{ condition }}
    {%- if columns %}
    group by {{ columns | join(', ') }}
    {%- endif %}

),

right_counts as (

    select
        {%- for column in others %}
        {{ column }} as key_{{ loop.index }},
        {%- endfor %}
        count(*) as n_rows
    from {{ compare_to }}
    where {{ compare_condition }}
    {%- if others %}
    group by {{ others | join(', ') }}
    {%- endif %}

)

select
    {%- for column in columns %}
    coalesce(left_counts.key_{{ loop.index }}, right_counts.key_{{ loop.index }}) as {{ column }},
    {%- endfor %}
    left_counts.n_rows as n_rows,
    right_counts.n_rows as n_rows_compared
from left_counts
full outer join right_counts
    on true
    {%- for column in columns %}
    and left_counts.key_{{ loop.index }} is not distinct from right_counts.key_{{ loop.index }}
    {%- endfor %}
where left_counts.n_rows is distinct from right_counts.n_rows

{% endtest %}
