-- Messages are made of the item's scenario (or what an arm shows in its place) and question, the
-- lettered options and the fixed wording of the seed; no answer, rationale or evidence is in reach
-- of this model.
with

items as (

    select * from {{ ref('dim_items') }}
    where released

),

arm_scenarios as (

    select * from {{ ref('int_arm_scenarios') }}
    where reason is null

),

options as (

    select * from {{ ref('fct_item_options') }}

),

wordings as (

    select * from {{ ref('answer_prompts') }}

),

wordings_by_format as (

    select
        format,
        max(text) filter (where part = 'system') as system_text,
        max(text) filter (where part = 'scenario_intro') as scenario_intro,
        max(text) filter (where part = 'scenario_hidden') as scenario_hidden,
        max(text) filter (where part = 'options_intro') as options_intro,
        max(text) filter (where part = 'instruction') as instruction
    from wordings
    group by all

),

options_lettered as (

    select
        item_id,
        string_agg(
            concat(option_letter, '. ', label), chr(10) order by option_letter
        ) as option_lines,
        string_agg(option_key, ',' order by option_letter) as option_order,
        string_agg(option_letter, ',' order by option_letter) as answer_schema
    from options
    group by all

),

-- The other arms are asked of the evaluation subset alone: of every item they would be five times
-- as many prompts.
asked as (

    select
        item_id,
        format,
        n_options,
        question,
        cast('standard' as varchar) as arm,
        scenario
    from items

    union all

    select
        items.item_id,
        items.format,
        items.n_options,
        items.question,
        arm_scenarios.arm,
        arm_scenarios.scenario
    from items
    inner join arm_scenarios
        on items.template_key = arm_scenarios.template_key
    where items.in_subset
        and items.format = 'mcq'

),

written as (

    select
        asked.item_id,
        asked.arm,
        asked.format,
        asked.n_options,
        options_lettered.option_order,
        options_lettered.answer_schema,
        wordings_by_format.system_text,
        concat_ws(
            chr(10),
            case
                when asked.scenario is null then wordings_by_format.scenario_hidden
                else wordings_by_format.scenario_intro
            end,
            asked.scenario,
            '',
            asked.question,
            case
                when asked.format = 'mcq'
                    then concat(
                        chr(10), wordings_by_format.options_intro,
                        chr(10), options_lettered.option_lines)
            end,
            '',
            wordings_by_format.instruction
        ) as user_text
    from asked
    inner join wordings_by_format
        on asked.format = wordings_by_format.format
    left join options_lettered
        on asked.item_id = options_lettered.item_id

),

messages_built as (

    select
        *,
        cast(json_array(
            json_object('role', 'system', 'content', system_text),
            json_object('role', 'user', 'content', user_text)
        ) as varchar) as messages
    from written

),

final as (

    select
        {{ key(['messages', 'option_order', 'answer_schema']) }} as prompt_key,
        item_id,
        arm,
        messages,
        n_options,
        format
    from messages_built

)

select * from final
