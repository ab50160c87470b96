-- What the knowledge base was asked for: pairs of concepts.
with used as (
    select distinct
        claims.claim_key,
        claims.subject_cui,
        claims.relation,
        claims.object_cui
    from chosen_triples as chosen
    inner join fct_triple_claims as claims
        on chosen.triple_id = claims.triple_id
)

select
    used.claim_key,
    used.subject_cui,
    subject.name as subject_name,
    used.relation,
    used.object_cui,
    object.name as object_name
from used
left join dim_concepts as subject
    on used.subject_cui = subject.cui
left join dim_concepts as object
    on used.object_cui = object.cui
order by used.claim_key
