-- What prompts hold beside their options: nothing but the fixed wordings, scenario lines and the
-- question; not the answer's label or, in the scenario and question, a name of its concept; and not
-- the rationale. One row per source, task, arm and check.
with

prompts as (

    select * from {{ ref('fct_prompts') }}

),

items as (

    select * from {{ ref('dim_items') }}

),

arms as (

    select * from {{ ref('prompt_arms') }}

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

question_texts as (

    select * from {{ ref('int_question_texts') }}

),

templates as (

    select * from {{ ref('fct_templates') }}

),

forms as (

    select * from {{ ref('int_template_forms') }}

),

form_scenario as (

    select * from {{ ref('int_form_scenario') }}

),

leak_options as (

    select * from {{ ref('int_leak_options') }}
    where is_gold

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

synonyms as (

    select * from {{ ref('int_leak__l02_answer_synonyms') }}

),

option_blocks as (

    select
        item_id,
        string_agg(
            concat(option_letter, '. ', label), chr(10) order by option_letter
        ) as option_block
    from options
    group by item_id

),

arm_option_blocks as (

    select
        item_id,
        arm,
        string_agg(
            concat(option_letter, '. ', label), chr(10) order by option_letter
        ) as option_block
    from arm_options
    group by
        item_id,
        arm

),

-- The longest first: a wording may be part of another.
wordings_listed as (

    select list(text order by length(text) desc, text) as texts
    from (
        select text from wordings
        union
        select question_unlisted from question_texts
    ) as distinct_wordings

),

outside_options as (

    select
        prompts.prompt_key,
        prompts.arm,
        arms.scenario in ('shuffled', 'twin') as is_of_another,
        items.source,
        items.task,
        items.template_key,
        coalesce(wide_forms.template_key, items.template_key) as form_key,
        items.scenario,
        items.question,
        replace(
            array_to_string(json_extract_string(prompts.messages, '$[*].content'), chr(10)),
            coalesce(arm_option_blocks.option_block, option_blocks.option_block, ''),
            ''
        ) as text
    from prompts
    inner join arms
        on prompts.arm = arms.arm
    inner join items
        on prompts.item_id = items.item_id
    left join forms as wide_forms
        on items.template_key = wide_forms.of_template_key
        and arms.n_context is not null
    left join option_blocks
        on prompts.item_id = option_blocks.item_id
    left join arm_option_blocks
        on prompts.item_id = arm_option_blocks.item_id
        and prompts.arm = arm_option_blocks.arm

),

remainders as (

    select
        outside_options.prompt_key,
        outside_options.arm,
        outside_options.is_of_another,
        outside_options.form_key,
        list_reduce(
            list_concat(
                [replace(replace(
                    outside_options.text, outside_options.scenario, ''
                ), outside_options.question, '')],
                wordings_listed.texts),
            lambda rest, wording: replace(rest, wording, '')
        ) as rest
    from outside_options
    cross join wordings_listed

),

rest_lines as (

    select
        prompt_key,
        arm,
        is_of_another,
        form_key,
        unnest(string_split(rest, chr(10))) as line
    from remainders
    where trim(replace(rest, chr(10), '')) <> ''

),

-- Arms show lines of their own scenario, more of them where they show more context, or of another
-- patient's; the standard prompt shows its own scenario as a whole.
known_lines as (

    select distinct
        template_key as form_key,
        line
    from form_scenario

    union all

    select distinct
        cast(null as varchar) as form_key,
        line
    from form_scenario
    where is_own

),

prompts_with_more as (

    select distinct rest_lines.prompt_key
    from rest_lines
    left join known_lines
        on rest_lines.line = known_lines.line
        and case
            when rest_lines.is_of_another then known_lines.form_key is null
            else rest_lines.form_key = known_lines.form_key
        end
    where trim(rest_lines.line) <> ''
        and (known_lines.line is null or rest_lines.arm = 'standard')

),

-- What stands outside the options is the same for every option count.
texts as (

    select
        source,
        task,
        arm,
        is_of_another,
        template_key,
        form_key,
        text,
        min(prompt_key) as prompt_key
    from outside_options
    group by all

),

-- Another patient's scenario is picked by int_arm_scenarios to name no option.
texts_naming as (

    select distinct texts.prompt_key
    from texts
    inner join leak_options
        on texts.template_key = leak_options.template_key
    inner join labels
        on leak_options.option_key = labels.option_key
    left join synonyms
        on texts.form_key = synonyms.template_key
    where not texts.is_of_another
        and (
            synonyms.template_key is not null
            or contains({{ leak_words('texts.text') }}, {{ leak_words('labels.label') }})
        )

),

texts_explaining as (

    select texts.prompt_key
    from texts
    inner join templates
        on texts.template_key = templates.template_key
    where templates.rationale <> ''
        and contains(texts.text, templates.rationale)

),

checked as (

    select
        outside_options.source,
        outside_options.task,
        concat('unknown text, ', outside_options.arm) as stratum,
        outside_options.prompt_key,
        prompts_with_more.prompt_key is not null as is_bad
    from outside_options
    left join prompts_with_more
        on outside_options.prompt_key = prompts_with_more.prompt_key

    union all

    select
        texts.source,
        texts.task,
        concat('answer named, ', texts.arm) as stratum,
        texts.prompt_key,
        texts_naming.prompt_key is not null as is_bad
    from texts
    left join texts_naming
        on texts.prompt_key = texts_naming.prompt_key

    union all

    select
        texts.source,
        texts.task,
        concat('rationale shown, ', texts.arm) as stratum,
        texts.prompt_key,
        texts_explaining.prompt_key is not null as is_bad
    from texts
    left join texts_explaining
        on texts.prompt_key = texts_explaining.prompt_key

),

counted as (

    select
        source,
        task,
        stratum,
        count(*) as n,
        count(*) filter (where is_bad) as n_bad,
        min(prompt_key) filter (where is_bad) as first_bad
    from checked
    group by
        source,
        task,
        stratum

),

found as (

    select
        'L16' as rule_id,
        source,
        task,
        stratum,
        cast(n as bigint) as n,
        cast(n_bad / n as decimal(18, 6)) as statistic,
        cast(null as decimal(18, 6)) as low,
        cast(null as decimal(18, 6)) as high,
        cast(0 as decimal(18, 6)) as allowed,
        n_bad > 0 as is_found,
        concat(n_bad, ' of ', n, ' texts', ', first ' || first_bad) as evidence
    from counted

)

select * from found
