-- Answers with a confidence and the bin that it falls into: bins of equal mass within what is
-- reported together, answers of equal confidence in one bin: that of the middle of their ranks.
-- Parted, each part would be off by chance, and a constant that is right as often as it says would
-- have an error. One option count alone, because what a confidence can be depends on it.
with

scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1
        and n_options = {{ var('calibration_options') }}
        and chosen_position is not null

),

-- Arms that show the item as it is meant; the option to abstain would be one more to share among.
arms as (

    select * from {{ ref('prompt_arms') }}
    where scenario = 'own'
        and options in ('own', 'unlisted')
        and not has_abstention

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

pooled as (

    select scores.*
    from scores
    semi join arms
        on scores.arm = arms.arm
    semi join pooled_sources
        on scores.source = pooled_sources.source

),

confidences as (

    {%- for kind, column in {
        'option_probability': 'p_chosen',
        'stated': 'stated_confidence',
    }.items() %}
    {%- for task in ['task', "'all'"] %}
    select
        model,
        mode,
        arm,
        '{{ kind }}' as confidence_kind,
        {{ task }} as task,
        item_id,
        template_key,
        person_group,
        coalesce(answer_cui_id, 0) as answer_cui_id,
        correct,
        cast({{ column }} as decimal(9, 6)) as confidence
    from pooled
    where {{ column }} is not null
    {{ 'union all' if not loop.last }}
    {%- endfor %}
    {{ 'union all' if not loop.last }}
    {%- endfor %}

),

-- Twice the middle rank of those that tie, from 1, less 1: a whole number below twice their count.
ranked as (

    select
        *,
        2 * rank() over in_order - 2 + count(*) over (
            partition by
                model,
                mode,
                arm,
                confidence_kind,
                task,
                confidence
        ) as doubled_rank,
        count(*) over (
            partition by
                model,
                mode,
                arm,
                confidence_kind,
                task
        ) as n_answers
    from confidences
    window in_order as (
        partition by
            model,
            mode,
            arm,
            confidence_kind,
            task
        order by confidence
    )

),

binned as (

    select
        model,
        mode,
        arm,
        confidence_kind,
        task,
        item_id,
        template_key,
        person_group,
        answer_cui_id,
        correct,
        confidence,
        cast(
            doubled_rank * {{ var('calibration_bins') }} // (2 * n_answers) + 1 as integer
        ) as bin
    from ranked

)

select * from binned
