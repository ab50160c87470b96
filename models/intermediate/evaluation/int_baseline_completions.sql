-- `random` takes any option, `most_frequent` the one coded most often, `cooccurrence` the one that
-- goes with the scenario in other persons' visits, and a baseline with `weights` the one nearest to
-- the scenario by the vectors of that embedding model; ties by md5. Without a vector of every text
-- there is no answer.
with

open_answers as (

    select * from {{ ref('int_open_baseline_completions') }}

),

requests as (

    select * from {{ ref('int_answer_requests') }}
    where engine = 'sql'

),

models as (

    select * from {{ ref('models') }}

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

cooccurrence_scores as (

    select * from {{ ref('int_cooccurrence_scores') }}

),

lines as (

    select
        template_key,
        md5(label) as text_key
    from {{ ref('int_template_scenario') }}

),

similarities as (

    select * from {{ ref('int_text_similarities') }}

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

options_asked as (

    select
        requests.request_key,
        requests.model,
        models.weights as embedding_model,
        requests.template_key,
        options.option_letter,
        options.option_key,
        options.cui,
        options.event_type,
        md5(options.label) as text_key
    from requests
    inner join models
        on requests.model = models.model
    inner join options
        on requests.item_id = options.item_id

),

texts_asked as (

    select distinct
        embedding_model,
        template_key,
        text_key
    from options_asked
    where embedding_model is not null

),

-- Against unit vectors the sum of cosines orders options as the cosine with their mean does, so a
-- scenario is the mean of its lines.
texts_compared as (

    select
        texts_asked.embedding_model,
        texts_asked.template_key,
        texts_asked.text_key,
        case when count(similarities.similarity) = count(*) then sum(similarities.similarity) end
            as similarity
    from texts_asked
    inner join lines
        on texts_asked.template_key = lines.template_key
    left join similarities
        on texts_asked.embedding_model = similarities.model
        and least(texts_asked.text_key, lines.text_key) = similarities.text_key
        and greatest(texts_asked.text_key, lines.text_key) = similarities.other_text_key
    group by
        texts_asked.embedding_model,
        texts_asked.template_key,
        texts_asked.text_key

),

options_scored as (

    select
        options_asked.request_key,
        options_asked.model,
        options_asked.option_letter,
        options_asked.option_key,
        case
            when options_asked.embedding_model is not null then texts_compared.similarity
            when options_asked.model = 'most_frequent' then coalesce(concept_counts.n_events, 0)
            when options_asked.model = 'cooccurrence'
                then coalesce(cooccurrence_scores.score, 0)
            else 0
        end as score
    from options_asked
    left join concept_counts
        on options_asked.cui = concept_counts.cui
        and options_asked.event_type = concept_counts.event_type
    left join cooccurrence_scores
        on options_asked.template_key = cooccurrence_scores.template_key
        and options_asked.option_key = cooccurrence_scores.option_key
    left join texts_compared
        on options_asked.embedding_model = texts_compared.embedding_model
        and options_asked.template_key = texts_compared.template_key
        and options_asked.text_key = texts_compared.text_key

),

-- Scores of co-occurrence are logarithms of likelihoods, in millionths.
picked as (

    select
        request_key,
        arg_min(option_letter, option_rank) as text,
        case when min(model) = 'cooccurrence' then concat(
            '{',
            string_agg(
                concat('"', option_letter, '": ', cast(score / 1000000.0 as decimal(12, 6))),
                ', ' order by option_letter
            ),
            '}'
        ) end as option_logprobs
    from (
        select
            *,
            row_number() over (
                partition by request_key
                order by
                    score desc,
                    md5(concat_ws('|', request_key, option_key)),
                    option_letter
            ) as option_rank
        from options_scored
    )
    group by request_key
    having count(score) = count(*)

),

answered as (

    select
        requests.request_key,
        1 as attempt,
        requests.stage,
        requests.model,
        requests.revision,
        requests.engine,
        picked.text,
        'stop' as finish_reason,
        cast(null as integer) as prompt_tokens,
        cast(null as integer) as completion_tokens,
        picked.option_logprobs,
        cast(null as bigint) as latency_ms,
        cast(null as varchar) as error
    from requests
    inner join picked
        on requests.request_key = picked.request_key

),

united as (

    select * from answered
    union all
    select * from open_answers

)

select * from united
