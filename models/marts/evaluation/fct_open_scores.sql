with

responses as (

    select * from {{ ref('fct_responses') }}
    where format = 'oeq'
        and mode = 'free'

),

replies as (

    select * from {{ ref('int_open_replies') }}

),

mentions as (

    select * from {{ ref('int_open_mentions') }}

),

open_references as (

    select * from {{ ref('int_open_references') }}

),

match_levels as (

    select * from {{ ref('open_match_levels') }}

),

vocabulary as (

    select distinct
        task,
        event_type,
        cui_id
    from {{ ref('int_answer_vocabulary') }}

),

templates as (

    select * from {{ ref('int_templates') }}

),

texts as (

    select
        request_key,
        pair_key,
        model,
        revision
    from {{ ref('int_texts_to_score') }}

),

stored_text_scores as (

    select * from {{ ref('stg_completions__text_scores') }}
    where schema_version = {{ var('completions_schema_version') }}
        and pair_key is not null

),

-- Of a pair that was compared again, the row that has more.
text_scores as (

    select *
    from stored_text_scores
    qualify row_number() over (
        partition by pair_key, model, revision
        order by bertscore is null, layer, rouge_1, rouge_l, bertscore
    ) = 1

),

levels as (

    select
        match_level,
        level_rank,
        min(credit) as credit
    from match_levels
    group by
        match_level,
        level_rank

),

hits as (

    select
        replies.request_key,
        min(match_levels.level_rank) filter (where open_references.role = 'gold') as gold_rank,
        coalesce(bool_or(open_references.role = 'other' and match_levels.credit = 1), false)
            as names_other,
        coalesce(bool_or(open_references.role = 'subject' and match_levels.credit = 1), false)
            as names_subject
    from replies
    inner join mentions
        on replies.reply_key = mentions.reply_key
    inner join open_references
        on replies.template_key = open_references.template_key
        and mentions.cui_id = open_references.cui_id
    inner join match_levels
        on open_references.step = match_levels.step
        and mentions.name_kind = match_levels.name_kind
    group by replies.request_key

),

-- One name may stand for several concepts: a place counts once.
answers_named as (

    select
        replies.request_key,
        mentions.sentence,
        mentions.first_place,
        mentions.last_place,
        min(mentions.cui_id) as cui_id
    from replies
    inner join mentions
        on replies.reply_key = mentions.reply_key
    inner join templates
        on replies.template_key = templates.template_key
    inner join vocabulary
        on templates.task = vocabulary.task
        and templates.answer_event_type = vocabulary.event_type
        and mentions.cui_id = vocabulary.cui_id
    left join open_references as shown
        on replies.template_key = shown.template_key
        and mentions.cui_id = shown.cui_id
        and shown.role = 'shown'
    where shown.cui_id is null
    group by
        replies.request_key,
        mentions.sentence,
        mentions.first_place,
        mentions.last_place

),

answers_counted as (

    select
        request_key,
        count(distinct cui_id) as n_answers_named
    from answers_named
    group by request_key

),

scores as (

    select
        ---------- ids
        responses.request_key,
        responses.model,
        responses.mode,
        responses.repetition,
        responses.item_id,
        replies.template_key,

        ---------- form
        templates.task,
        templates.source,
        responses.parse_status,

        ---------- concepts
        coalesce(levels.match_level, 'miss') as match_level,
        cast(coalesce(levels.credit = 1, false) as integer) as rc_gold,
        cast(coalesce(levels.credit = 1, false) or coalesce(hits.names_other, false) as integer)
            as rc_any,
        cast(coalesce(levels.credit, 0) as decimal(9, 6)) as rc_answer,
        cast(coalesce(levels.credit = 1, false) and coalesce(hits.names_subject, false) as integer)
            as rc_relation,

        ---------- length and doubt
        replies.n_words,
        replies.is_cut,
        cast(coalesce(answers_counted.n_answers_named, 0) as integer) as n_answers_named,
        replies.is_hedged,
        replies.n_hedges,
        replies.is_abstained,

        ---------- texts
        cast(text_scores.rouge_1 as decimal(9, 6)) as rouge_1,
        cast(text_scores.rouge_l as decimal(9, 6)) as rouge_l,
        cast(text_scores.bertscore as decimal(9, 6)) as bertscore,
        case when text_scores.bertscore is not null
            then concat_ws(' ', text_scores.model, text_scores.revision, 'layer', text_scores.layer)
        end as bertscore_model,

        ---------- clusters
        templates.person_group,
        templates.answer_cui_id
    from responses
    inner join replies
        on responses.request_key = replies.request_key
    inner join templates
        on replies.template_key = templates.template_key
    left join hits
        on responses.request_key = hits.request_key
    left join levels
        on hits.gold_rank = levels.level_rank
    left join answers_counted
        on responses.request_key = answers_counted.request_key
    left join texts
        on responses.request_key = texts.request_key
    left join text_scores
        on texts.pair_key = text_scores.pair_key
        and texts.model = text_scores.model
        and texts.revision = text_scores.revision

)

select * from scores
