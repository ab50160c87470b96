with used as (
    select distinct claims.claim_key
    from chosen_triples as chosen
    inner join fct_triple_claims as claims
        on chosen.triple_id = claims.triple_id
)

select
    evidence.claim_key,
    evidence.role,
    evidence.kb,
    evidence.predicate_or_rela,
    evidence.subject_cui,
    subject.name as subject_name,
    evidence.object_cui,
    object.name as object_name,
    evidence.match_level,
    evidence.strength,
    evidence.pmid,
    evidence.year,
    evidence.title,
    evidence.section,
    evidence.sentence,
    evidence.sab
from used
inner join fct_claim_evidence as evidence
    on used.claim_key = evidence.claim_key
left join dim_concepts as subject
    on evidence.subject_cui = subject.cui
left join dim_concepts as object
    on evidence.object_cui = object.cui
order by
    evidence.claim_key,
    case evidence.role when 'support' then 1 when 'contradict' then 2 else 3 end,
    evidence.role,
    evidence.rank
