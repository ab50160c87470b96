{{ config(materialized='view', tags=['portable']) }}

with

validation_checks as (

    select * from {{ ref('validation_checks') }}
    where check_name = 'no_negative_evidence'

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

)

select
    triple_counts.triple_id,
    validation_checks.check_name,
    case
        when not triple_counts.is_kb_loaded or triple_counts.n_claims = 0 then 'not_assessed'
        when triple_counts.n_contradicting_pmids + triple_counts.n_contradicting_curated > 0
            then 'fail'
        else 'pass'
    end as status,
    case
        when not triple_counts.is_kb_loaded then 'kb_not_loaded'
        when triple_counts.n_claims = 0 then 'unmapped'
        when triple_counts.n_contradicting_pmids + triple_counts.n_contradicting_curated > 0
            then 'negative_evidence'
    end as reason_code,
    triple_counts.n_supporting_pmids,
    triple_counts.n_supporting_curated,
    triple_counts.n_contradicting_pmids as n_contradicting_pmids
from triple_counts
cross join validation_checks
