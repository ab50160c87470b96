{{ config(materialized='view', tags=['portable']) }}

with

validation_checks as (

    select * from {{ ref('validation_checks') }}
    where check_name = 'unambiguous_relation'

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

),

-- Ambiguous is what is stated both ways; an opposite effect alone leaves the claim unsupported.
opposed as (

    select
        *,
        n_hazard_pmids + n_reverse_pmids > 0
            and n_supporting_pmids + n_supporting_curated > 0 as is_ambiguous
    from triple_counts

)

select
    opposed.triple_id,
    validation_checks.check_name,
    case
        when not opposed.is_kb_loaded or opposed.n_claims = 0 then 'not_assessed'
        when opposed.is_ambiguous then 'fail'
        else 'pass'
    end as status,
    case
        when not opposed.is_kb_loaded then 'kb_not_loaded'
        when opposed.n_claims = 0 then 'unmapped'
        when opposed.is_ambiguous then 'ambiguous_relation'
    end as reason_code,
    opposed.n_supporting_pmids,
    opposed.n_supporting_curated,
    opposed.n_hazard_pmids + opposed.n_reverse_pmids as n_contradicting_pmids
from opposed
cross join validation_checks
