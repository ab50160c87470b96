{{ config(materialized='view') }}

-- What `ehrbench score-texts` compares: a reply as it is scored with the answer and its rationale,
-- the form that the prompt asks for. pair_key is a function of both texts, so a pair is compared
-- once, whoever wrote it. Grain: one row per request that has a reply. Stays on this machine.
with

replies as (

    select * from {{ ref('int_open_replies') }}

),

requests as (

    select
        request_key,
        item_id
    from {{ ref('int_answer_requests') }}
    where format = 'oeq'

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

models as (

    select * from {{ ref('models') }}
    where model = '{{ var('bertscore_model') }}'

),

texts as (

    select
        replies.request_key,
        replies.reply,
        concat_ws('. ', answer_keys.gold_label, answer_keys.rationale) as reference
    from replies
    inner join requests
        on replies.request_key = requests.request_key
    inner join answer_keys
        on requests.item_id = answer_keys.item_id
    where answer_keys.gold_label is not null

)

select
    texts.request_key,
    {{ key(['texts.reply', 'texts.reference']) }} as pair_key,
    texts.reply,
    texts.reference,
    models.model,
    models.revision
from texts
cross join models
