{#- Standard error of a proportion from clusters (linearised, with the g/(g-1) correction), out of
    integers: `sum_squares` is the sum over clusters of (hits × total n - total hits × n)². -#}
{% macro cluster_error(sum_squares, n, n_clusters) -%}
case
    when {{ n_clusters }} >= 2 and {{ n }} > 0
        then sqrt(
            cast({{ n_clusters }} as double) / ({{ n_clusters }} - 1)
            * cast({{ sum_squares }} as double)
        ) / (cast({{ n }} as double) * cast({{ n }} as double))
end
{%- endmacro %}
