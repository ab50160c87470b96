-- Context of a triple: up to max_context_events other events of the visit (px: of the index visit),
-- in an md5 order that only the triple decides, so completions never change an item. Left out are
-- the subject and the object, events that share a concept with the subject, and whatever gives the
-- object away: its relatives and its ICD category. One row per triple and position.
{%- set scopes = {'dx': 'is_dx_event', 'tx': 'is_tx_subject', 'px': 'is_px_subject'} %}
with

triples as (

    select * from {{ ref('fct_triples') }}

),

event_roles as (

    select * from {{ ref('int_event_roles') }}

),

event_concepts as (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null and mapping_level not in ('part', 'none')

),

relatives as (

    select distinct
        cui_id,
        relative_cui_id
    from {{ ref('int_concept_relatives') }}

),

contexts_wanted as (

    select distinct
        task,
        visit_key,
        object_event_key
    from triples

),

visits_wanted as (

    select distinct
        task,
        visit_key
    from contexts_wanted

),

-- One event per concept: a merged visit may hold the same disease under two codes.
pool as (

    select
        visits_wanted.task,
        event_roles.visit_key,
        event_roles.event_key,
        event_roles.cui_id,
        event_roles.icd_category
    from visits_wanted
    inner join event_roles
        on visits_wanted.visit_key = event_roles.visit_key
    where {% for task, column in scopes.items() -%}
        {{ 'or ' if not loop.first -}}
        (visits_wanted.task = '{{ task }}' and event_roles.{{ column }})
        {% endfor -%}
    qualify row_number() over (
        partition by
            visits_wanted.task,
            event_roles.visit_key,
            coalesce(cast(event_roles.cui_id as varchar), event_roles.event_key)
        order by event_roles.event_key
    ) = 1

),

pool_concepts as (

    select
        pool.task,
        pool.visit_key,
        pool.event_key,
        event_concepts.cui_id
    from pool
    inner join event_concepts
        on pool.event_key = event_concepts.event_key

),

object_concepts as (

    select
        contexts_wanted.task,
        contexts_wanted.visit_key,
        contexts_wanted.object_event_key,
        event_concepts.cui_id
    from contexts_wanted
    inner join event_concepts
        on contexts_wanted.object_event_key = event_concepts.event_key

),

object_relatives as (

    select * from object_concepts
    union
    select
        object_concepts.task,
        object_concepts.visit_key,
        object_concepts.object_event_key,
        relatives.relative_cui_id as cui_id
    from object_concepts
    inner join relatives
        on object_concepts.cui_id = relatives.cui_id

),

telling_events as (

    select
        object_relatives.task,
        object_relatives.visit_key,
        object_relatives.object_event_key,
        pool_concepts.event_key
    from object_relatives
    inner join pool_concepts
        on object_relatives.task = pool_concepts.task
        and object_relatives.visit_key = pool_concepts.visit_key
        and object_relatives.cui_id = pool_concepts.cui_id
    union
    select
        contexts_wanted.task,
        contexts_wanted.visit_key,
        contexts_wanted.object_event_key,
        pool.event_key
    from contexts_wanted
    inner join event_roles
        on contexts_wanted.object_event_key = event_roles.event_key
    inner join pool
        on contexts_wanted.task = pool.task
        and contexts_wanted.visit_key = pool.visit_key
        and event_roles.icd_category = pool.icd_category

),

candidates as (

    select
        triples.triple_id,
        pool.event_key
    from triples
    inner join pool
        on triples.task = pool.task
        and triples.visit_key = pool.visit_key
    left join telling_events
        on triples.task = telling_events.task
        and triples.visit_key = telling_events.visit_key
        and triples.object_event_key = telling_events.object_event_key
        and pool.event_key = telling_events.event_key
    where telling_events.event_key is null
        and pool.event_key <> triples.subject_event_key
        and pool.event_key <> triples.object_event_key
        and {{ cui_text('pool.cui_id') }} is distinct from triples.subject_cui

),

ordered as (

    select
        triple_id,
        cast(row_number() over (
            partition by triple_id
            order by {{ key(['triple_id', 'event_key']) }}, event_key
        ) as integer) as position,
        event_key
    from candidates

)

select * from ordered
where position <= {{ var('max_context_events') }}
