{%- set draw = key(["'" ~ var('audit_seed') ~ "'", 'triple_id']) -%}
with

audit_frame as (

    select * from {{ ref('int_audit_frame') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_contexts as (

    select * from {{ ref('int_triple_contexts') }}

),

visit_events as not materialized (

    select * from {{ ref('fct_visit_events') }}

),

ranked as (

    select
        *,
        {{ draw }} as draw_key,
        row_number() over (
            partition by stratum_key
            order by {{ draw }}, triple_id
        ) as place
    from audit_frame

),

drawn as (

    select
        *,
        count(*) over (partition by stratum_key) as n_drawn,
        row_number() over (order by draw_key, triple_id) as sheet_place
    from ranked
    where place <= n_wanted

),

context_labels as (

    select
        drawn.triple_id,
        string_agg(visit_events.label, '; ' order by triple_contexts.position) as context_labels
    from drawn
    inner join triple_contexts
        on drawn.triple_id = triple_contexts.triple_id
    inner join visit_events
        on triple_contexts.context_event_key = visit_events.event_key
    group by drawn.triple_id

)

select
    drawn.triple_id,
    drawn.verdict,
    drawn.source,
    drawn.task,
    drawn.relation,
    drawn.band,
    drawn.stratum_key,
    cast(drawn.n_in_stratum as bigint) as n_in_stratum,
    cast(drawn.n_drawn as bigint) as n_drawn,
    cast(drawn.sheet_place as integer) as sheet_place,
    subjects.label as subject_label,
    objects.label as object_label,
    context_labels.context_labels
from drawn
inner join triples
    on drawn.triple_id = triples.triple_id
left join visit_events as subjects
    on triples.subject_event_key = subjects.event_key
left join visit_events as objects
    on triples.object_event_key = objects.event_key
left join context_labels
    on drawn.triple_id = context_labels.triple_id
