-- One row per planned request of mode free_choice whose free reply is in the store (key
-- plan_key): the messages of the free request, its reply without the reasoning, and the request for
-- one letter. A reply that is reasoning alone goes back as it is.
with

plan as (

    select * from {{ ref('int_answer_plan') }}

),

prompts as (

    select * from {{ ref('fct_prompts') }}

),

completions as (

    select * from {{ ref('int_completions_latest') }}
    where is_success

),

models as (

    select * from {{ ref('models') }}

),

wordings as (

    select * from {{ ref('answer_prompts') }}
    where part = 'followup'

),

replied as (

    select
        plan.request_key as plan_key,
        prompts.messages,
        coalesce(
            nullif(trim({{ strip_reasoning(
                mark_reasoning('completions.text', 'models.strip_markers')
            ) }}), ''),
            completions.text
        ) as reply,
        wordings.text as followup
    from plan
    inner join plan as free_plan
        on plan.prompt_key = free_plan.prompt_key
        and plan.model = free_plan.model
        and plan.repetition = free_plan.repetition
        and free_plan.mode = 'free'
    inner join completions
        on free_plan.request_key = completions.request_key
    inner join prompts
        on plan.prompt_key = prompts.prompt_key
        and plan.item_id = prompts.item_id
        and plan.arm = prompts.arm
    inner join wordings
        on plan.format = wordings.format
    left join models
        on plan.model = models.model
    where plan.mode = 'free_choice'

),

extended as (

    select
        plan_key,
        concat(
            left(messages, length(messages) - 1),
            ',', cast(json_object('role', 'assistant', 'content', reply) as varchar),
            ',', cast(json_object('role', 'user', 'content', followup) as varchar),
            ']'
        ) as messages
    from replied

)

select
    plan_key,
    {{ key(['plan_key', 'messages']) }} as prompt_key,
    messages
from extended
