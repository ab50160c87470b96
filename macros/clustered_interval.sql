{#- One end of the interval of a proportion, from its cluster-robust standard error, kept within
    [0, 1]: `side` is low or high. Null with fewer than two clusters. When the error is zero (all
    clusters agree), the Wilson bound with one observation per cluster, since a width of zero would
    claim a certainty that a few clusters cannot give. -#}
{% macro clustered_interval(proportion, standard_error, n_clusters, side) -%}
{%- set sign = '-' if side == 'low' else '+' -%}
{%- set z = var('interval_z') -%}
case
    when {{ n_clusters }} >= 2 then least(1.0, greatest(0.0,
        case
            when {{ standard_error }} > 0
                then {{ proportion }} {{ sign }} {{ z }} * {{ standard_error }}
            else {{ wilson_bound('(' ~ proportion ~ ') * ' ~ n_clusters, n_clusters, side) }}
        end
    ))
end
{%- endmacro %}
