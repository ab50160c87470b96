-- The evidence behind every pair of concepts of the two events, with the check that reads it.
with

claims as (

    select * from fct_triple_claims
    where triple_id = $triple_id

),

found as (

    select * from fct_claim_evidence
    where claim_key in (select claim_key from claims)

)

select
    case found.role
        when 'support' then 'positive_support'
        when 'contradict' then 'no_negative_evidence'
        else 'unambiguous_relation'
    end as check_name,
    found.role,
    found.strength,
    found.match_level,
    found.kb,
    found.predicate_or_rela,
    found.sab,
    found.n_vocabularies,
    found.subject_cui,
    subject.name as subject_name,
    found.object_cui,
    object.name as object_name,
    found.pmid,
    found.year,
    found.title,
    found.section,
    found.sentence,
    claims.rank as claim_rank,
    claims.subject_cui as claim_subject_cui,
    claims.object_cui as claim_object_cui,
    claims.claim_key
from claims
inner join found
    on claims.claim_key = found.claim_key
left join dim_concepts as subject
    on found.subject_cui = subject.cui
left join dim_concepts as object
    on found.object_cui = object.cui
order by
    case found.role when 'support' then 1 when 'contradict' then 3 else 2 end,
    found.role,
    claims.rank,
    claims.claim_key,
    found.rank
