-- Messages are made of the item's scenario (or what an arm shows in its place) and question, the
-- lettered options and the fixed wording of the seed; no answer, rationale or evidence is in reach
-- of this model.
with

items as (

    select * from {{ ref('dim_items') }}
    where released

),

arms as (

    select * from {{ ref('prompt_arms') }}

),

arm_scenarios as (

    select * from {{ ref('int_arm_scenarios') }}
    where reason is null

),

question_texts as (

    select * from {{ ref('int_question_texts') }}

),

options as (

    select * from {{ ref('fct_item_options') }}

),

arm_options as (

    select * from {{ ref('int_arm_options') }}

),

wordings as (

    select * from {{ ref('answer_prompts') }}

),

wordings_by_format as (

    select
        format,
        max(text) filter (where part = 'scenario_intro') as scenario_intro,
        max(text) filter (where part = 'scenario_hidden') as scenario_hidden,
        max(text) filter (where part = 'options_intro') as options_intro
    from wordings
    group by format

),

wordings_by_arm as (

    select
        arms.arm,
        wordings_by_format.format,
        arms.options <> 'unlisted' as lists_options,
        systems.text as system_text,
        instructions.text as instruction,
        wordings_by_format.scenario_intro,
        wordings_by_format.scenario_hidden,
        wordings_by_format.options_intro
    from arms
    inner join wordings as systems
        on arms.system_part = systems.part
    inner join wordings as instructions
        on arms.instruction_part = instructions.part
        and systems.format = instructions.format
    inner join wordings_by_format
        on systems.format = wordings_by_format.format

),

all_options as (

    select
        item_id,
        cast(null as varchar) as arm,
        option_letter,
        option_key,
        label
    from options

    union all

    select
        item_id,
        arm,
        option_letter,
        option_key,
        label
    from arm_options

),

options_lettered as (

    select
        item_id,
        arm,
        string_agg(
            concat(option_letter, '. ', label), chr(10) order by option_letter
        ) as option_lines,
        string_agg(coalesce(option_key, '-'), ',' order by option_letter) as option_order,
        string_agg(option_letter, ',' order by option_letter) as answer_schema,
        cast(to_json(list(label order by option_letter)) as varchar) as labels,
        cast(count(*) as integer) as n_options
    from all_options
    group by
        item_id,
        arm

),

-- The other arms are asked of the evaluation subset alone: of every item they would be many times
-- as many prompts.
asked as (

    select
        item_id,
        format,
        question,
        'standard' as arm,
        scenario,
        cast(null as varchar) as options_of
    from items

    union all

    select
        items.item_id,
        items.format,
        case
            when arms.options = 'unlisted' then question_texts.question_unlisted
            else items.question
        end as question,
        arms.arm,
        case when arms.scenario = 'own' then items.scenario else arm_scenarios.scenario end
            as scenario,
        case when arms.has_own_options then arms.arm end as options_of
    from items
    inner join arms
        on arms.arm <> 'standard'
    left join arm_scenarios
        on items.template_key = arm_scenarios.template_key
        and arms.scenario = arm_scenarios.kind
    left join question_texts
        on items.task = question_texts.task
        and items.format = question_texts.format
        and items.variant = question_texts.variant
        and items.question = question_texts.question
    where items.in_subset
        and items.format = 'mcq'
        and (arms.scenario = 'own' or arm_scenarios.template_key is not null)

),

-- An arm with options of its own is asked where the item has them.
written as (

    select
        asked.item_id,
        asked.arm,
        asked.format,
        options_lettered.n_options,
        options_lettered.option_order,
        options_lettered.answer_schema,
        case when not wordings_by_arm.lists_options then options_lettered.labels end as options,
        wordings_by_arm.system_text,
        concat_ws(
            chr(10),
            case
                when asked.scenario is null then wordings_by_arm.scenario_hidden
                else wordings_by_arm.scenario_intro
            end,
            asked.scenario,
            '',
            asked.question,
            case
                when asked.format = 'mcq' and wordings_by_arm.lists_options
                    then concat(
                        chr(10), wordings_by_arm.options_intro,
                        chr(10), options_lettered.option_lines)
            end,
            '',
            wordings_by_arm.instruction
        ) as user_text
    from asked
    inner join wordings_by_arm
        on asked.arm = wordings_by_arm.arm
        and asked.format = wordings_by_arm.format
    left join options_lettered
        on asked.item_id = options_lettered.item_id
        and asked.options_of is not distinct from options_lettered.arm
    where asked.options_of is null
        or options_lettered.item_id is not null

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
        options,
        format
    from messages_built

)

select * from final
