-- What came back for each extraction request: one row per request that has a completion, with the
-- reply's triples as JSON text. A reply is read whole, then from its first to its last bracket,
-- then (when it was cut short) as the complete objects in it; null when no triple was found.
with

requests as (

    select * from {{ ref('int_extraction_requests') }}

),

models as (

    select * from {{ ref('models') }}

),

completions as (

    select * from {{ ref('int_completions_latest') }} where stage = 'extraction'

),

replies as (

    select
        requests.request_key,
        requests.prompt_key,
        requests.model as generator,
        coalesce(completions.finish_reason, '') as finish_reason,
        coalesce(completions.finish_reason, '') = 'error'
        or coalesce(completions.error, '') <> '' as is_failed,
        coalesce(trim(completions.text), '') = '' as is_empty,
        trim(
            {{ strip_reasoning(
                mark_reasoning("coalesce(completions.text, '')", 'models.strip_markers')
            ) }},
            concat(' ', chr(9), chr(10))
        ) as reply
    from requests
    inner join completions
        on requests.request_key = completions.request_key
    left join models
        on requests.model = models.model

),

bracketed as (

    select
        *,
        regexp_extract(reply, '\{.*\}', 0, 's') as outer_object,
        regexp_extract(reply, '\[.*\]', 0, 's') as outer_array,
        array_to_string(list_filter(
            regexp_extract_all(reply, '\{[^{}]*\}'), lambda part: json_valid(part)
        ), ', ') as flat_objects
    from replies

),

documents as (

    select
        *,
        coalesce(
            case when json_valid(reply) then reply end,
            case when json_valid(outer_object) then outer_object end,
            case when json_valid(outer_array) then outer_array end
        ) as document
    from bracketed

),

located as (

    select
        *,
        case
            when json_type(document) = 'OBJECT' and json_type(document, '$.triples') = 'ARRAY'
                then json_extract(document, '$.triples')
            when json_type(document) = 'ARRAY' then cast(document as json)
        end as whole_array,
        case
            when flat_objects <> '' then cast(concat('[', flat_objects, ']') as json)
        end as salvaged_array
    from documents

),

judged as (

    select
        request_key,
        prompt_key,
        generator,
        case
            when is_failed then 'request_failed'
            when is_empty then 'empty_reply'
            when whole_array is not null then 'parsed'
            when finish_reason = 'length' or reply = '' then 'truncated'
            when salvaged_array is not null then 'salvaged'
            else 'not_json'
        end as reply_status,
        case
            when not is_failed then coalesce(whole_array, salvaged_array)
        end as triples_json
    from located

),

extraction_replies as (

    select
        request_key,
        prompt_key,
        generator,
        reply_status,
        cast(triples_json as varchar) as triples_json,
        cast(coalesce(json_array_length(triples_json), 0) as integer) as n_triples
    from judged

)

select * from extraction_replies
