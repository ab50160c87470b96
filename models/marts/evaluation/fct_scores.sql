with

responses as (

    select * from {{ ref('fct_responses') }}
    where format = 'mcq'

),

arms as (

    select * from {{ ref('prompt_arms') }}

),

items as (

    select * from {{ ref('dim_items') }}

),

arm_options as (

    select * from {{ ref('int_arm_options') }}

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

templates as (

    select * from {{ ref('fct_templates') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

-- Where the arm has options of its own, the answer's place is theirs.
placed as (

    select
        responses.*,
        items.template_key,
        items.task,
        items.source,
        items.n_options,
        coalesce(arms.n_context, items.n_context) as n_context,
        items.variant,
        arms.should_abstain,
        answer_keys.gold_option_key,
        ascii(responses.parsed_letter) - 64 as chosen_position,
        ascii(
            case
                when arms.has_own_options then arm_options.option_letter
                else answer_keys.gold_letter
            end
        ) - 64 as gold_position,
        [p_a, p_b, p_c, p_d, p_e, p_f, p_g] as shares
    from responses
    inner join items
        on responses.item_id = items.item_id
    inner join arms
        on responses.arm = arms.arm
    inner join answer_keys
        on responses.item_id = answer_keys.item_id
    left join arm_options
        on responses.item_id = arm_options.item_id
        and responses.arm = arm_options.arm
        and answer_keys.gold_option_key = arm_options.option_key

),

scored as (

    select
        ---------- ids
        placed.request_key,
        placed.model,
        placed.mode,
        placed.repetition,
        placed.item_id,
        placed.template_key,

        ---------- form
        placed.arm,
        placed.task,
        placed.source,
        placed.n_options,
        placed.n_context,
        placed.variant,

        ---------- score
        case
            when placed.should_abstain then placed.abstained
            when placed.chosen_option_key = placed.gold_option_key then 1
            else 0
        end as correct,
        case when placed.parse_status = 'parsed' then 1 else 0 end as parsed,
        placed.abstained,
        placed.should_abstain,
        placed.chosen_option_key,

        ---------- place and confidence
        cast(placed.gold_position as integer) as gold_position,
        cast(placed.chosen_position as integer) as chosen_position,
        placed.shares[placed.gold_position] as p_gold,
        placed.shares[placed.chosen_position] as p_chosen,
        placed.stated_confidence,

        ---------- clusters
        templates.patient_key,
        coalesce(patients.person_group, templates.patient_key) as person_group,
        templates.answer_cui,
        {{ cui_id('templates.answer_cui') }} as answer_cui_id
    from placed
    left join templates
        on placed.template_key = templates.template_key
    left join patients
        on templates.patient_key = patients.patient_key

)

select * from scored
