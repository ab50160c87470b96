-- Prompts of the arms beside the standard one that are not of a released multiple-choice item of
-- the subset, lack its question (in arms that list no options its wording for those), show of the
-- item's scenario what their kind hides (seed prompt_arms: all lines of hidden, at least one of
-- another person's, the context of subject, the subject of context) or hide what it shows, or list
-- options where the arm scores them unlisted; and
-- those with more context that do not show the item's lines and just the next of its triple, or
-- name the answer before the options.
with

prompts as (

    select
        prompts.*,
        case when arms.n_context is null then arms.scenario else 'more' end as kind,
        arms.n_context,
        arms.options = 'unlisted' as is_unlisted,
        json_extract_string(prompts.messages, '$[1].content') as user_text
    from {{ ref('fct_prompts') }} as prompts
    inner join {{ ref('prompt_arms') }} as arms
        on prompts.arm = arms.arm
    where prompts.arm <> 'standard'

),

items as (

    select
        items.*,
        question_texts.question_unlisted
    from {{ ref('dim_items') }} as items
    left join {{ ref('int_question_texts') }} as question_texts
        on items.task = question_texts.task
        and items.format = question_texts.format
        and items.variant = question_texts.variant
        and items.question = question_texts.question

),

templates as (

    select * from {{ ref('int_templates') }}

),

lines as (

    select * from {{ ref('int_template_scenario') }}

),

-- What a size shows, read anew from the triple: never the answer. A label counts at its first
-- place.
triple_lines as (

    select
        templates.template_key,
        concat(': ', {{ render_label('events.label') }}, chr(10)) as label_line,
        min(case when triple_events.role = 'subject' then 0 else triple_events.position end)
            as first_position,
        max(triple_events.position) filter (where triple_events.role = 'context')
            as last_position,
        bool_or(triple_events.role = 'object') as is_answer
    from templates
    inner join {{ ref('fct_triple_events') }} as triple_events
        on templates.triple_id = triple_events.triple_id
        and triple_events.role in ('subject', 'context', 'object')
    inner join {{ ref('fct_visit_events') }} as events
        on triple_events.event_key = events.event_key
    group by
        templates.template_key,
        label_line

),

sizes_shown as (

    select
        prompts.item_id,
        prompts.arm,
        max(triple_lines.last_position) >= prompts.n_context
            and bool_and(
                contains(prompts.user_text, triple_lines.label_line)
                = (triple_lines.first_position <= prompts.n_context and not triple_lines.is_answer)
            ) as is_right
    from prompts
    inner join items
        on prompts.item_id = items.item_id
    inner join triple_lines
        on items.template_key = triple_lines.template_key
    where prompts.kind = 'more'
    group by
        prompts.item_id,
        prompts.arm,
        prompts.n_context

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
left join sizes_shown
    on prompts.item_id = sizes_shown.item_id
    and prompts.arm = sizes_shown.arm
where not coalesce(items.released and items.in_subset and items.format = 'mcq', false)
    or not coalesce(contains(
        prompts.user_text,
        case when prompts.is_unlisted then items.question_unlisted else items.question end
    ), false)
    or lines_shown.n_lines is null
    or (prompts.kind = 'hidden' and lines_shown.n_shown > 0)
    or (prompts.kind in ('shuffled', 'twin') and lines_shown.n_shown = lines_shown.n_lines)
    or (prompts.kind in ('own', 'more') and lines_shown.n_shown < lines_shown.n_lines)
    or (
        prompts.kind in ('subject', 'context')
        and (lines_shown.n_shown_wrongly > 0 or lines_shown.n_shown = 0)
    )
    or (prompts.kind = 'more' and not coalesce(sizes_shown.is_right, false))
    or prompts.is_unlisted is distinct from (prompts.options is not null)
    or prompts.is_unlisted is not distinct from contains(prompts.user_text, concat(chr(10), 'B. '))
