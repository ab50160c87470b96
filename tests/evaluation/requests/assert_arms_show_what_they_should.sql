-- Prompts of the arms beside the standard one that are not of a released multiple-choice item of
-- the subset, lack its question, show of the item's scenario what their kind hides (seed
-- prompt_arms: all lines of hidden, at least one of another person's, the context of subject, the
-- subject of context) or hide what it shows, or list options where the arm scores them unlisted.
with

prompts as (

    select
        prompts.*,
        arms.scenario as kind,
        arms.options = 'unlisted' as is_unlisted,
        json_extract_string(prompts.messages, '$[1].content') as user_text
    from {{ ref('fct_prompts') }} as prompts
    inner join {{ ref('prompt_arms') }} as arms
        on prompts.arm = arms.arm
    where prompts.arm <> 'standard'

),

items as (

    select * from {{ ref('dim_items') }}

),

templates as (

    select * from {{ ref('int_templates') }}

),

lines as (

    select * from {{ ref('int_template_scenario') }}

),

lines_shown as (

    select
        prompts.item_id,
        prompts.arm,
        count(*) as n_lines,
        count(*) filter (
            where contains(prompts.user_text, concat(chr(10), lines.line, chr(10)))
        ) as n_shown,
        count(*) filter (
            where contains(prompts.user_text, concat(chr(10), lines.line, chr(10)))
                and (lines.event_key = templates.subject_event_key)
                    is distinct from (prompts.kind = 'subject')
        ) as n_shown_wrongly
    from prompts
    inner join items
        on prompts.item_id = items.item_id
    inner join templates
        on items.template_key = templates.template_key
    inner join lines
        on items.template_key = lines.template_key
    group by
        prompts.item_id,
        prompts.arm

)

select
    prompts.item_id,
    prompts.arm
from prompts
left join items
    on prompts.item_id = items.item_id
left join lines_shown
    on prompts.item_id = lines_shown.item_id
    and prompts.arm = lines_shown.arm
where not coalesce(items.released and items.in_subset and items.format = 'mcq', false)
    or not coalesce(contains(prompts.user_text, items.question), false)
    or lines_shown.n_lines is null
    or (prompts.kind = 'hidden' and lines_shown.n_shown > 0)
    or (prompts.kind in ('shuffled', 'twin') and lines_shown.n_shown = lines_shown.n_lines)
    or (prompts.kind = 'own' and lines_shown.n_shown < lines_shown.n_lines)
    or (
        prompts.kind in ('subject', 'context')
        and (lines_shown.n_shown_wrongly > 0 or lines_shown.n_shown = 0)
    )
    or prompts.is_unlisted is distinct from (prompts.options is not null)
    or prompts.is_unlisted is not distinct from contains(prompts.user_text, concat(chr(10), 'B. '))
