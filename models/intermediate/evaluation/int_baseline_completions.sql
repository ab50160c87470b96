with

requests as (

    select * from {{ ref('int_answer_requests') }}
    where engine = 'sql'

),

options as (

    select * from {{ ref('fct_item_options') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}
    where rank = 1

),

concept_counts as (

    select
        event_concepts.cui,
        events.event_type,
        count(*) as n_events
    from event_concepts
    inner join events
        on event_concepts.event_key = events.event_key
    where event_concepts.cui is not null
    group by
        event_concepts.cui,
        events.event_type

),

options_ranked as (

    select
        requests.request_key,
        options.option_letter,
        row_number() over (
            partition by requests.request_key
            order by
                case when requests.model = 'most_frequent'
                    then coalesce(concept_counts.n_events, 0)
                end desc nulls last,
                md5(concat_ws('|', requests.request_key, options.option_key)),
                options.option_letter
        ) as option_rank
    from requests
    inner join options
        on requests.item_id = options.item_id
    left join concept_counts
        on options.cui = concept_counts.cui
        and options.event_type = concept_counts.event_type

),

answered as (

    select
        requests.request_key,
        1 as attempt,
        requests.stage,
        requests.model,
        requests.revision,
        requests.engine,
        options_ranked.option_letter as text,
        'stop' as finish_reason,
        cast(null as integer) as prompt_tokens,
        cast(null as integer) as completion_tokens,
        cast(null as varchar) as option_logprobs,
        cast(null as bigint) as latency_ms,
        cast(null as varchar) as error
    from requests
    inner join options_ranked
        on requests.request_key = options_ranked.request_key
    where options_ranked.option_rank = 1

)

select * from answered
