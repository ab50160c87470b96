-- Every pair of events of a visit (of index and target visit for px) that some relation allows, on
-- the var all_pairs only: what the checks decide can then be held against the planted truth without
-- the choice of a generator. For tests: a cohort of some size is refused, and what no other
-- generator proposed is no template. Ends that are status codes or share a concept are no triple.
with

visits as (

    select
        visit_key,
        source
    from {{ ref('dim_visits') }}
    where {{ var('all_pairs') | lower }}

),

visit_events as not materialized (

    select
        event_key,
        visit_key,
        event_type
    from {{ ref('fct_visit_events') }}
    where is_status_code is not true

),

event_concepts as not materialized (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null and mapping_level not in ('part', 'none')

),

prognosis_pairs as (

    select * from {{ ref('int_prognosis_pairs') }}

),

relations as (

    select * from {{ ref('relations') }}

),

size_guard as (

    select
        case
            when count(*) > {{ var('all_pairs_max_visits') }}
                then error(concat(
                    'all_pairs is for small test cohorts: ', count(*), ' visits, at most ',
                    {{ var('all_pairs_max_visits') }},
                    '; build without it or raise the var all_pairs_max_visits'
                ))
            else true
        end as is_small
    from visits

),

visit_pairs as (

    select
        visits.source,
        'visit' as span,
        visits.visit_key,
        cast(null as varchar) as target_visit_key
    from visits
    cross join size_guard
    where size_guard.is_small

    union all

    select
        visits.source,
        'pair' as span,
        visits.visit_key,
        prognosis_pairs.target_visit_key
    from visits
    cross join size_guard
    inner join prognosis_pairs
        on visits.visit_key = prognosis_pairs.visit_key
    where size_guard.is_small

),

event_pairs as (

    select
        visit_pairs.source,
        relations.task,
        visit_pairs.visit_key,
        visit_pairs.target_visit_key,
        subjects.event_key as subject_event_key,
        relations.relation,
        objects.event_key as object_event_key
    from visit_pairs
    inner join relations
        on visit_pairs.span = case when relations.task = 'px' then 'pair' else 'visit' end
    inner join visit_events as subjects
        on visit_pairs.visit_key = subjects.visit_key
        and relations.subject_type = subjects.event_type
    inner join visit_events as objects
        on coalesce(visit_pairs.target_visit_key, visit_pairs.visit_key) = objects.visit_key
        and relations.object_type = objects.event_type
        and subjects.event_key <> objects.event_key

),

same_concepts as (

    select distinct
        subjects.event_key as subject_event_key,
        objects.event_key as object_event_key
    from event_pairs
    inner join event_concepts as subjects
        on event_pairs.subject_event_key = subjects.event_key
    inner join event_concepts as objects
        on event_pairs.object_event_key = objects.event_key
        and subjects.cui_id = objects.cui_id

),

proposals as (

    select
        'all_pairs' as generator,
        cast(null as varchar) as request_key,
        event_pairs.source,
        event_pairs.task,
        event_pairs.visit_key,
        event_pairs.target_visit_key,
        event_pairs.subject_event_key,
        event_pairs.relation,
        event_pairs.object_event_key,
        cast(null as varchar) as why,
        false as donor
    from event_pairs
    left join same_concepts
        on event_pairs.subject_event_key = same_concepts.subject_event_key
        and event_pairs.object_event_key = same_concepts.object_event_key
    where same_concepts.subject_event_key is null

)

select * from proposals
