{#- Values of the column that `to`.`field` lacks, among the rows that the two conditions leave.
    Null passes; an anti join, so a null on the other side hides nothing. -#}
{% test relationships_where(model, column_name, to, field,
    from_condition='true', to_condition='true') %}

with

children as (

    select {{ column_name }} as value
    from {{ model }}
    where {{ column_name }} is not null
        and ({{ from_condition }})

),

parents as (

    select {{ field }} as value
    from {{ to }}
    where {{ to_condition }}

)

select children.value
from children
left join parents
    on children.value = parents.value
where parents.value is null

{% endtest %}
