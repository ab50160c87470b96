-- Items whose answer is missing, repeated or ambiguous among the options, or whose options are not
-- as many as the item says. Items that read alike share one id: several answers of one text are
-- ambiguous.
with

rendered as (

    select * from {{ ref('int_rendered_items') }}

),

templates as (

    select * from {{ ref('int_templates') }}

),

ordered as (

    select * from {{ ref('int_item_options_ordered') }}

),

asked as (

    select
        rendered.item_id,
        rendered.item_key,
        rendered.format,
        rendered.n_options,
        rendered.is_kept,
        templates.answer_option_key
    from rendered
    inner join templates
        on rendered.template_key = templates.template_key

),

ambiguous as (

    select
        item_id,
        concat('one text, answers ', count(distinct answer_option_key)) as evidence
    from asked
    group by item_id
    having min(answer_option_key) <> max(answer_option_key)

),

options_counted as (

    select
        asked.item_id,
        asked.n_options,
        count(ordered.option_key) as n_found,
        count(*) filter (where ordered.option_key = asked.answer_option_key) as n_answers
    from asked
    left join ordered
        on asked.item_key = ordered.item_key
    where asked.is_kept
        and asked.format = 'mcq'
    group by
        asked.item_id,
        asked.item_key,
        asked.n_options

),

miscounted as (

    select
        item_id,
        case
            when n_answers = 0 then 'answer not among the options'
            when n_answers > 1 then concat('answer listed ', n_answers, ' times')
            else concat(n_found, ' options of ', n_options)
        end as evidence
    from options_counted
    where n_answers <> 1
        or n_found is distinct from n_options

),

united as (

    select * from ambiguous
    union all
    select * from miscounted

),

found as (

    select
        'L34' as rule_id,
        'item' as scope,
        cast(null as varchar) as template_key,
        item_id,
        cast(null as varchar) as option_key,
        min(evidence) as evidence
    from united
    group by item_id

)

select * from found
