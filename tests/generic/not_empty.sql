{#- One row when the model is empty; with `when_rows` (a relation) only while that one has rows. -#}
{% test not_empty(model, when_rows=none) %}

select 'no rows' as problem
where not exists (select 1 from {{ model }})
{%- if when_rows is not none %}
    and exists (select 1 from {{ when_rows }})
{%- endif %}

{% endtest %}
