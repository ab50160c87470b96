-- Every context conflict has its evidence in the mart and nothing else is there: ranks run from 1
-- without a gap, an article has its sentence, a note or a curated relation has none.
with

conflicts as (

    select distinct
        triple_id,
        rule,
        context_event_key
    from {{ ref('int_context_conflicts') }}

),

shown as (

    select
        triple_id,
        rule,
        context_event_key,
        count(*) as n_rows,
        min(rank) as first_rank,
        max(rank) as last_rank,
        max(
            case
                when (kb = 'semmeddb') is distinct from (pmid is not null) then 1
                when (kb = 'semmeddb') is distinct from (sentence_id is not null) then 1
                when (kb = 'icd10cm') is distinct from (context_cui is null) then 1
                else 0
            end
        ) as is_torn
    from {{ ref('fct_context_conflicts') }}
    group by
        triple_id,
        rule,
        context_event_key

)

select
    coalesce(conflicts.triple_id, shown.triple_id) as triple_id,
    coalesce(conflicts.rule, shown.rule) as rule,
    coalesce(conflicts.context_event_key, shown.context_event_key) as context_event_key,
    shown.n_rows
from conflicts
full outer join shown
    on conflicts.triple_id = shown.triple_id
    and conflicts.rule = shown.rule
    and conflicts.context_event_key = shown.context_event_key
where conflicts.triple_id is null
    or shown.triple_id is null
    or shown.first_rank <> 1
    or shown.last_rank <> shown.n_rows
    or shown.last_rank > {{ var('evidence_rows') }}
    or shown.is_torn = 1
