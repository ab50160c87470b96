{#- A share as the reports show it: six digits, so that the last bits of a double decide nothing. -#}
{% macro rounded_share(expression) -%}
cast({{ rounded(expression) }} as decimal(9, 6))
{%- endmacro %}
