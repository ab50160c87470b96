-- One row per template x scenario event: the subject and its context, in an order that depends on
-- the events alone, so that nothing marks the subject. Text and order come from the event, not
-- from the triple: no column here derives from the answer.
with

templates as (

    select * from {{ ref('int_templates') }}

),

triple_events as (

    select * from {{ ref('fct_triple_events') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

words as (

    select * from {{ ref('event_type_words') }}

),

shown as (

    select
        templates.template_key,
        cast(row_number() over (
            partition by templates.template_key
            order by md5(concat('scenario|', events.event_key)), events.event_key
        ) as integer) as position,
        events.event_key,
        events.event_type,
        md5(concat('scenario|', events.event_key)) as order_key,
        {{ render_label('events.label') }} as label,
        concat('- ', words.word, ': ', {{ render_label('events.label') }}) as line
    from templates
    inner join triple_events
        on templates.triple_id = triple_events.triple_id
        and (
            triple_events.role = 'subject'
            or (
                triple_events.role = 'context'
                and triple_events.position <= {{ var('context_events') }}
            )
        )
    inner join events
        on triple_events.event_key = events.event_key
    inner join words
        on events.event_type = words.event_type

)

select * from shown
