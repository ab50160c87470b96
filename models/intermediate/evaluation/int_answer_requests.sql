with

plan as (

    select * from {{ ref('int_answer_plan') }}

),

followups as (

    select * from {{ ref('int_followup_prompts') }}

),

-- A follow-up is a request of its own: another free reply makes another one. Before the reply is
-- there it waits under the key of the plan.
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
        plan.plan_rank,
        plan.mode = 'free_choice' and followups.plan_key is null as is_waiting
    from plan
    left join followups
        on plan.request_key = followups.plan_key

)

select * from requests
