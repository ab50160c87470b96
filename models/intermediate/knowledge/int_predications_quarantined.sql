{{ config(tags=['portable']) }}

with

predications as (

    select * from {{ ref('int_predications_parsed') }}

),

kb_scope as (

    select * from {{ ref('int_kb_scope') }}

),

reasons as (

    select
        case
            when predications.reason is not null then predications.reason
            when subjects.cui_id is null or objects.cui_id is null then 'outside_cohort_scope'
        end as reason
    from predications
    left join kb_scope as subjects
        on predications.subject_cui_id = subjects.cui_id
    left join kb_scope as objects
        on predications.object_cui_id = objects.cui_id

)

select
    'semmeddb.predication' as source_table,
    reason,
    count(*) as n_rows
from reasons
where reason is not null
group by reason
