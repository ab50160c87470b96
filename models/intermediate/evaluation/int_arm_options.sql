-- Text comes from the label table by option key, letters from the model of the arms' keys; what has
-- no key is the option to abstain.
with

arm_keys as (

    select * from {{ ref('int_arm_option_keys') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

wordings as (

    select * from {{ ref('answer_prompts') }}
    where format = 'mcq'
        and part = 'abstention'

),

labelled as (

    select
        arm_keys.item_id,
        arm_keys.arm,
        arm_keys.option_letter,
        labels.option_key,
        case when arm_keys.option_key is null then wordings.text else labels.label end as label,
        labels.cui,
        labels.event_type
    from arm_keys
    cross join wordings
    left join labels
        on arm_keys.option_key = labels.option_key

)

select * from labelled
order by item_id, arm, option_letter
