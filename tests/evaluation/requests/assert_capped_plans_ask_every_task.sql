-- Tasks that have prompts of a format but no request of a plan row of the standard arm whose cap
-- leaves room for one of each task. (Other arms ask what they have of the same items.)
with

prompts as (

    select
        format,
        arm,
        task,
        count(*) as n_prompts
    from {{ ref('int_answer_prompts') }}
    group by
        format,
        arm,
        task

),

requests as (

    select
        model,
        mode,
        format,
        arm,
        repetition,
        task,
        count(*) as n_requests
    from {{ ref('int_answer_plan') }}
    group by
        model,
        mode,
        format,
        arm,
        repetition,
        task

),

asked as (

    select
        model,
        mode,
        format,
        arm,
        repetition,
        sum(n_requests) as n_requests
    from requests
    group by
        model,
        mode,
        format,
        arm,
        repetition

)

select
    asked.model,
    asked.mode,
    asked.format,
    asked.arm,
    asked.repetition,
    prompts.task
from asked
inner join prompts
    on asked.format = prompts.format
    and asked.arm = prompts.arm
left join requests
    on asked.model = requests.model
    and asked.mode = requests.mode
    and asked.format = requests.format
    and asked.arm = requests.arm
    and asked.repetition = requests.repetition
    and prompts.task = requests.task
where requests.task is null
    and asked.arm = 'standard'
    and asked.n_requests >= (
        select count(*) from prompts as tasks
        where tasks.format = asked.format
            and tasks.arm = asked.arm
    )
