{#- Critical value of chi-squared for a normal quantile z (Wilson and Hilferty). -#}
{% macro chi_squared_limit(df, z) -%}
{{ df }} * power(1 - 2 / (9.0 * {{ df }}) + {{ z }} * sqrt(2 / (9.0 * {{ df }})), 3)
{%- endmacro %}
