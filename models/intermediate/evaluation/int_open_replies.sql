-- Replies to open-ended questions as they are scored: without reasoning, cut at open_max_words, and
-- with the phrases of doubt that they hold. Grain: one row per request that has a reply.
with

responses as (

    select * from {{ ref('fct_responses') }}
    where format = 'oeq'
        and mode = 'free'

),

requests as (

    select
        request_key,
        template_key,
        task
    from {{ ref('int_answer_requests') }}

),

models as (

    select * from {{ ref('models') }}

),

lexicon as (

    select * from {{ ref('hedge_lexicon') }}

),

stripped as (

    select
        responses.request_key,
        responses.parse_status,
        coalesce({{ strip_reasoning(
            mark_reasoning('responses.raw_completion', 'models.strip_markers')
        ) }}, '') as reply
    from responses
    left join models
        on responses.model = models.model

),

counted as (

    select
        request_key,
        parse_status,
        trim(
            regexp_extract(reply, '^\s*(?:\S+(?:\s+|$)){0,{{ var('open_max_words') }}}'),
            ' ' || chr(9) || chr(10)
        ) as reply,
        len(regexp_extract_all(reply, '\S+')) as n_words
    from stripped

),

-- Many requests share a reply, a baseline's above all.
texts as (

    select
        md5(reply) as reply_key,
        {{ leak_words('min(reply)') }} as words
    from counted
    group by md5(reply)

),

phrases_found as (

    select
        texts.reply_key,
        lexicon.kind
    from texts
    inner join lexicon
        on {{ says_phrase('texts.words', 'lexicon.phrase') }}

),

phrases_counted as (

    select
        reply_key,
        count(*) filter (where kind = 'hedge') as n_hedges,
        count(*) filter (where kind in ('abstain', 'refuse')) as n_abstentions
    from phrases_found
    group by reply_key

),

replies as (

    select
        counted.request_key,
        requests.template_key,
        requests.task,
        md5(counted.reply) as reply_key,
        counted.reply,
        counted.parse_status,
        cast(counted.n_words as integer) as n_words,
        cast(counted.n_words > {{ var('open_max_words') }}
            or counted.parse_status = 'truncated' as integer) as is_cut,
        cast(coalesce(phrases_counted.n_hedges, 0) as integer) as n_hedges,
        -- A reply that declines to answer counts as that, whatever else it holds.
        cast(coalesce(
            phrases_counted.n_hedges > 0 and phrases_counted.n_abstentions = 0, false
        ) as integer) as is_hedged,
        cast(coalesce(phrases_counted.n_abstentions > 0, false) as integer) as is_abstained
    from counted
    inner join requests
        on counted.request_key = requests.request_key
    left join phrases_counted
        on md5(counted.reply) = phrases_counted.reply_key

)

select * from replies
