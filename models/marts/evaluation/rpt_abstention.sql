-- The arms of a model and mode on the same items: those that each of its answered arms has answered.
{#- The least that a penalty score can be: all wrong. -#}
{%- set lowest %}
case means.figure
    {%- for penalty in var('abstention_penalties') %}
    when 'penalty_{{ penalty }}' then
        -{{ 1 / (var('item_option_counts') | min - 1) if penalty == 'chance' else penalty }}
    {%- endfor %}
end
{%- endset %}

with

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1

),

scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1

),

arms as (

    select
        *,
        is_headline and options = 'own' as is_standard
    from {{ ref('prompt_arms') }}
    where has_abstention
        or (is_headline and options = 'own')

),

---------- asked

arms_asked as (

    select
        requests.model,
        requests.mode,
        requests.arm
    from requests
    semi join arms
        on requests.arm = arms.arm
    group by
        requests.model,
        requests.mode,
        requests.arm

),

series as (

    select
        arms_asked.model,
        arms_asked.mode,
        count(*) as n_arms,
        row_number() over (order by arms_asked.model, arms_asked.mode) as series
    from arms_asked
    inner join arms
        on arms_asked.arm = arms.arm
    group by
        arms_asked.model,
        arms_asked.mode
    having bool_or(arms.has_abstention)

),

items_asked as (

    select
        series.series,
        requests.item_id
    from requests
    semi join arms
        on requests.arm = arms.arm
    inner join series
        on requests.model = series.model
        and requests.mode = series.mode
    group by
        series.series,
        requests.item_id,
        series.n_arms
    having count(*) = series.n_arms

),

asked as (

    select
        series,
        count(*) as n_asked
    from items_asked
    group by series

),

---------- answered

answers as (

    select
        series.series,
        arms.arm,
        arms.is_standard,
        arms.has_abstention,
        arms.should_abstain,
        scores.item_id,
        scores.template_key,
        scores.person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        scores.n_options,
        scores.correct,
        scores.abstained,
        cast(scores.chosen_position is not null and scores.abstained = 0 as integer) as answered,
        scores.p_chosen
    from scores
    inner join arms
        on scores.arm = arms.arm
    inner join series
        on scores.model = series.model
        and scores.mode = series.mode
    semi join items_asked
        on series.series = items_asked.series
        and scores.item_id = items_asked.item_id

),

arms_answered as (

    select
        series,
        count(distinct arm) as n_arms
    from answers
    group by series

),

items as (

    select
        answers.series,
        answers.item_id,
        max(answers.correct) filter (where answers.is_standard) as standard_correct
    from answers
    inner join arms_answered
        on answers.series = arms_answered.series
    group by
        answers.series,
        answers.item_id,
        arms_answered.n_arms
    having count(*) = arms_answered.n_arms

),

paired as (

    select
        answers.*,
        items.standard_correct
    from answers
    inner join items
        on answers.series = items.series
        and answers.item_id = items.item_id

),

---------- risk and coverage: the most confident answers first

risks_counted as (

    select
        *,
        1 - correct as wrong,
        row_number() over by_confidence as place,
        sum(1 - correct) over (by_confidence rows unbounded preceding) as n_wrong,
        count(*) over (partition by series, arm) as n
    from paired
    where answered = 1
        and not should_abstain
        and p_chosen is not null
    window by_confidence as (
        partition by series, arm
        order by p_chosen desc, item_id
    )

),

-- Risks and what they give to the area, in whole 1e-15, so that the order of sums decides nothing.
risks as (

    select
        *,
        cast(round(1e15 * n_wrong / place) as hugeint) as risk,
        cast(round(1e15 / place) as hugeint) as part_of_wrong,
        cast(round(1e15 * n_wrong / place / place) as hugeint) as part_of_risk
    from risks_counted

),

-- Pseudo-values of the mean risk (linearised): an answer has a risk of its own, and it moves those of
-- all coverages from its own on.
risks_moved as (

    select
        *,
        cast(risk as double) / 1e15
            + wrong * cast(sum(part_of_wrong) over from_here as double) / 1e15
            - cast(sum(part_of_risk) over from_here as double) / 1e15 as value
    from risks
    window from_here as (
        partition by series, arm
        order by place desc
        rows unbounded preceding
    )

),

---------- figures

figure_rows as (

    {%- for figure, value, condition in [
        ('abstain_rate', 'abstained', 'has_abstention'),
        ('accuracy', 'correct', 'true'),
        ('selective_accuracy', 'correct', 'answered = 1 and not should_abstain'),
        ('error_answered', 'answered', 'should_abstain'),
        ('error_abstained', 'abstained',
            'has_abstention and not should_abstain and standard_correct = 1'),
    ] %}
    select
        series,
        arm,
        '{{ figure }}' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast({{ value }} as bigint) * 1000000000000 as value
    from paired
    where {{ condition }}
    union all
    {%- endfor %}
    {%- for penalty in var('abstention_penalties') %}
    select
        series,
        arm,
        'penalty_{{ penalty }}' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        case
            when correct = 1 then 1000000000000
            when abstained = 1 then 0
            else -cast(round(
                1e12 * {{ '1 / (n_options - 1)' if penalty == 'chance' else penalty }}
            ) as bigint)
        end as value
    from paired
    union all
    {%- endfor %}
    select
        series,
        arm,
        'aurc' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast(round(1e12 * value) as bigint) as value
    from risks_moved

),

{{ figure_intervals('figures', 'figure_rows', ['series', 'arm', 'figure'],
    "not starts_with(means.figure, 'penalty')", lowest) }},

---------- report

wanted as (

    select
        series.series,
        series.model,
        series.mode,
        arms.arm,
        names.figure
    from arms_asked
    inner join series
        on arms_asked.model = series.model
        and arms_asked.mode = series.mode
    inner join arms
        on arms_asked.arm = arms.arm
    inner join (values
        ('abstain_rate', 'offered'), ('accuracy', 'any'), ('selective_accuracy', 'answerable'),
        ('error_answered', 'unanswerable'), ('error_abstained', 'offered_answerable'),
        {%- for penalty in var('abstention_penalties') %}
        ('penalty_{{ penalty }}', 'any'),
        {%- endfor %}
        ('aurc', 'answerable')
    ) as names (figure, arms_of)
        on names.arms_of = 'any'
        or (names.arms_of = 'offered' and arms.has_abstention)
        or (names.arms_of = 'answerable' and not arms.should_abstain)
        or (names.arms_of = 'unanswerable' and arms.should_abstain)
        or (
            names.arms_of = 'offered_answerable'
            and arms.has_abstention
            and not arms.should_abstain
        )

),

items_counted as (

    select
        series,
        count(*) as n_items
    from items
    group by series

),

judged as (

    select
        wanted.*,
        coalesce(asked.n_asked, 0) as n_asked,
        coalesce(items_counted.n_items, 0) as n_items,
        figures.n,
        figures.n_templates,
        figures.n_persons,
        figures.mean,
        figures.low,
        figures.high,
        case
            when items_counted.n_items is null then 'no_common_items'
            when figures.n is null and wanted.figure = 'aurc' then 'no_probabilities'
            when coalesce(figures.n_templates, 0) < {{ var('evaluation_min_templates') }}
                then 'few_templates'
        end as reason
    from wanted
    left join asked
        on wanted.series = asked.series
    left join items_counted
        on wanted.series = items_counted.series
    left join figures
        on wanted.series = figures.series
        and wanted.arm = figures.arm
        and wanted.figure = figures.figure

),

final as (

    select
        ---------- ids
        model,
        mode,
        arm,
        figure,

        ---------- counts
        cast(coalesce(n, 0) as integer) as n,
        cast(n_items as integer) as n_items,
        cast(n_asked as integer) as n_asked,
        cast(coalesce(n_templates, 0) as integer) as n_templates,
        cast(coalesce(n_persons, 0) as integer) as n_clusters,

        ---------- figure
        case when reason is null then {{ rounded_share('mean') }} end as estimate,
        case when reason is null then {{ rounded_share('low') }} end as estimate_low,
        case when reason is null then {{ rounded_share('high') }} end as estimate_high,
        case when reason is null then 'estimable' else 'not_estimable' end as status,
        reason
    from judged

)

select * from final
