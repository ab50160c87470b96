{{ config(tags=['portable']) }}

with

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

),

-- The pair of first concepts comes first, as fct_triples names it.
ranked as (

    select
        *,
        row_number() over (
            partition by triple_id
            order by
                subject_rank + object_rank,
                subject_rank,
                subject_cui_id,
                object_cui_id
        ) as claim_rank
    from triple_claims

)

select
    triple_id,
    cast(claim_rank as integer) as rank,
    claim_key,
    {{ cui_text('subject_cui_id') }} as subject_cui,
    relation,
    {{ cui_text('object_cui_id') }} as object_cui,
    subject_rank,
    object_rank
from ranked
