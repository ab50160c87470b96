-- Cues of form in released items and their prompts. A question that ends in an article or before a
-- gap would agree with some options only; labels start in upper case, end without punctuation and
-- carry no list mark, but for a few titles that are like that in their source; prompts list all
-- options, once and by letter, in one JSON form.
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

questions as (

    select distinct
        source,
        task,
        question
    from items

),

labels as (

    select distinct
        items.source,
        items.task,
        options.label
    from items
    inner join options
        on items.item_id = options.item_id

),

option_blocks as (

    select
        item_id,
        max(option_letter) as last_letter,
        string_agg(
            concat(option_letter, '. ', label), chr(10) order by option_letter
        ) as option_block
    from options
    group by item_id

),

prompt_texts as (

    select
        prompts.prompt_key,
        items.source,
        items.task,
        prompts.format,
        prompts.n_options,
        option_blocks.last_letter,
        option_blocks.option_block,
        prompts.messages,
        json_extract_string(prompts.messages, '$[1].content') as text
    from prompts
    inner join items
        on prompts.item_id = items.item_id
    left join option_blocks
        on prompts.item_id = option_blocks.item_id

),

checked as (

    select
        source,
        task,
        'question ends before a gap' as stratum,
        question as unit,
        not regexp_matches(trim(question), '[.?!]$')
            or regexp_matches(lower(question), '(\b(an?|the|is|are|was|were)|[:_(–-])\W*$')
            as is_bad
    from questions

    union all

    select
        source,
        task,
        'label starts in lower case' as stratum,
        label as unit,
        substr(label, 1, 1) <> upper(substr(label, 1, 1)) as is_bad
    from labels

    union all

    select
        source,
        task,
        'label ends in punctuation' as stratum,
        label as unit,
        regexp_matches(label, '[.,;:?!\s-]$') as is_bad
    from labels

    union all

    select
        source,
        task,
        'label has a list mark' as stratum,
        label as unit,
        regexp_matches(
            label, '^\s*([(]?[A-Za-z0-9]+[)]\s|[0-9]+[.]\s|[A-Za-z][.]\s+[A-Z]|[-*•])'
        ) as is_bad
    from labels

    union all

    select
        source,
        task,
        'option lines' as stratum,
        prompt_key as unit,
        ascii(last_letter) <> 64 + n_options
            or not contains(text, concat(chr(10), option_block, chr(10)))
            or len(regexp_extract_all(text, '\n[A-Z][.] ')) <> n_options as is_bad
    from prompt_texts
    where format = 'mcq'

    union all

    select
        source,
        task,
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
        case
            when starts_with(stratum, 'label ') then {{ var('label_form_share') }}
            else 0
        end as allowed,
        count(*) as n,
        count(*) filter (where is_bad is not false) as n_bad,
        min(unit) filter (where is_bad is not false) as first_bad
    from checked
    group by
        source,
        task,
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
