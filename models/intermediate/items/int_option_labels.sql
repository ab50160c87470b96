-- One row per event type x concept that may be an answer. The label is the code title that the
-- cohort uses most often for the concept, whichever event it comes from, so that an answer and a
-- distractor are named by the same rule.
with

events as (

    select * from {{ ref('fct_visit_events') }}

),

answer_events as (

    select * from {{ ref('int_answer_events') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}

),

concepts as (

    select * from {{ ref('dim_concepts') }}

),

titles_counted as (

    select
        events.event_type,
        answer_events.cui_id,
        {{ render_label('events.label') }} as label,
        min(case
            when mappings.mapping_level in ('exact', 'equivalent') then 0
            else 1
        end) as distance,
        count(*) as n_events
    from answer_events
    inner join events
        on answer_events.event_key = events.event_key
    inner join mappings
        on answer_events.event_key = mappings.event_key
        and mappings.rank = 1
    where answer_events.eligible
        and answer_events.cui_id is not null
        and trim(events.label) <> ''
    group by all

),

titles_ranked as (

    select
        *,
        sum(n_events) over (partition by event_type, cui_id) as n_concept_events
    from titles_counted
    qualify row_number() over (
        partition by event_type, cui_id
        order by distance, n_events desc, length(label), label
    ) = 1

),

labelled as (

    select
        {{ option_key('titles_ranked.cui_id', 'titles_ranked.event_type') }} as option_key,
        titles_ranked.event_type,
        titles_ranked.cui_id,
        {{ cui_text('titles_ranked.cui_id') }} as cui,
        titles_ranked.label,
        {{ norm_label('titles_ranked.label') }} as label_words,
        coalesce(concepts.semantic_group, 'none') as semantic_group,
        cast(titles_ranked.n_concept_events as integer) as n_events
    from titles_ranked
    left join concepts
        on titles_ranked.cui_id = concepts.cui_id

)

select * from labelled
