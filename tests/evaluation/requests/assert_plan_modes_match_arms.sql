-- Enabled plan rows whose mode and arm or format do not go together: mode cloze scores the unlisted
-- options of its arm, which no other mode can read; an open-ended item is asked freely; mode
-- free_choice needs the free replies of as many of the same prompts; a baseline in SQL knows no
-- options but the item's own.
with

plan as (

    select
        run_plan.*,
        coalesce(run_plan.format, 'mcq') as plan_format,
        coalesce(run_plan.arm, 'standard') as plan_arm,
        arms.options = 'unlisted' as is_unlisted,
        models.engine = 'sql' and (arms.options <> 'own' or arms.has_abstention)
            as is_foreign_to_sql
    from {{ ref('run_plan') }} as run_plan
    left join {{ ref('models') }} as models
        on run_plan.model = models.model
    left join {{ ref('prompt_arms') }} as arms
        on coalesce(run_plan.arm, 'standard') = arms.arm
    where run_plan.enabled
        and run_plan.stage = 'answers'

)

select
    plan.target,
    plan.model,
    plan.mode,
    plan.plan_format,
    plan.plan_arm
from plan
left join plan as first_replies
    on plan.target = first_replies.target
    and plan.model = first_replies.model
    and plan.plan_format = first_replies.plan_format
    and plan.plan_arm = first_replies.plan_arm
    and plan.repetition = first_replies.repetition
    and first_replies.mode = 'free'
where plan.is_foreign_to_sql
    or (plan.mode = 'cloze') is distinct from plan.is_unlisted
    or (plan.plan_format = 'oeq' and plan.mode <> 'free')
    or (
        plan.mode = 'free_choice'
        and not coalesce(
            coalesce(first_replies.max_requests, 2147483647)
                >= coalesce(plan.max_requests, 2147483647)
            and first_replies.model is not null,
            false
        )
    )
