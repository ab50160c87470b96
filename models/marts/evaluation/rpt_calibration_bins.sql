with

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1
        and n_options = {{ var('calibration_options') }}

),

confidences as (

    select * from {{ ref('int_confidences_binned') }}

),

asked as (

    select
        model,
        mode,
        arm,
        coalesce(task, 'all') as task,
        count(*) as n_asked
    from requests
    group by grouping sets (
        (model, mode, arm),
        (model, mode, arm, task)
    )

),

bins as (

    select
        model,
        mode,
        arm,
        confidence_kind,
        task,
        bin,
        min(confidence) as lowest,
        max(confidence) as highest,
        row_number() over (order by model, mode, arm, confidence_kind, task, bin) as series
    from confidences
    group by
        model,
        mode,
        arm,
        confidence_kind,
        task,
        bin

),

figure_rows as (

    {%- for figure, value in {
        'mean_confidence': 'confidences.confidence',
        'accuracy': 'confidences.correct',
    }.items() %}
    select
        bins.series,
        '{{ figure }}' as figure,
        1 as part,
        confidences.template_key,
        confidences.person_group,
        confidences.answer_cui_id,
        1 as n,
        cast({{ value }} * 1000000 as bigint) * 1000000 as value
    from confidences
    inner join bins
        on confidences.model = bins.model
        and confidences.mode = bins.mode
        and confidences.arm = bins.arm
        and confidences.confidence_kind = bins.confidence_kind
        and confidences.task = bins.task
        and confidences.bin = bins.bin
    {{ 'union all' if not loop.last }}
    {%- endfor %}

),

{{ figure_intervals('figures', 'figure_rows', ['series', 'figure'], 'true') }},

final as (

    select
        ---------- ids
        bins.model,
        bins.mode,
        bins.arm,
        bins.confidence_kind,
        bins.task,
        bins.bin,

        ---------- counts
        cast(accuracies.n as integer) as n,
        cast(asked.n_asked as integer) as n_asked,
        cast(accuracies.n_templates as integer) as n_templates,
        cast(accuracies.n_persons as integer) as n_clusters,

        ---------- figures
        bins.lowest as confidence_from,
        bins.highest as confidence_to,
        {%- for figure, relation in {
            'mean_confidence': 'means', 'accuracy': 'accuracies'
        }.items() %}
        {%- for column, end in {'mean': '', 'low': '_low', 'high': '_high'}.items() %}
        case when {{ estimate_status('accuracies.n_templates') }} = 'estimable' then
            {{ rounded_share(relation ~ '.' ~ column) }}
        end as {{ figure }}{{ end }},
        {%- endfor %}
        {%- endfor %}
        {{ estimate_status('accuracies.n_templates') }} as status
    from bins
    inner join figures as means
        on bins.series = means.series
        and means.figure = 'mean_confidence'
    inner join figures as accuracies
        on bins.series = accuracies.series
        and accuracies.figure = 'accuracy'
    inner join asked
        on bins.model = asked.model
        and bins.mode = asked.mode
        and bins.arm = asked.arm
        and bins.task = asked.task

)

select * from final
