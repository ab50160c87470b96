{#- One row when the column's type is another one, whether or not the model has rows. -#}
{% test is_type(model, column_name, type) %}

select
    column_name,
    column_type
from (describe select {{ column_name }} from {{ model }})
where upper(column_type) <> upper('{{ type }}')

{% endtest %}
