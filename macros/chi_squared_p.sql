{#- Upper tail of chi-squared for whole degrees of freedom (at least 1), as a double. The closed
    form: a sum of Poisson terms at x / 2 over whole numbers when df is even, over halves when it
    is odd, where the normal tail comes on top. -#}
{% macro chi_squared_p(x, df) -%}
case
    when {{ x }} <= 0 then 1.0
    when {{ x }} > 0 then
        case when {{ df }} % 2 = 1 then {{ normal_p('sqrt(' ~ x ~ ')') }} else 0.0 end
        + coalesce(list_sum(list_transform(
            range(cast({{ df }} // 2 as bigint)),
            lambda i: exp(
                (i + ({{ df }} % 2) / 2) * ln({{ x }} / 2) - {{ x }} / 2
                - lgamma(i + 1 + ({{ df }} % 2) / 2)
            )
        )), 0.0)
end
{%- endmacro %}
