-- An evidence row of SemMedDB names an article and a sentence; a curated one neither. Ranks run
-- from 1 without a gap.
with

evidence as (

    select
        *,
        row_number() over (partition by claim_key, role order by rank) as place
    from {{ ref('fct_claim_evidence') }}

)

select
    claim_key,
    role,
    rank,
    kb
from evidence
where (kb = 'semmeddb') is distinct from (pmid is not null)
    or (kb = 'semmeddb') is distinct from (sentence_id is not null)
    or rank <> place
    or rank > {{ var('evidence_rows') }}
