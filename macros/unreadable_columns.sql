{#- Names of the columns whose text is no value of their type; null when every text can be read.
    An empty text is missing and not unreadable. -#}
{% macro unreadable_columns(types) -%}
nullif(concat_ws(', '
    {%- for column, data_type in types.items() %},
            case
                when try_cast({{ column }} as {{ data_type }}) is not null then null
                when trim({{ column }}) <> '' then '{{ column }}'
            end
    {%- endfor %}
        ), '')
{%- endmacro %}
