{{ config(tags=['portable']) }}

with

hits as (

    select * from {{ ref('int_claim_evidence_hits') }}
    where kb = 'semmeddb'
        and strength = 'strong'

),

claim_predications as (

    select * from {{ ref('int_claim_predications') }}
    where strength = 'strong'

),

claim_edges as (

    select
        claim_key,
        role,
        count(*) as n_edges
    from hits
    group by
        claim_key,
        role

),

-- What one edge says is counted already; articles are told apart only where several edges speak.
single as (

    select
        hits.claim_key,
        hits.role,
        hits.level_rank,
        hits.is_inherited,
        hits.n_pmids
    from hits
    inner join claim_edges
        on hits.claim_key = claim_edges.claim_key
        and hits.role = claim_edges.role
    where claim_edges.n_edges = 1

),

-- An article counts once per claim and role, at the narrowest level at which it was met, whatever
-- number of its predicates matched.
articles as (

    select
        claim_predications.claim_key,
        claim_predications.role,
        claim_predications.pmid,
        min(claim_predications.level_rank) as level_rank,
        min(case when claim_predications.is_inherited then 1 else 0 end) = 1 as is_inherited
    from claim_predications
    inner join claim_edges
        on claim_predications.claim_key = claim_edges.claim_key
        and claim_predications.role = claim_edges.role
    where claim_edges.n_edges > 1
    group by
        claim_predications.claim_key,
        claim_predications.role,
        claim_predications.pmid

)

select
    claim_key,
    role,
    level_rank,
    is_inherited,
    n_pmids
from single

union all

select
    claim_key,
    role,
    level_rank,
    is_inherited,
    cast(count(*) as integer) as n_pmids
from articles
group by
    claim_key,
    role,
    level_rank,
    is_inherited
