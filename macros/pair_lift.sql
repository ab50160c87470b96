{#- How much more often two concepts stand together than by chance: shares of persons, from weights
    in millionths of a person. decimal(18,6); null when one of the two never occurs. -#}
{% macro pair_lift(pair_weight, subject_weight, object_weight, n_persons) -%}
cast({{ rounded(
    'cast(' ~ pair_weight ~ ' as double) * ' ~ n_persons ~ ' * 1000000.0 / nullif(cast('
    ~ subject_weight ~ ' as double) * ' ~ object_weight ~ ', 0)') }} as decimal(18, 6))
{%- endmacro %}
