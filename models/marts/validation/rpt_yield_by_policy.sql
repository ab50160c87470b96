{{ config(tags=['portable']) }}

with

verdicts as (

    select * from {{ ref('fct_triple_verdicts') }}

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
        triples.source,
        triples.task,
        triple_proposals.generator
    from triples
    inner join triple_proposals
        on triples.triple_id = triple_proposals.triple_id

),

counted as (

    select
        verdicts.policy,
        generated.source,
        generated.task,
        generated.generator,
        count(*) as n_triples,
        sum(case when verdicts.verdict = 'accepted' then 1 else 0 end) as n_accepted,
        sum(case when verdicts.kb_verdict = 'accepted' then 1 else 0 end) as n_kb_accepted
    from verdicts
    inner join generated
        on verdicts.triple_id = generated.triple_id
    group by
        verdicts.policy,
        generated.source,
        generated.task,
        generated.generator

)

select
    policy,
    source,
    task,
    generator,
    n_triples,
    cast(n_accepted as bigint) as n_accepted,
    cast(n_kb_accepted as bigint) as n_kb_accepted,
    {{ share('n_accepted', 'n_triples') }} as accepted_share,
    {{ wilson_bound('n_accepted', 'n_triples', 'low') }} as accepted_share_low,
    {{ wilson_bound('n_accepted', 'n_triples', 'high') }} as accepted_share_high
from counted
