{#- A number rounded to six digits, as a double. DuckDB rounds what the double stands for, Spark the
    digits that it prints: 3/640, a hair below 0.0046875, is 0.004687 here and 0.004688 there. -#}
{% macro rounded(expression) -%}
{{ adapter.dispatch('rounded')(expression) }}
{%- endmacro %}

{% macro default__rounded(expression) -%}
round({{ expression }}, 6)
{%- endmacro %}

{#- For numbers from zero on. A float has so few bits that a million times it is exact, and so is a
    million times the rest: their parts below one say on which side of a half the number lies. -#}
{% macro spark__rounded(expression) -%}
transform(
    transform(
        array({{ expression }}),
        x -> struct(
            cast(cast(x as float) as double) * 1e6 as high,
            (x - cast(cast(x as float) as double)) * 1e6 as low
        )
    ),
    x -> (
        floor(x.high) + floor(x.low)
        + case when x.high - floor(x.high) - 0.5D + (x.low - floor(x.low)) >= 0 then 1 else 0 end
        + case when x.high - floor(x.high) - 1.5D + (x.low - floor(x.low)) >= 0 then 1 else 0 end
    ) / 1e6
)[0]
{%- endmacro %}
