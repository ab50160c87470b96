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

-- A triple without a reason is accepted; a test compares that with the verdicts.
decided as (

    select
        policy_reasons.policy,
        generated.source,
        generated.task,
        generated.generator,
        generated.person_group,
        case
            {%- for check in checks %}
            when policy_reasons.reason_{{ check }} is not null then '{{ check }}'
            {%- endfor %}
        end as first_check,
        case
            {%- for check in checks if check != 'grounded' %}
            when policy_reasons.reason_{{ check }} is not null then 0
            {%- endfor %}
            else 1
        end as is_kb_accepted
        {%- for check in checks %},
        case when policy_reasons.reason_{{ check }} is not null then 1 else 0 end
            as is_any_{{ check }}
        {%- endfor %}
    from policy_reasons
    inner join generated
        on policy_reasons.triple_id = generated.triple_id

),

counted as (

    select
        policy,
        source,
        task,
        generator,
        sum(is_kb_accepted) as n_kb_accepted
        {%- for check in checks %},
        sum(case when first_check = '{{ check }}' then 1 else 0 end) as n_first_{{ check }},
        sum(is_any_{{ check }}) as n_any_{{ check }}
        {%- endfor %}
    from decided
    group by
        policy,
        source,
        task,
        generator

),

-- Triples of one person share visits, so persons are the units of the interval.
person_counts as (

    select
        policy,
        source,
        task,
        generator,
        person_group,
        count(*) as n,
        sum(case when first_check is null then 1 else 0 end) as n_accepted
    from decided
    group by
        policy,
        source,
        task,
        generator,
        person_group

),

person_sums as (

    select
        policy,
        source,
        task,
        generator,
        count(*) as n_persons,
        {{ wide_integer('sum(n)') }} as n_triples,
        {{ wide_integer('sum(n_accepted)') }} as n_accepted,
        {{ wide_integer('sum(n * n)') }} as nn,
        {{ wide_integer('sum(n * n_accepted)') }} as ny,
        {{ wide_integer('sum(n_accepted * n_accepted)') }} as yy
    from person_counts
    group by
        policy,
        source,
        task,
        generator

),

estimated as (

    select
        person_sums.*,
        counted.n_kb_accepted,
        {%- for check in checks %}
        counted.n_first_{{ check }},
        counted.n_any_{{ check }},
        {%- endfor %}
        cast(n_accepted as double) / n_triples as accepted_rate,
        {{ cluster_error(
            'n_triples * n_triples * yy - 2 * n_triples * n_accepted * ny'
            ' + n_accepted * n_accepted * nn', 'n_triples', 'n_persons') }} as standard_error
    from person_sums
    inner join counted
        on person_sums.policy = counted.policy
        and person_sums.source = counted.source
        and person_sums.task = counted.task
        and person_sums.generator = counted.generator

)

select
    policy,
    source,
    task,
    generator,
    cast(n_triples as bigint) as n_triples,
    cast(n_persons as bigint) as n_persons,
    cast(n_accepted as bigint) as n_accepted,
    cast(n_triples - n_accepted as bigint) as n_rejected,
    cast(n_kb_accepted as bigint) as n_kb_accepted,
    {{ share('n_accepted', 'n_triples') }} as accepted_share,
    {{ rounded_share(clustered_interval('accepted_rate', 'standard_error', 'n_persons', 'low')) }}
        as accepted_share_low,
    {{ rounded_share(clustered_interval('accepted_rate', 'standard_error', 'n_persons', 'high')) }}
        as accepted_share_high
    {%- for check in checks %},
    cast(n_first_{{ check }} as bigint) as n_first_{{ check }}
    {%- endfor %}
    {%- for check in checks %},
    cast(n_any_{{ check }} as bigint) as n_any_{{ check }}
    {%- endfor %}
from estimated
