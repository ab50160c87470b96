-- Is a concept shown as a distractor as often as its share of answers asks? Counted over the draw
-- for the largest option count, per source, task, event type and semantic group (all parts of a
-- large pool together), over the templates with released items.
with

vocabulary as (

    select * from {{ ref('int_answer_vocabulary') }}

),

templates as (

    select * from {{ ref('int_templates') }}

),

distractors as (

    select * from {{ ref('int_distractors') }}

),

rendered as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept
        and format = 'mcq'

),

release as (

    select * from {{ ref('int_item_release') }}
    where released

),

templates_used as (

    select distinct rendered.template_key
    from rendered
    inner join release
        on rendered.item_id = release.item_id

),

answers_counted as (

    select
        templates.pool_number,
        templates.answer_cui_id as cui_id,
        count(*) as n_answers
    from templates
    inner join templates_used
        on templates.template_key = templates_used.template_key
    group by all

),

distractors_counted as (

    select
        templates.pool_number,
        distractors.cui_id,
        count(*) as n_distractors
    from distractors
    inner join templates_used
        on distractors.template_key = templates_used.template_key
    inner join templates
        on distractors.template_key = templates.template_key
    group by all

),

counted as (

    select
        vocabulary.source,
        vocabulary.task,
        vocabulary.event_type,
        vocabulary.semantic_group,
        vocabulary.cui,
        vocabulary.label,
        sum(coalesce(answers_counted.n_answers, 0)) as n_answers,
        sum(coalesce(distractors_counted.n_distractors, 0)) as n_distractors
    from vocabulary
    left join answers_counted
        on vocabulary.pool_number = answers_counted.pool_number
        and vocabulary.cui_id = answers_counted.cui_id
    left join distractors_counted
        on vocabulary.pool_number = distractors_counted.pool_number
        and vocabulary.cui_id = distractors_counted.cui_id
    group by all

),

totalled as (

    select
        *,
        sum(n_answers) over (partition by source, task, event_type, semantic_group)
            as n_pool_answers,
        sum(n_distractors) over (partition by source, task, event_type, semantic_group)
            as n_pool_distractors
    from counted

),

shares as (

    select
        *,
        cast(case when n_pool_answers > 0 then n_answers / n_pool_answers else 0 end
            as decimal(9, 6)) as answer_share,
        cast(case when n_pool_distractors > 0 then n_distractors / n_pool_distractors else 0 end
            as decimal(9, 6)) as distractor_share
    from totalled

),

final as (

    select
        source,
        task,
        event_type,
        semantic_group,
        cui,
        label,
        cast(n_answers as integer) as n_answers,
        cast(n_distractors as integer) as n_distractors,
        cast(n_pool_answers as integer) as n_pool_answers,
        cast(n_pool_distractors as integer) as n_pool_distractors,
        answer_share,
        distractor_share,
        cast(distractor_share - answer_share as decimal(9, 6)) as share_difference
    from shares

)

select * from final
