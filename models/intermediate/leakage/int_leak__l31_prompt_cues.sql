-- Cues of form in released items and their prompts. A question that ends in an article or before a
-- gap would agree with some options only; labels start in upper case, end without punctuation and
-- carry no list mark, but for a few titles that are like that in their source; prompts list all
-- options of their arm, once and by letter, or none at all, in one JSON form. What counts as a cue
-- in a question or label is in the seed leak_patterns.
with

prompts as (

    select * from {{ ref('fct_prompts') }}

),

items as (

    select * from {{ ref('dim_items') }}
    where released

),

options as (

    select * from {{ ref('fct_item_options') }}

),

arm_options as (

    select * from {{ ref('int_arm_options') }}

),

cues as (

    select * from {{ ref('leak_patterns') }}
    where rule_id = 'L31'

),

texts as (

    select distinct
        source,
        task,
        'question' as part,
        question as text
    from items

    union all

    select distinct
        items.source,
        items.task,
        'label' as part,
        options.label as text
    from items
    inner join options
        on items.item_id = options.item_id

),

all_options as (

    select
        item_id,
        cast(null as varchar) as arm,
        option_letter,
        label
    from options

    union all

    select
        item_id,
        arm,
        option_letter,
        label
    from arm_options

),

option_blocks as (

    select
        item_id,
        arm,
        max(option_letter) as last_letter,
        string_agg(
            concat(option_letter, '. ', label), chr(10) order by option_letter
        ) as option_block
    from all_options
    group by
        item_id,
        arm

),

prompt_texts as (

    select
        prompts.prompt_key,
        items.source,
        items.task,
        prompts.format,
        prompts.n_options,
        prompts.options is not null as is_unlisted,
        coalesce(arm_blocks.last_letter, option_blocks.last_letter) as last_letter,
        coalesce(arm_blocks.option_block, option_blocks.option_block) as option_block,
        prompts.messages,
        json_extract_string(prompts.messages, '$[1].content') as text
    from prompts
    inner join items
        on prompts.item_id = items.item_id
    left join option_blocks
        on prompts.item_id = option_blocks.item_id
        and option_blocks.arm is null
    left join option_blocks as arm_blocks
        on prompts.item_id = arm_blocks.item_id
        and prompts.arm = arm_blocks.arm

),

checked as (

    select
        texts.source,
        texts.task,
        texts.part,
        cues.cue as stratum,
        texts.text as unit,
        bool_or(regexp_matches(texts.text, cues.pattern)) as is_bad
    from texts
    inner join cues
        on texts.part = cues.part
    group by
        texts.source,
        texts.task,
        texts.part,
        cues.cue,
        texts.text

    union all

    select
        source,
        task,
        'prompt' as part,
        'option lines' as stratum,
        prompt_key as unit,
        case
            when is_unlisted then regexp_matches(text, '\n[A-Z][.] ')
            else
                ascii(last_letter) <> 64 + n_options
                or not contains(text, concat(chr(10), option_block, chr(10)))
                or len(regexp_extract_all(text, '\n[A-Z][.] ')) <> n_options
        end as is_bad
    from prompt_texts
    where format = 'mcq'

    union all

    select
        source,
        task,
        'prompt' as part,
        'message form' as stratum,
        prompt_key as unit,
        json_array_length(messages) <> 2
            or json_extract_string(messages, '$[*].role') <> ['system', 'user']
            or json_keys(messages, '$[0]') <> ['role', 'content']
            or json_keys(messages, '$[1]') <> ['role', 'content'] as is_bad
    from prompt_texts

),

counted as (

    select
        source,
        task,
        stratum,
        case when part = 'label' then {{ var('label_form_share') }} else 0 end as allowed,
        count(*) as n,
        count(*) filter (where is_bad is not false) as n_bad,
        min(unit) filter (where is_bad is not false) as first_bad
    from checked
    group by
        source,
        task,
        part,
        stratum

),

found as (

    select
        'L31' as rule_id,
        source,
        task,
        stratum,
        cast(n as bigint) as n,
        cast(n_bad / n as decimal(18, 6)) as statistic,
        cast(null as decimal(18, 6)) as low,
        cast(null as decimal(18, 6)) as high,
        cast(allowed as decimal(18, 6)) as allowed,
        n_bad / n > allowed as is_found,
        concat(n_bad, ' of ', n, ', first: ' || first_bad) as evidence
    from counted

)

select * from found
