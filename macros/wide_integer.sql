{#- A whole number in the widest type that an engine has: products of sums do not fit 64 bits. -#}
{% macro wide_integer(expression) -%}
cast({{ expression }} as {{ adapter.dispatch('wide_integer_type')() }})
{%- endmacro %}

{% macro default__wide_integer_type() -%}
hugeint
{%- endmacro %}

{% macro spark__wide_integer_type() -%}
decimal(38, 0)
{%- endmacro %}
