with

plan as (

    select * from {{ ref('int_answer_plan') }}

),

followups as (

    select * from {{ ref('int_followup_prompts') }}

),

-- A follow-up is a request of its own: another free reply makes another one.
requests as (

    select
        case
            when followups.plan_key is null then plan.request_key
            else {{ key(['plan.request_key', 'followups.prompt_key']) }}
        end as request_key,
        plan.stage,
        coalesce(followups.prompt_key, plan.prompt_key) as prompt_key,
        plan.model,
        plan.revision,
        plan.engine,
        plan.mode,
        plan.repetition,
        plan.sampling,
        plan.max_attempts,
        plan.item_id,
        plan.template_key,
        plan.format,
        plan.arm,
        plan.task,
        plan.n_options,
        plan.n_letters,
        plan.plan_rank
    from plan
    left join followups
        on plan.request_key = followups.plan_key
    where plan.mode <> 'free_choice'
        or followups.plan_key is not null

)

select * from requests
