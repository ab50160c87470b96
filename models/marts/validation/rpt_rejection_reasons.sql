{{ config(tags=['portable']) }}

with

{%- set checks = ['grounded', 'mapped', 'positive_support', 'unambiguous_relation',
    'no_negative_evidence', 'no_context_conflict'] %}

policy_reasons as (

    select * from {{ ref('int_triple_policy_reasons') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

generated as (

    select distinct
        triples.triple_id,
        triples.task,
        triple_proposals.generator
    from triples
    inner join triple_proposals
        on triples.triple_id = triple_proposals.triple_id

),

totals as (

    select
        task,
        generator,
        count(*) as n_triples
    from generated
    group by
        task,
        generator

),

reasons as (
    {% for check in checks %}
    select
        triple_id,
        policy,
        '{{ check }}' as check_name,
        reason_{{ check }} as reason_code
    from policy_reasons
    where reason_{{ check }} is not null
    {{- '\n\n    union all\n' if not loop.last }}
    {%- endfor %}

),

counted as (

    select
        reasons.policy,
        generated.task,
        generated.generator,
        reasons.check_name,
        reasons.reason_code,
        count(*) as n
    from reasons
    inner join generated
        on reasons.triple_id = generated.triple_id
    group by
        reasons.policy,
        generated.task,
        generated.generator,
        reasons.check_name,
        reasons.reason_code

)

select
    counted.policy,
    counted.task,
    counted.generator,
    counted.check_name,
    counted.reason_code,
    counted.n,
    totals.n_triples,
    {{ share('counted.n', 'totals.n_triples') }} as share_of_triples
from counted
inner join totals
    on counted.task = totals.task
    and counted.generator = totals.generator
