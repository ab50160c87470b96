-- Does more context help? The same items with 2, 3, … context events: accuracy at every size and
-- what it changes against the item's own size, on the items that a model answered at all sizes.
with

scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1

),

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1

),

arms as (

    select
        arm,
        coalesce(n_context, {{ var('context_events') }}) as n_context
    from {{ ref('prompt_arms') }}
    where n_context is not null
        or is_headline

),

sized_requests as (

    select
        requests.model,
        requests.mode,
        requests.item_id,
        arms.n_context
    from requests
    inner join arms
        on requests.arm = arms.arm

),

series as (

    select
        model,
        mode,
        count(distinct n_context) as n_sizes,
        row_number() over (order by model, mode) as series
    from sized_requests
    group by
        model,
        mode
    having count(distinct n_context) > 1

),

sizes as (

    select distinct
        series.series,
        sized_requests.n_context
    from sized_requests
    inner join series
        on sized_requests.model = series.model
        and sized_requests.mode = series.mode

),

asked as (

    select
        series.series,
        sized_requests.item_id
    from sized_requests
    inner join series
        on sized_requests.model = series.model
        and sized_requests.mode = series.mode
    group by
        series.series,
        sized_requests.item_id
    having count(distinct sized_requests.n_context) = max(series.n_sizes)

),

asked_counted as (

    select
        series,
        count(*) as n_asked
    from asked
    group by series

),

answered as (

    select
        series.series,
        arms.n_context,
        scores.item_id,
        scores.template_key,
        scores.person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        scores.correct
    from scores
    inner join arms
        on scores.arm = arms.arm
    inner join series
        on scores.model = series.model
        and scores.mode = series.mode
    semi join asked
        on series.series = asked.series
        and scores.item_id = asked.item_id
    qualify count(*) over (partition by series.series, scores.item_id) = series.n_sizes

),

figure_rows as (

    select
        series,
        n_context,
        'accuracy' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast(correct as bigint) * 1000000000000 as value
    from answered

    union all

    select
        wider.series,
        wider.n_context,
        'change' as figure,
        1 as part,
        wider.template_key,
        wider.person_group,
        wider.answer_cui_id,
        1 as n,
        cast(wider.correct - own.correct as bigint) * 1000000000000 as value
    from answered as wider
    inner join answered as own
        on wider.series = own.series
        and wider.item_id = own.item_id
        and own.n_context = {{ var('context_events') }}
        and wider.n_context > own.n_context

),

{{ figure_intervals('figures', 'figure_rows', ['series', 'n_context', 'figure'],
    "means.figure = 'accuracy'") }},

judged as (

    select
        series.model,
        series.mode,
        sizes.n_context,
        coalesce(accuracies.n, 0) as n,
        coalesce(asked_counted.n_asked, 0) as n_asked,
        coalesce(accuracies.n_templates, 0) as n_templates,
        coalesce(accuracies.n_persons, 0) as n_persons,
        accuracies.mean as accuracy,
        accuracies.low as accuracy_low,
        accuracies.high as accuracy_high,
        changes.mean as change,
        changes.low as change_low,
        changes.high as change_high,
        {{ estimate_status('coalesce(accuracies.n_templates, 0)') }} as status
    from sizes
    inner join series
        on sizes.series = series.series
    left join asked_counted
        on sizes.series = asked_counted.series
    left join figures as accuracies
        on sizes.series = accuracies.series
        and sizes.n_context = accuracies.n_context
        and accuracies.figure = 'accuracy'
    left join figures as changes
        on sizes.series = changes.series
        and sizes.n_context = changes.n_context
        and changes.figure = 'change'

),

context_size as (

    select
        ---------- ids
        model,
        mode,
        cast(n_context as integer) as n_context,

        ---------- counts
        cast(n as integer) as n,
        cast(n_asked as integer) as n_asked,
        cast(n_templates as integer) as n_templates,
        cast(n_persons as integer) as n_clusters,

        ---------- figures
        {%- for figure in ['accuracy', 'change'] %}
        {%- for end in ['', '_low', '_high'] %}
        case when status = 'estimable' then {{ rounded_share(figure ~ end) }} end
            as {{ figure }}{{ end }},
        {%- endfor %}
        {%- endfor %}

        ---------- state
        status
    from judged

)

select * from context_size
