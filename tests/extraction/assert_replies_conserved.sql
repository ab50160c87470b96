-- Nothing a model replied is lost: every completion of a known extraction request is one reply, and
-- the triples in the replies are the proposals and the counted rejects, request by request.
with

requests as (

    select * from {{ ref('int_extraction_requests') }}

),

completions as (

    select * from {{ ref('int_completions_latest') }} where stage = 'extraction'

),

replies as (

    select * from {{ ref('int_extraction_replies') }}

),

proposals as (

    select * from {{ ref('int_extraction_proposals') }} where request_key is not null

),

rejects as (

    select * from {{ ref('int_extraction_rejects') }}

),

expected as (

    select
        completions.request_key,
        -- Null, which equals no count, when the completion became no reply at all.
        replies.n_triples
        + case when replies.reply_status in ('parsed', 'salvaged') then 0 else 1 end as n
    from completions
    inner join requests
        on completions.request_key = requests.request_key
    left join replies
        on completions.request_key = replies.request_key

),

kept as (

    select
        request_key,
        count(*) as n
    from proposals
    group by request_key

),

rejected as (

    select
        request_key,
        sum(n) as n
    from rejects
    group by request_key

),

found as (

    select
        coalesce(kept.request_key, rejected.request_key) as request_key,
        coalesce(kept.n, 0) + coalesce(rejected.n, 0) as n
    from kept
    full outer join rejected
        on kept.request_key = rejected.request_key

)

select
    coalesce(expected.request_key, found.request_key) as request_key,
    expected.n as n_expected,
    found.n as n_found
from expected
full outer join found
    on expected.request_key = found.request_key
where expected.n is distinct from coalesce(found.n, 0)
