-- One row per task x type of answer x format x wording: the question as items show it, and the same
-- in plain words.
with

paraphrases as (

    select * from {{ ref('question_paraphrases') }}

),

written as (

    select
        task,
        answer_type,
        format,
        variant,
        replace(text, '{horizon_days}', '{{ var("px_horizon_days") }}') as question,
        replace(
            coalesce(unlisted_text, text), '{horizon_days}', '{{ var("px_horizon_days") }}'
        ) as question_unlisted
    from paraphrases

),

worded as (

    select
        *,
        {{ leak_words('question') }} as question_words
    from written

)

select * from worded
