{{ config(tags=['portable']) }}

{%- set checks = ['grounded', 'mapped', 'positive_support', 'unambiguous_relation',
    'no_negative_evidence', 'no_context_conflict', 'ehr_lift'] %}

with

policy_reasons as (

    select * from {{ ref('int_triple_policy_reasons') }}

),

generated as (

    select * from {{ ref('int_triple_generators') }}

),

totals as (

    select
        source,
        task,
        generator,
        count(*) as n_triples
    from generated
    group by
        source,
        task,
        generator

),

numbered as (

    select
        *,
        {%- for check in checks %}
        case when reason_{{ check }} is not null then 1 else 0 end
            {{- ' +' if not loop.last else ' as n_reasons,' }}
        {%- endfor %}
        case
            {%- for check in checks %}
            when reason_{{ check }} is not null then '{{ check }}'
            {%- endfor %}
        end as first_check
    from policy_reasons

),

reasons as (
    {% for check in checks %}
    select
        triple_id,
        policy,
        '{{ check }}' as check_name,
        reason_{{ check }} as reason_code,
        first_check,
        n_reasons
    from numbered
    where reason_{{ check }} is not null
    {{- '\n\n    union all\n' if not loop.last }}
    {%- endfor %}

),

counted as (

    select
        reasons.policy,
        generated.source,
        generated.task,
        generated.generator,
        reasons.check_name,
        reasons.reason_code,
        count(*) as n_any,
        sum(case when reasons.first_check = reasons.check_name then 1 else 0 end) as n_first,
        sum(case when reasons.n_reasons = 1 then 1 else 0 end) as n_only
    from reasons
    inner join generated
        on reasons.triple_id = generated.triple_id
    group by
        reasons.policy,
        generated.source,
        generated.task,
        generated.generator,
        reasons.check_name,
        reasons.reason_code

)

select
    counted.policy,
    counted.source,
    counted.task,
    counted.generator,
    counted.check_name,
    counted.reason_code,
    counted.n_any,
    cast(counted.n_first as bigint) as n_first,
    cast(counted.n_only as bigint) as n_only,
    totals.n_triples,
    {{ share('counted.n_any', 'totals.n_triples') }} as share_of_triples
from counted
inner join totals
    on counted.source = totals.source
    and counted.task = totals.task
    and counted.generator = totals.generator
