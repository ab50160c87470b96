{{ config(tags=['portable']) }}

with

check_index as (

    select * from {{ ref('int_check_index') }}

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

),

-- Ambiguous is what is stated both ways; an opposite effect alone leaves the claim unsupported.
opposed as (

    select
        triple_id,
        n_hazard_pmids + n_reverse_pmids > 0
            and n_supporting_pmids + n_supporting_curated > 0 as is_ambiguous
    from triple_counts

)

select
    check_index.triple_id,
    check_index.check_name,
    case
        when not triple_counts.is_kb_loaded or triple_counts.n_claims = 0 then 'not_assessed'
        when opposed.is_ambiguous
            then 'fail'
        else 'pass'
    end as status,
    case
        when not triple_counts.is_kb_loaded then 'kb_not_loaded'
        when triple_counts.n_claims = 0 then 'unmapped'
        when opposed.is_ambiguous
            then 'ambiguous_relation'
    end as reason_code,
    triple_counts.n_supporting_pmids,
    triple_counts.n_supporting_curated,
    triple_counts.n_hazard_pmids + triple_counts.n_reverse_pmids as n_contradicting_pmids
from check_index
inner join triple_counts
    on check_index.triple_id = triple_counts.triple_id
inner join opposed
    on check_index.triple_id = opposed.triple_id
where check_index.check_name = 'unambiguous_relation'
