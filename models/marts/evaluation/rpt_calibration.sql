{%- set tail = var('bootstrap_tail') %}

with

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1
        and n_options = {{ var('calibration_options') }}

),

arms as (

    select * from {{ ref('prompt_arms') }}
    where scenario = 'own'
        and options in ('own', 'unlisted')
        and not has_abstention

),

confidences as (

    select * from {{ ref('int_confidences_binned') }}

),

-- Confidence is stated where the arm asks for it.
kinds as (

    select
        arm,
        'option_probability' as confidence_kind
    from arms

    union all

    select
        arm,
        'stated' as confidence_kind
    from arms
    where instruction_part = 'instruction_confidence'

),

asked as (

    select
        requests.model,
        requests.mode,
        requests.arm,
        kinds.confidence_kind,
        coalesce(requests.task, 'all') as task,
        count(*) as n_asked,
        row_number() over (
            order by
                requests.model,
                requests.mode,
                requests.arm,
                kinds.confidence_kind,
                coalesce(requests.task, 'all')
        ) as series
    from requests
    inner join kinds
        on requests.arm = kinds.arm
    group by grouping sets (
        (requests.model, requests.mode, requests.arm, kinds.confidence_kind),
        (requests.model, requests.mode, requests.arm, kinds.confidence_kind, requests.task)
    )

),

-- Confidence and what it is off by, in millionths.
answers as (

    select
        asked.series,
        confidences.item_id,
        confidences.template_key,
        confidences.person_group,
        confidences.answer_cui_id,
        confidences.bin,
        confidences.correct,
        cast(confidences.confidence * 1000000 as bigint) as confidence,
        cast(confidences.confidence * 1000000 as bigint) - confidences.correct * 1000000 as gap
    from confidences
    inner join asked
        on confidences.model = asked.model
        and confidences.mode = asked.mode
        and confidences.arm = asked.arm
        and confidences.confidence_kind = asked.confidence_kind
        and confidences.task = asked.task

),

---------- AUROC: pairs of a right and a wrong answer in order, ties counting half

confidences_counted as (

    select
        series,
        confidence,
        sum(correct) as n_right,
        sum(1 - correct) as n_wrong
    from answers
    group by
        series,
        confidence

),

confidences_ordered as (

    select
        *,
        sum(n_right) over (partition by series) as all_right,
        sum(n_wrong) over (partition by series) as all_wrong,
        2 * sum(n_wrong) over (
            partition by series order by confidence rows unbounded preceding
        ) - n_wrong as doubled_wrong_below,
        2 * sum(n_right) over (
            partition by series order by confidence desc rows unbounded preceding
        ) - n_right as doubled_right_above
    from confidences_counted

),

ranked as (

    select
        *,
        cast(sum(n_right * doubled_wrong_below) over (partition by series) as double)
            / (2.0 * all_right * all_wrong) as auroc
    from confidences_ordered
    where all_right > 0
        and all_wrong > 0

),

auroc_values as (

    select
        answers.series,
        answers.template_key,
        answers.person_group,
        answers.answer_cui_id,
        case
            when answers.correct = 1 then ranked.auroc + (
                cast(ranked.doubled_wrong_below as double) / (2.0 * ranked.all_wrong) - ranked.auroc
            ) * (ranked.all_right + ranked.all_wrong) / ranked.all_right
            else ranked.auroc + (
                cast(ranked.doubled_right_above as double) / (2.0 * ranked.all_right) - ranked.auroc
            ) * (ranked.all_right + ranked.all_wrong) / ranked.all_wrong
        end as value
    from answers
    inner join ranked
        on answers.series = ranked.series
        and answers.confidence = ranked.confidence

),

---------- figures that are means or have pseudo-values

figure_rows as (

    {%- for figure, value in {
        'mean_confidence': 'confidence * 1000000',
        'accuracy': 'correct * 1000000000000',
        'overconfidence': 'gap * 1000000',
        'brier': 'gap * gap',
    }.items() %}
    select
        series,
        '{{ figure }}' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast({{ value }} as bigint) as value
    from answers
    union all
    {%- endfor %}
    select
        series,
        'auroc' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast(round(1e12 * value) as bigint) as value
    from auroc_values

),

{{ figure_intervals('figures', 'figure_rows', ['series', 'figure'],
    "means.figure <> 'overconfidence'") }},

pivoted as (

    select
        series,
        max(n) as n,
        max(n_templates) as n_templates,
        max(n_persons) as n_persons,
        {%- for figure in ['mean_confidence', 'accuracy', 'overconfidence', 'brier', 'auroc'] %}
        {%- for column in ['mean', 'low', 'high'] %}
        max({{ column }}) filter (where figure = '{{ figure }}')
            as {{ figure }}{{ '_' ~ column if column != 'mean' }},
        {%- endfor %}
        {%- endfor %}
    from figures
    group by series

),

---------- ECE: bins stay those of the data while persons are drawn anew

drawable as (

    select
        series,
        person_group,
        1 as n,
        correct as hits
    from answers

),

{{ bootstrap_sums('draws', 'drawable', ['series']) }},

person_gaps as (

    select
        answers.series,
        answers.bin,
        draws_numbered.group_number,
        sum(answers.gap) as gap
    from answers
    inner join draws_numbered
        on answers.person_group = draws_numbered.person_group
    group by
        answers.series,
        answers.bin,
        draws_numbered.group_number

),

-- Few persons have answers in a bin: the lists hold theirs alone.
bin_gaps as (

    select
        series,
        bin,
        list(group_number order by group_number) as group_numbers,
        list(cast(gap as double) order by group_number) as gaps
    from person_gaps
    group by
        series,
        bin

),

-- By itself: a join in between would copy the lists for each of its rows.
gaps_drawn as (

    select
        draws_weights.replicate,
        bin_gaps.series,
        list_inner_product(
            list_select(draws_weights.weights, bin_gaps.group_numbers), bin_gaps.gaps
        ) as gap,
        list_sum(bin_gaps.gaps) as gap_of_data
    from draws_weights
    cross join bin_gaps

),

-- A replicate may draw nobody of a series. Sums of millionths are whole, so exact in any order.
bins_drawn as (

    select
        gaps_drawn.replicate,
        gaps_drawn.series,
        gaps_drawn.gap / draws.n / 1000000 as gap,
        gaps_drawn.gap_of_data / answered.n / 1000000 as gap_of_data
    from gaps_drawn
    inner join draws
        on gaps_drawn.replicate = draws.replicate
        and gaps_drawn.series = draws.series
    inner join draws as answered
        on gaps_drawn.series = answered.series
        and answered.replicate = 0
    where draws.n > 0

),

errors_drawn as (

    select
        replicate,
        series,
        sum(abs(gap)) as ece,
        sum(abs(gap - gap_of_data)) as noise
    from bins_drawn
    group by
        replicate,
        series

),

errors_spread as (

    select
        series,
        max(ece) filter (where replicate = 0) as ece,
        quantile_cont(ece, {{ 1 - tail }}) filter (where replicate > 0) as ece_high,
        stddev_samp(ece) filter (where replicate > 0) as ece_error,
        avg(noise) filter (where replicate > 0) as noise_mean,
        quantile_cont(noise, {{ 1 - tail }}) filter (where replicate > 0) as noise_high
    from errors_drawn
    group by series

),

---------- report

judged as (

    select
        asked.*,
        coalesce(pivoted.n, 0) as n,
        coalesce(pivoted.n_templates, 0) as n_templates,
        coalesce(pivoted.n_persons, 0) as n_persons,
        case
            when pivoted.n is null then 'no_confidence'
            when {{ estimate_status('pivoted.n_templates') }} <> 'estimable' then 'few_templates'
        end as reason
    from asked
    left join pivoted
        on asked.series = pivoted.series

),

final as (

    select
        ---------- ids
        judged.model,
        judged.mode,
        judged.arm,
        judged.confidence_kind,
        judged.task,

        ---------- counts
        cast(judged.n as integer) as n,
        cast(judged.n_asked as integer) as n_asked,
        cast(judged.n_templates as integer) as n_templates,
        cast(judged.n_persons as integer) as n_clusters,

        ---------- figures
        {%- for figure in ['mean_confidence', 'accuracy', 'overconfidence', 'brier', 'auroc'] %}
        {%- for column in [figure, figure ~ '_low', figure ~ '_high'] %}
        {{ rounded_share('pivoted.' ~ column) }} as {{ column }},
        {%- endfor %}
        {%- endfor %}
        {{ rounded_share('errors_spread.ece') }} as ece,
        {%- for side in ['low', 'high'] %}
        case when pivoted.n_persons >= 2 then {{ rounded_share(norm_interval(
            'errors_spread.ece', 'errors_spread.ece_high', 'errors_spread.ece_error',
            'errors_spread.noise_mean', 'errors_spread.noise_high', side
        )) }} end as ece_{{ side }},
        {%- endfor %}
        case when judged.reason is null then 'estimable' else 'not_estimable' end as status,
        judged.reason
    from judged
    left join pivoted
        on judged.series = pivoted.series
        and judged.reason is null
    left join errors_spread
        on judged.series = errors_spread.series
        and judged.reason is null

)

select * from final
