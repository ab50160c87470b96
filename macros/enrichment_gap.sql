{#- Why a pass rate over that of the null cannot be estimated; null when it can. -#}
{% macro enrichment_gap(n, null_n, null_n_pass, n_persons=none) -%}
case
    when {{ null_n }} is null then 'no_null'
    when {{ n }} < {{ var('enrichment_min_triples') }}
        or {{ null_n }} < {{ var('enrichment_min_triples') }}
        then 'too_few_triples'
    {%- if n_persons %}
    when {{ n_persons }} < {{ var('enrichment_min_persons') }} then 'too_few_persons'
    {%- endif %}
    when {{ null_n_pass }} = 0 then 'null_never_passes'
end
{%- endmacro %}
