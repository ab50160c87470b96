-- The templates of a task as one test. KR-20 in its form for scores between 0 and 1 (Cronbach's
-- alpha), over the templates that every respondent has answered; its interval is a jackknife over
-- the models, on ln(1 - KR-20), whose errors are nearer to normal.
with

scores as (

    select * from {{ ref('int_template_scores') }}

),

item_analysis as (

    select * from {{ ref('rpt_item_analysis') }}

),

distractors as (

    select * from {{ ref('rpt_distractor_analysis') }}

),

tasks as (

    select
        mode,
        task,
        sum(n) as n,
        sum(n_asked) as n_asked,
        count(distinct template_key) as n_templates_asked,
        count(distinct model) as n_models_asked
    from scores
    group by
        mode,
        task

),

-- One who has answered a few would leave nothing that all have answered.
respondents as (

    select
        mode,
        task,
        model
    from scores
    where score is not null
    group by
        mode,
        task,
        model
    having {{ estimate_status('count(*)') }} = 'estimable'

),

respondents_counted as (

    select
        mode,
        task,
        count(*) as n_models
    from respondents
    group by
        mode,
        task

),

answered as (

    select
        scores.mode,
        scores.task,
        scores.model,
        scores.template_key,
        scores.score,
        count(*) over (partition by scores.mode, scores.task, scores.template_key) as n_answered,
        respondents_counted.n_models
    from scores
    inner join respondents
        on scores.mode = respondents.mode
        and scores.task = respondents.task
        and scores.model = respondents.model
    inner join respondents_counted
        on scores.mode = respondents_counted.mode
        and scores.task = respondents_counted.task
    where scores.score is not null

),

complete as (

    select * from answered
    where n_answered = n_models

),

templates as (

    select
        mode,
        task,
        template_key,
        sum(score) as total,
        sum(cast(score as hugeint) * score) as squares
    from complete
    group by
        mode,
        task,
        template_key

),

models_summed as (

    select
        mode,
        task,
        model,
        n_models,
        count(*) as n_templates,
        sum(score) as total
    from complete
    group by
        mode,
        task,
        model,
        n_models

),

totals as (

    select
        mode,
        task,
        min(n_models) as n_models,
        min(n_templates) as n_templates,
        sum(total) as total,
        sum(cast(total as hugeint) * total) as squares
    from models_summed
    group by
        mode,
        task

),

-- Of all models, and without each of them: n times the sum of squares about the mean.
within as (

    select
        templates.mode,
        templates.task,
        'all' as left_out,
        sum(
            totals.n_models * templates.squares
            - cast(templates.total as hugeint) * templates.total
        ) as variance
    from templates
    inner join totals
        on templates.mode = totals.mode
        and templates.task = totals.task
    group by
        templates.mode,
        templates.task

    union all

    select
        complete.mode,
        complete.task,
        concat('model ', complete.model) as left_out,
        sum(
            (complete.n_models - 1)
                * (templates.squares - cast(complete.score as hugeint) * complete.score)
            - cast(templates.total - complete.score as hugeint)
                * (templates.total - complete.score)
        ) as variance
    from complete
    inner join templates
        on complete.mode = templates.mode
        and complete.task = templates.task
        and complete.template_key = templates.template_key
    group by
        complete.mode,
        complete.task,
        complete.model

),

between_models as (

    select
        mode,
        task,
        'all' as left_out,
        n_models * squares - cast(total as hugeint) * total as variance
    from totals

    union all

    select
        models_summed.mode,
        models_summed.task,
        concat('model ', models_summed.model) as left_out,
        (totals.n_models - 1)
            * (totals.squares - cast(models_summed.total as hugeint) * models_summed.total)
        - cast(totals.total - models_summed.total as hugeint)
            * (totals.total - models_summed.total) as variance
    from models_summed
    inner join totals
        on models_summed.mode = totals.mode
        and models_summed.task = totals.task

),

coefficients as (

    select
        within.mode,
        within.task,
        within.left_out,
        cast(totals.n_templates as double) / nullif(totals.n_templates - 1, 0) * (
            1 - cast(within.variance as double) / nullif(cast(between_models.variance as double), 0)
        ) as kr20
    from within
    inner join between_models
        on within.mode = between_models.mode
        and within.task = between_models.task
        and within.left_out = between_models.left_out
    inner join totals
        on within.mode = totals.mode
        and within.task = totals.task

),

-- Each as its distance from the whole, so that sums of 1e-12 lose nothing.
moved as (

    select
        left_outs.mode,
        left_outs.task,
        case when left_outs.kr20 < 1 and wholes.kr20 < 1 then
            cast(ln((1 - left_outs.kr20) / (1 - wholes.kr20)) as decimal(18, 12))
        end as move
    from coefficients as left_outs
    inner join coefficients as wholes
        on left_outs.mode = wholes.mode
        and left_outs.task = wholes.task
        and wholes.left_out = 'all'
    where left_outs.left_out <> 'all'

),

jackknifed as (

    select
        mode,
        task,
        case when count(move) = count(*) then sqrt(greatest(0, (count(*) - 1) * (
            count(*) * cast(sum(cast(power(move, 2) as decimal(18, 15))) as double)
            - power(cast(sum(move) as double), 2)
        ))) / count(*) end as log_error
    from moved
    group by
        mode,
        task

),

items_counted as (

    select
        mode,
        task,
        count(*) filter (where status = 'estimable') as n_analysed,
        {%- for flag in ['all_miss', 'all_solve', 'negative_discrimination'] %}
        count(*) filter (where flag = '{{ flag }}') as n_{{ flag }}{{ ',' if not loop.last }}
        {%- endfor %}
    from item_analysis
    group by
        mode,
        task

),

distractors_counted as (

    select
        mode,
        task,
        count(is_non_functioning) as n_distractors,
        count(*) filter (where is_non_functioning) as n_non_functioning
    from distractors
    group by
        mode,
        task

),

judged as (

    select
        tasks.*,
        coalesce(respondents_counted.n_models, 0) as n_models,
        coalesce(totals.n_templates, 0) as n_templates,
        -- Lower, nothing but rounding parts the models.
        case when wholes.kr20 > -999 then wholes.kr20 end as kr20,
        jackknifed.log_error,
        coalesce(respondents_counted.n_models, 0) >= {{ var('item_analysis_min_models') }}
            and {{ estimate_status('coalesce(totals.n_templates, 0)') }} = 'estimable'
            as is_estimable
    from tasks
    left join respondents_counted
        on tasks.mode = respondents_counted.mode
        and tasks.task = respondents_counted.task
    left join totals
        on tasks.mode = totals.mode
        and tasks.task = totals.task
    left join coefficients as wholes
        on tasks.mode = wholes.mode
        and tasks.task = wholes.task
        and wholes.left_out = 'all'
    left join jackknifed
        on tasks.mode = jackknifed.mode
        and tasks.task = jackknifed.task

),

item_summary as (

    select
        ---------- ids
        judged.mode,
        judged.task,

        ---------- counts
        cast(judged.n as integer) as n,
        cast(judged.n_asked as integer) as n_asked,
        cast(judged.n_models as integer) as n_models,
        cast(judged.n_models_asked as integer) as n_models_asked,
        cast(judged.n_templates as integer) as n_templates,
        cast(judged.n_templates_asked as integer) as n_templates_asked,

        ---------- reliability
        case when judged.is_estimable then {{ rounded_share('judged.kr20') }} end as kr20,
        case
            when judged.is_estimable and judged.kr20 < 1 and judged.log_error is not null
                then {{ rounded_share(
                    'greatest(-999.0, 1 - (1 - judged.kr20) * exp('
                    ~ var('interval_z') ~ ' * judged.log_error))'
                ) }}
        end as kr20_low,
        case when judged.is_estimable and judged.kr20 < 1 then {{ rounded_share(
            '1 - (1 - judged.kr20) * exp(-' ~ var('interval_z') ~ ' * judged.log_error)'
        ) }} end as kr20_high,

        ---------- items to look at
        cast(coalesce(items_counted.n_analysed, 0) as integer) as n_analysed,
        {%- for flag in ['all_miss', 'all_solve', 'negative_discrimination'] %}
        cast(coalesce(items_counted.n_{{ flag }}, 0) as integer) as n_{{ flag }},
        {%- endfor %}
        cast(coalesce(distractors_counted.n_distractors, 0) as integer) as n_distractors,
        cast(coalesce(distractors_counted.n_non_functioning, 0) as integer) as n_non_functioning,
        case when judged.is_estimable then 'estimable' else 'not_estimable' end as status
    from judged
    left join items_counted
        on judged.mode = items_counted.mode
        and judged.task = items_counted.task
    left join distractors_counted
        on judged.mode = distractors_counted.mode
        and judged.task = distractors_counted.task

)

select * from item_summary
