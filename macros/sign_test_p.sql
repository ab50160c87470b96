{#- Exact two-sided p of McNemar's test, as a double: `b` and `c` count the discordant pairs of
    either kind, which are as likely under the null. 1 when there are none. -#}
{% macro sign_test_p(b, c) -%}
least(1.0, coalesce(2 * list_sum(list_transform(
    range(cast(least({{ b }}, {{ c }}) + 1 as bigint)),
    lambda i: exp(
        lgamma({{ b }} + {{ c }} + 1.0) - lgamma(i + 1.0) - lgamma({{ b }} + {{ c }} - i + 1.0)
        - ({{ b }} + {{ c }}) * ln(2.0)
    )
)), 1.0))
{%- endmacro %}
