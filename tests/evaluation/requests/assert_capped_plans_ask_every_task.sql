-- Tasks that have prompts but no request of a plan row whose cap leaves room for one of each task.
with

prompts as (

    select
        task,
        count(*) as n_prompts
    from {{ ref('int_answer_prompts') }}
    group by task

),

requests as (

    select
        model,
        mode,
        repetition,
        task,
        count(*) as n_requests
    from {{ ref('int_answer_requests') }}
    group by
        model,
        mode,
        repetition,
        task

),

asked as (

    select
        model,
        mode,
        repetition,
        sum(n_requests) as n_requests
    from requests
    group by
        model,
        mode,
        repetition

)

select
    asked.model,
    asked.mode,
    asked.repetition,
    prompts.task
from asked
cross join prompts
left join requests
    on asked.model = requests.model
    and asked.mode = requests.mode
    and asked.repetition = requests.repetition
    and prompts.task = requests.task
where requests.task is null
    and asked.n_requests >= (select count(*) from prompts)
