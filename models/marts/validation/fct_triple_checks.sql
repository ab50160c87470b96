{{ config(tags=['portable']) }}

with

{% set checks = ['grounded', 'mapped', 'positive_support', 'unambiguous_relation',
    'no_negative_evidence', 'no_context_conflict'] -%}
{%- for check in checks %}
{{ check }} as (

    select * from {{ ref('int_check__' ~ check) }}

),
{% endfor %}
checks as (
    {% for check in checks %}
    select * from {{ check }}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

)

select
    triple_id,
    check_name,
    status,
    reason_code,
    n_supporting_pmids,
    n_supporting_curated,
    n_contradicting_pmids
from checks
