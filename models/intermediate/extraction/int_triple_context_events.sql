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

-- Numbers stand for the long keys in the joins below; they never leave this model.
pools as (

    select
        task,
        visit_key,
        cast(row_number() over (order by task, visit_key) as integer) as pool_number
    from triples
    group by task, visit_key

),

-- One event per concept: a merged visit may hold the same disease under two codes.
pool_events as (

    select
        pools.pool_number,
        event_roles.event_key,
        event_roles.cui_id,
        event_roles.icd_category
    from pools
    inner join event_roles
        on pools.visit_key = event_roles.visit_key
    where {% for task, column in scopes.items() -%}
        {{ 'or ' if not loop.first -}}
        (pools.task = '{{ task }}' and event_roles.{{ column }})
        {% endfor -%}
    qualify row_number() over (
        partition by
            pools.pool_number,
            coalesce(cast(event_roles.cui_id as varchar), event_roles.event_key)
        order by event_roles.event_key
    ) = 1

),

pool_concepts as (

    select
        pool_events.pool_number,
        pool_events.event_key,
        event_concepts.cui_id
    from pool_events
    inner join event_concepts
        on pool_events.event_key = event_concepts.event_key

),

numbered_triples as (

    select
        cast(row_number() over (order by triples.triple_id) as integer) as triple_number,
        triples.triple_id,
        triples.subject_event_key,
        triples.subject_cui,
        triples.object_event_key,
        pools.pool_number
    from triples
    inner join pools
        on triples.task = pools.task
        and triples.visit_key = pools.visit_key

),

-- Several triples of a visit ask for the same object: what tells of it is found once.
objects as (

    select
        pool_number,
        object_event_key,
        cast(
            row_number() over (order by pool_number, object_event_key) as integer
        ) as object_number
    from numbered_triples
    group by pool_number, object_event_key

),

object_concepts as (

    select
        objects.object_number,
        objects.pool_number,
        event_concepts.cui_id
    from objects
    inner join event_concepts
        on objects.object_event_key = event_concepts.event_key

),

telling_concepts as (

    select * from relatives
    union
    select
        cui_id,
        cui_id as relative_cui_id
    from object_concepts

),

telling_events as (

    select
        object_concepts.object_number,
        pool_concepts.event_key
    from object_concepts
    inner join pool_concepts
        on object_concepts.pool_number = pool_concepts.pool_number
    inner join telling_concepts
        on object_concepts.cui_id = telling_concepts.cui_id
        and pool_concepts.cui_id = telling_concepts.relative_cui_id
    union
    select
        objects.object_number,
        pool_events.event_key
    from objects
    inner join event_roles
        on objects.object_event_key = event_roles.event_key
    inner join pool_events
        on objects.pool_number = pool_events.pool_number
        and event_roles.icd_category = pool_events.icd_category

),

candidates as (

    select
        numbered_triples.triple_number,
        numbered_triples.triple_id,
        pool_events.event_key,
        {{ key(['numbered_triples.triple_id', 'pool_events.event_key']) }} as order_key
    from numbered_triples
    inner join objects
        on numbered_triples.pool_number = objects.pool_number
        and numbered_triples.object_event_key = objects.object_event_key
    inner join pool_events
        on numbered_triples.pool_number = pool_events.pool_number
    left join telling_events
        on objects.object_number = telling_events.object_number
        and pool_events.event_key = telling_events.event_key
    where telling_events.event_key is null
        and pool_events.event_key <> numbered_triples.subject_event_key
        and pool_events.event_key <> numbered_triples.object_event_key
        and {{ cui_text('pool_events.cui_id') }} is distinct from numbered_triples.subject_cui

),

positioned as (

    select
        triple_id,
        cast(row_number() over (
            partition by triple_number order by order_key, event_key
        ) as integer) as position,
        event_key
    from candidates

),

triple_context_events as (

    select *
    from positioned
    where position <= {{ var('max_context_events') }}

)

select * from triple_context_events
