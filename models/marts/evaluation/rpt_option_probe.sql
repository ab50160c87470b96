-- Does accuracy fall with the number of options as fast as lucky guesses do? Someone who knows the
-- answer or else guesses blindly, and is right with share a of m options, knows (a - 1/m) / (1 -
-- 1/m) of them, so is right with 1/k + (1 - 1/k) (a - 1/m) / (1 - 1/m) of k options. A gap below
-- zero says that further distractors draw errors of their own. All figures are of templates that
-- the model has answered with both option counts.
{%- set base = var('item_option_counts') | min %}
{%- set others = var('item_option_counts') | reject('equalto', base) | sort %}

with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

headline_asked as (

    select * from {{ ref('int_headline_asked') }}

),

subset as (

    select * from {{ ref('int_subset_templates') }}

),

option_counts (n_options, slope, at_zero) as (

    {% for k in others -%}
    {%- set slope = (1 - 1 / k) / (1 - 1 / base) -%}
    select
        {{ k }},
        cast({{ slope }} as double),
        cast({{ 1 / k - slope / base }} as double)
    {%- if not loop.last %}
    union all
    {% endif %}
    {%- endfor %}

),

series as (

    select
        model,
        mode,
        row_number() over (order by model, mode) as series
    from headline_asked
    group by
        model,
        mode

),

persons as (

    select
        person_group,
        row_number() over (order by person_group) as person
    from scores
    group by person_group

),

-- Cells that the subset can estimate, over all tasks and for each alone.
subset_cells as (

    select
        fewer.task,
        more.n_options,
        count(distinct fewer.template_key) as n_templates
    from subset as fewer
    inner join subset as more
        on fewer.template_key = more.template_key
        and fewer.n_options = {{ base }}
        and more.n_options > fewer.n_options
    group by
        fewer.task,
        more.n_options

),

scopes (task, scope) as (

    {%- for task in ['dx', 'tx', 'px'] %}
    select '{{ task }}', 'overall'
    union all
    select '{{ task }}', '{{ task }}'
    {{- ' union all' if not loop.last }}
    {%- endfor %}

),

wanted as (

    select
        scopes.scope,
        subset_cells.task,
        subset_cells.n_options,
        row_number() over (order by scopes.scope, subset_cells.task, subset_cells.n_options)
            as cell,
        count(*) over (partition by scopes.scope, subset_cells.n_options) as n_cells
    from subset_cells
    inner join scopes
        on subset_cells.task = scopes.task
    where {{ estimate_status('subset_cells.n_templates') }} = 'estimable'

),

-- Billionths of the template's items with so many options.
templates as (

    select
        series.series,
        scores.task,
        scores.n_options,
        scores.template_key,
        persons.person as person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        cast(sum(scores.correct) as bigint) * 1000000000 // count(*) as share
    from scores
    inner join series
        on scores.model = series.model
        and scores.mode = series.mode
    inner join persons
        on scores.person_group = persons.person_group
    group by
        series.series,
        scores.task,
        scores.n_options,
        scores.template_key,
        persons.person,
        scores.answer_cui_id

),

paired as (

    select
        more.series,
        more.task,
        more.n_options,
        more.person_group,
        more.answer_cui_id,
        more.share,
        fewer.share as base_share,
        cast(round(
            more.share - option_counts.slope * fewer.share - option_counts.at_zero * 1000000000
        ) as bigint) as gap
    from templates as more
    inner join templates as fewer
        on more.series = fewer.series
        and more.template_key = fewer.template_key
        and fewer.n_options = {{ base }}
    inner join option_counts
        on more.n_options = option_counts.n_options

),

cells as (

    select
        paired.series,
        wanted.scope,
        wanted.n_options,
        wanted.cell,
        figures.figure,
        paired.person_group,
        paired.answer_cui_id,
        1 as n,
        case figures.figure
            when 'accuracy' then paired.share
            when 'base_accuracy' then paired.base_share
            else paired.gap
        end as value
    from paired
    inner join wanted
        on paired.task = wanted.task
        and paired.n_options = wanted.n_options
    cross join (values ('accuracy'), ('base_accuracy'), ('gap')) as figures (figure)

),

cells_counted as (

    select
        series,
        scope,
        n_options,
        cell,
        count(*) as n_templates
    from cells
    where figure = 'gap'
    group by
        series,
        scope,
        n_options,
        cell

),

templates_counted as (

    select
        series,
        scope,
        n_options,
        sum(n_templates) as n_templates,
        count(*) filter (where {{ estimate_status('n_templates') }} = 'estimable') as n_estimable
    from cells_counted
    group by
        series,
        scope,
        n_options

),

{{ mean_of_cells('means', 'cells', ['series', 'scope', 'n_options', 'figure']) }},

figures as (

    select
        series,
        scope,
        n_options,
        max(n_persons) as n_clusters,
        {%- for figure in ['accuracy', 'base_accuracy', 'gap'] %}
        max(mean) filter (where figure = '{{ figure }}') as {{ figure }},
        max(
            case
                when n_cells = 1 and figure <> 'gap' then standard_error
                else sqrt(standard_error * standard_error + agreed_variance)
            end
        ) filter (where figure = '{{ figure }}') as {{ figure }}_error
        {{- ',' if not loop.last }}
        {%- endfor %}
    from means
    group by
        series,
        scope,
        n_options

),

counted as (

    select
        scopes.scope,
        answers.model,
        answers.mode,
        answers.n_options,
        sum(answers.n) as n,
        sum(answers.n_asked) as n_asked
    from (
        select model, mode, task, n_options, 0 as n, n_asked from headline_asked
        union all
        select model, mode, task, n_options, 1 as n, 0 as n_asked from scores
    ) as answers
    inner join scopes
        on answers.task = scopes.task
    group by
        scopes.scope,
        answers.model,
        answers.mode,
        answers.n_options

),

judged as (

    select
        series.model,
        series.mode,
        names.scope,
        option_counts.n_options,
        option_counts.slope,
        option_counts.at_zero,
        coalesce(counted.n, 0) as n,
        coalesce(counted.n_asked, 0) as n_asked,
        coalesce(templates_counted.n_templates, 0) as n_templates,
        coalesce(figures.n_clusters, 0) as n_clusters,
        coalesce(templates_counted.n_estimable = cells_wanted.n_cells, false) as is_estimable,
        {%- for figure in ['accuracy', 'base_accuracy', 'gap'] %}
        figures.{{ figure }},
        figures.{{ figure }}_error
        {{- ',' if not loop.last }}
        {%- endfor %}
    from series
    cross join (select distinct scope from scopes) as names
    cross join option_counts
    left join (select distinct scope, n_options, n_cells from wanted) as cells_wanted
        on names.scope = cells_wanted.scope
        and option_counts.n_options = cells_wanted.n_options
    left join counted
        on series.model = counted.model
        and series.mode = counted.mode
        and names.scope = counted.scope
        and option_counts.n_options = counted.n_options
    left join templates_counted
        on series.series = templates_counted.series
        and names.scope = templates_counted.scope
        and option_counts.n_options = templates_counted.n_options
    left join figures
        on series.series = figures.series
        and names.scope = figures.scope
        and option_counts.n_options = figures.n_options

),

bounded as (

    select
        *,
        {%- for side in ['low', 'high'] %}
        {{ clustered_interval('accuracy', 'accuracy_error', 'n_clusters', side) }}
            as accuracy_{{ side }},
        {{ clustered_interval('base_accuracy', 'base_accuracy_error', 'n_clusters', side) }}
            as base_accuracy_{{ side }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from judged

),

option_probe as (

    select
        ---------- ids
        model,
        mode,
        scope,
        cast(n_options as integer) as n_options,

        ---------- counts
        cast(n as integer) as n,
        cast(n_asked as integer) as n_asked,
        cast(n_templates as integer) as n_templates,
        cast(n_clusters as integer) as n_clusters,

        ---------- figures
        {%- for side in ['', '_low', '_high'] %}
        case when is_estimable then {{ rounded_share('accuracy' ~ side) }} end
            as accuracy{{ side }},
        case when is_estimable then {{ rounded_share('base_accuracy' ~ side) }} end
            as base_accuracy{{ side }},
        case when is_estimable then
            {{ rounded_share('at_zero + slope * base_accuracy' ~ side) }}
        end as expected{{ side }},
        {%- endfor %}
        case when is_estimable then {{ rounded_share('gap') }} end as gap,
        case when is_estimable and gap_error is not null then {{ rounded_share(
            'greatest(-1.0, gap - ' ~ var('interval_z') ~ ' * gap_error)'
        ) }} end as gap_low,
        case when is_estimable and gap_error is not null then {{ rounded_share(
            'least(1.0 - at_zero, gap + ' ~ var('interval_z') ~ ' * gap_error)'
        ) }} end as gap_high,
        case when is_estimable and gap_error > 0 then
            cast(round({{ normal_p('(gap / gap_error)') }}, 12) as decimal(18, 12))
        end as p_value,
        case when is_estimable then 'estimable' else 'not_estimable' end as status
    from bounded

)

select * from option_probe
