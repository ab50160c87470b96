with

extraction_requests as (

    select * from {{ ref('int_extraction_requests') }}

),

answer_requests as (

    select * from {{ ref('int_answer_requests') }}

),

united as (

    select
        request_key,
        stage,
        prompt_key,
        model,
        revision,
        engine,
        mode,
        repetition,
        sampling,
        max_attempts,
        cast(null as varchar) as item_id,
        cast(null as varchar) as format,
        cast(null as varchar) as arm,
        false as is_waiting
    from extraction_requests
    union all
    select
        request_key,
        stage,
        prompt_key,
        model,
        revision,
        engine,
        mode,
        repetition,
        sampling,
        max_attempts,
        item_id,
        format,
        arm,
        is_waiting
    from answer_requests

)

select * from united
