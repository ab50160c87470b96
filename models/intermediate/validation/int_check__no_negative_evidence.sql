{{ config(tags=['portable']) }}

with

check_index as (

    select * from {{ ref('int_check_index') }}

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

)

select
    check_index.triple_id,
    check_index.check_name,
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
from check_index
inner join triple_counts
    on check_index.triple_id = triple_counts.triple_id
where check_index.check_name = 'no_negative_evidence'
