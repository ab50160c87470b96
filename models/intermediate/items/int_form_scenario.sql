-- One row per form of a template x scenario event: the subject and its context, in an order that
-- depends on the events alone, so that nothing marks the subject. Text and order come from the
-- event, not from the triple: no column here derives from the answer.
with

forms as (

    select * from {{ ref('int_template_forms') }}

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
        forms.template_key,
        forms.of_template_key is null as is_own,
        cast(row_number() over (
            partition by forms.template_key
            order by md5(concat('scenario|', events.event_key)), events.event_key
        ) as integer) as position,
        case when triple_events.role = 'context' then triple_events.position else 0 end
            as context_position,
        events.event_key,
        events.event_type,
        md5(concat('scenario|', events.event_key)) as order_key,
        {{ render_label('events.label') }} as label,
        concat('- ', words.word, ': ', {{ render_label('events.label') }}) as line
    from forms
    inner join triple_events
        on forms.triple_id = triple_events.triple_id
        and (
            triple_events.role = 'subject'
            or (
                triple_events.role = 'context'
                and triple_events.position <= case
                    when forms.of_template_key is null then {{ var('context_events') }}
                    else {{ var('max_context_events') }}
                end
            )
        )
    inner join events
        on triple_events.event_key = events.event_key
    inner join words
        on events.event_type = words.event_type

)

select * from shown
