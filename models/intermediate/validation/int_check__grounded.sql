{{ config(materialized='view', tags=['portable']) }}

with

validation_checks as (

    select * from {{ ref('validation_checks') }}
    where check_name = 'grounded'

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

),

ungrounded_triples as (

    select * from {{ ref('int_ungrounded_triples') }}

)

select
    triple_counts.triple_id,
    validation_checks.check_name,
    case when ungrounded_triples.triple_id is null then 'pass' else 'fail' end as status,
    ungrounded_triples.reason_code,
    cast(null as integer) as n_supporting_pmids,
    cast(null as integer) as n_supporting_curated,
    cast(null as integer) as n_contradicting_pmids
from triple_counts
cross join validation_checks
left join ungrounded_triples
    on triple_counts.triple_id = ungrounded_triples.triple_id
