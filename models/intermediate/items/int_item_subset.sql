-- One row per item of the evaluation subset: per source and task a fixed md5 sample of headline
-- templates, a few of one person, each with one paraphrase at every option count and its open-ended item.
-- Templates with every option count come first, so that the cells stay equal while there are enough
-- of them.
-- Templates that only completions propose have a quota of their own: the rest stays fixed.
with

rendered as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

release as (

    select * from {{ ref('int_item_release') }}
    where released

),

templates as (

    select * from {{ ref('int_templates') }}

),

headline as (

    select * from {{ ref('int_headline_templates') }}

),

revealed as (

    select * from {{ ref('int_revealed_answers') }}

),

near_duplicates as (

    select * from {{ ref('int_near_duplicates') }}
    where is_one_person

),

wordings_counted as (

    select
        rendered.template_key,
        rendered.source,
        rendered.task,
        rendered.variant,
        templates.person_group,
        templates.needs_completion,
        count(*) as n_items
    from rendered
    inner join release
        on rendered.item_id = release.item_id
    inner join templates
        on rendered.template_key = templates.template_key
    semi join headline
        on rendered.template_key = headline.template_key
    where rendered.format = 'mcq'
    group by all

),

one_wording as (

    select
        *,
        {{ key(["'" ~ var('subset_seed') ~ "'", 'template_key']) }} as draw_key
    from wordings_counted
    qualify row_number() over (
        partition by template_key
        order by
            n_items desc,
            {{ key(["'" ~ var('subset_seed') ~ "'", 'template_key', 'variant']) }},
            variant
    ) = 1

),

placed as (

    select
        *,
        row_number() over (
            order by needs_completion, n_items desc, draw_key, template_key
        ) as place
    from one_wording

),

-- Of two templates only the first may come when one prints the other's answer, or when both ask one
-- person nearly the same.
pairs as (

    select
        template_key,
        printed_by as other_key
    from revealed

    union

    select
        template_key,
        other_key
    from near_duplicates

),

left_out as (

    select
        case
            when ones.place < others.place then others.template_key
            else ones.template_key
        end as template_key
    from pairs
    inner join placed as ones
        on pairs.template_key = ones.template_key
    inner join placed as others
        on pairs.other_key = others.template_key

),

apart as (

    select placed.*
    from placed
    anti join left_out
        on placed.template_key = left_out.template_key

),

spread as (

    select *
    from apart
    qualify row_number() over (
        partition by source, task, person_group, needs_completion
        order by n_items desc, draw_key, template_key
    ) <= {{ var('subset_templates_per_patient') }}

),

drawn as (

    select *
    from spread
    qualify row_number() over (
        partition by source, task, needs_completion
        order by n_items desc, draw_key, template_key
    ) <= case
        when needs_completion then {{ var('subset_extracted_per_task') }}
        else {{ var('subset_templates_per_task') }}
    end

),

subset as (

    select rendered.item_id
    from rendered
    inner join release
        on rendered.item_id = release.item_id
    inner join drawn
        on rendered.template_key = drawn.template_key
        and (rendered.format = 'oeq' or rendered.variant = drawn.variant)

)

select * from subset
