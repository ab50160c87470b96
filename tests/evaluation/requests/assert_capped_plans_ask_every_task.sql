-- Tasks that have prompts of an arm but no request of a plan row whose cap leaves room for one of
-- each task.
with

prompts as (

    select
        arm,
        task,
        count(*) as n_prompts
    from {{ ref('int_answer_prompts') }}
    group by
        arm,
        task

),

requests as (

    select
        model,
        mode,
        arm,
        repetition,
        task,
        count(*) as n_requests
    from {{ ref('int_answer_requests') }}
    group by
        model,
        mode,
        arm,
        repetition,
        task

),

asked as (

    select
        model,
        mode,
        arm,
        repetition,
        sum(n_requests) as n_requests
    from requests
    group by
        model,
        mode,
        arm,
        repetition

)

select
    asked.model,
    asked.mode,
    asked.arm,
    asked.repetition,
    prompts.task
from asked
inner join prompts
    on asked.arm = prompts.arm
left join requests
    on asked.model = requests.model
    and asked.mode = requests.mode
    and asked.arm = requests.arm
    and asked.repetition = requests.repetition
    and prompts.task = requests.task
where requests.task is null
    and asked.n_requests >= (
        select count(*) from prompts as tasks where tasks.arm = asked.arm
    )
