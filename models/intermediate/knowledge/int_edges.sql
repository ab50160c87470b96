{{ config(tags=['portable']) }}

with

predications as (

    select * from {{ ref('int_predications_cleaned') }}

)

select
    subject_cui_id,
    predicate,
    is_negated,
    object_cui_id,
    cast(count(distinct pmid) as integer) as n_pmids,
    cast(count(*) as integer) as n_sentences
from predications
group by
    subject_cui_id,
    predicate,
    is_negated,
    object_cui_id
