-- What became no proposal, counted: one row per request and reason. Reasons of a whole reply count
-- once (truncated stands for the one triple that was cut), reasons of a triple once each.
with

replies as (

    select * from {{ ref('int_extraction_replies') }}

),

reply_triples as (

    select * from {{ ref('int_extraction_reply_triples') }}

),

rejected as (

    select
        request_key,
        generator,
        reply_status as reason
    from replies
    where reply_status not in ('parsed', 'salvaged')
    union all
    select
        request_key,
        generator,
        reject_reason as reason
    from reply_triples
    where reject_reason is not null

),

extraction_rejects as (

    select
        request_key,
        generator,
        reason,
        cast(count(*) as integer) as n
    from rejected
    group by request_key, generator, reason

)

select * from extraction_rejects
