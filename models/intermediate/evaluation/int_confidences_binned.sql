-- Answers with a confidence and the bin that it falls into: bins of equal mass within what is
-- reported together. One option count alone, because what a confidence can be depends on it.
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

binned as (

    select
        *,
        cast(ntile({{ var('calibration_bins') }}) over (
            partition by
                model,
                mode,
                arm,
                confidence_kind,
                task
            order by
                confidence,
                item_id
        ) as integer) as bin
    from confidences

)

select * from binned
