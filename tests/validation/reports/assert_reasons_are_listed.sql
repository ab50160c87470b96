-- The list of reasons is closed: what checks and verdicts give is in seed validation_reasons, every
-- rule of conflict has its reason there and every check has one.
with

listed as (

    select * from {{ ref('validation_reasons') }}

),

given as (

    select distinct
        'fct_triple_checks' as found_in,
        check_name,
        reason_code
    from {{ ref('fct_triple_checks') }}
    where reason_code is not null

    union all
    {% for check in ['grounded', 'mapped', 'positive_support', 'unambiguous_relation',
        'no_negative_evidence', 'no_context_conflict', 'ehr_lift'] %}
    select distinct
        'fct_triple_verdicts' as found_in,
        '{{ check }}' as check_name,
        reason_{{ check }} as reason_code
    from {{ ref('int_triple_policy_reasons') }}
    where reason_{{ check }} is not null

    union all
    {% endfor %}
    select distinct
        'conflict_rules' as found_in,
        'no_context_conflict' as check_name,
        concat('context_conflict_', rule) as reason_code
    from {{ ref('conflict_rules') }}

)

select
    given.found_in,
    given.check_name,
    given.reason_code
from given
left join listed
    on given.check_name = listed.check_name
    and given.reason_code = listed.reason_code
    and (given.found_in = 'fct_triple_verdicts' or listed.in_checks)
    and (given.found_in = 'fct_triple_checks' or listed.in_verdicts)
where listed.reason_code is null

union all

select
    'validation_checks' as found_in,
    checks.check_name,
    cast(null as varchar) as reason_code
from {{ ref('validation_checks') }} as checks
left join listed
    on checks.check_name = listed.check_name
where listed.check_name is null
