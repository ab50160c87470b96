{#- A proportion of two counts as decimal(9,6); null when the whole is zero. -#}
{% macro share(part, whole) -%}
{{ rounded_share('cast(' ~ part ~ ' as double) / nullif(' ~ whole ~ ', 0)') }}
{%- endmacro %}
