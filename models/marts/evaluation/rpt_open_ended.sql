-- A row of a task is its own figures; the row `all` is the plain mean of the tasks that have
-- templates enough among those asked. A figure of fewer templates than is estimable is null.
{%- set shares = {
    'rc_gold': 'rc_gold',
    'rc_any': 'rc_any',
    'rc_answer': 'rc_answer',
    'rc_relation': 'rc_relation',
    'share_cui': "cast(match_level = 'cui' as integer)",
    'share_synonym': "cast(match_level = 'synonym' as integer)",
    'share_child': "cast(match_level = 'child' as integer)",
    'share_parent': "cast(match_level = 'parent' as integer)",
    'share_same_class': "cast(match_level = 'same_class' as integer)",
    'share_miss': "cast(match_level = 'miss' as integer)",
    'rouge_1': 'rouge_1',
    'rouge_l': 'rouge_l',
    'bertscore': 'bertscore',
    'hedged': 'is_hedged',
    'abstained': 'is_abstained',
    'overconfidence': 'case when rc_any = 0 then 1 - greatest(is_hedged, is_abstained) end',
    'cut_off': 'is_cut',
} %}
{%- set counts = {'mean_words': 'n_words', 'mean_answers_named': 'n_answers_named'} %}
{%- set figures = dict(shares, **counts) %}
{%- set text_figures = {'rouge': 'rouge_1', 'bertscore': 'bertscore'} %}

with

scores as (

    select * from {{ ref('fct_open_scores') }}
    where repetition = 1

),

requests as (

    select * from {{ ref('int_answer_requests') }}
    where format = 'oeq'
        and mode = 'free'
        and repetition = 1

),

templates as (

    select * from {{ ref('int_templates') }}

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

asked as (

    select
        requests.model,
        requests.task,
        requests.template_key
    from requests
    inner join templates
        on requests.template_key = templates.template_key
    semi join pooled_sources
        on templates.source = pooled_sources.source

),

-- The same tasks for every model, whatever of them it was asked.
wanted_tasks as (

    select task
    from asked
    group by task
    having {{ estimate_status('count(distinct template_key)') }} = 'estimable'

),

-- A level is a task, or all of them; a cell is a task.
levels as (

    select
        task as level,
        task as cell
    from asked
    group by task

    union all

    select
        'all' as level,
        task as cell
    from wanted_tasks

),

rows_asked as (

    select
        asked.model,
        levels.level,
        count(*) as n_asked
    from asked
    inner join levels
        on asked.task = levels.cell
    group by
        asked.model,
        levels.level

    union all

    -- While no task has templates enough the row says so.
    select
        model,
        'all' as level,
        count(*) as n_asked
    from asked
    where not exists (select 1 from wanted_tasks)
    group by model

),

headline as (

    select
        scores.*,
        dense_rank() over (order by scores.person_group) as person,
        coalesce(scores.answer_cui_id, 0) as answer
    from scores
    semi join pooled_sources
        on scores.source = pooled_sources.source

),

measures as (

    {%- for figure, value in figures.items() %}
    select
        model,
        task,
        {{ loop.index }} as figure_number,
        template_key,
        person as person_group,
        answer as answer_cui_id,
        1 as n,
        cast(round(cast({{ value }} as double) * 1e9) as bigint) as value
    from headline
    where ({{ value }}) is not null
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

),

measures_levelled as (

    select
        measures.model,
        levels.level,
        levels.cell,
        measures.figure_number,
        measures.template_key,
        measures.person_group,
        measures.answer_cui_id,
        measures.n,
        measures.value
    from measures
    inner join levels
        on measures.task = levels.cell

),

cells_counted as (

    select
        model,
        level,
        figure_number,
        cell,
        count(distinct template_key) as n_templates
    from measures_levelled
    group by
        model,
        level,
        figure_number,
        cell

),

-- A mean of tasks needs all of them.
figures_counted as (

    select
        model,
        level,
        figure_number,
        sum(n_templates) as n_templates,
        count(*) filter (
            where {{ estimate_status('n_templates') }} = 'estimable'
        ) as n_estimable
    from cells_counted
    group by
        model,
        level,
        figure_number

),

judged as (

    select
        *,
        n_estimable = case
            when level = 'all' then (select count(*) from wanted_tasks)
            else 1
        end as is_estimable
    from figures_counted

),

kept as (

    select measures_levelled.*
    from measures_levelled
    inner join judged
        on measures_levelled.model = judged.model
        and measures_levelled.level = judged.level
        and measures_levelled.figure_number = judged.figure_number
    where judged.is_estimable

),

{{ mean_of_cells('means', 'kept', ['model', 'level', 'figure_number']) }},

errors as (

    select
        *,
        case
            when n_cells = 1 or figure_number > {{ shares | length }} then standard_error
            else sqrt(standard_error * standard_error + agreed_variance)
        end as total_error
    from means

),

intervals as (

    select
        model,
        level,
        figure_number,
        n,
        n_persons,
        mean,
        case
            when total_error is null then null
            when figure_number > {{ shares | length }}
                then greatest(0.0, mean - {{ var('interval_z') }} * total_error)
            else {{ clustered_interval('mean', 'total_error', 'n_persons', 'low') }}
        end as low,
        case
            when total_error is null then null
            when figure_number > {{ shares | length }}
                then mean + {{ var('interval_z') }} * total_error
            else {{ clustered_interval('mean', 'total_error', 'n_persons', 'high') }}
        end as high
    from errors

),

pivoted as (

    select
        model,
        level
        {%- for figure in figures %},
        max(mean) filter (where figure_number = {{ loop.index }}) as {{ figure }},
        max(low) filter (where figure_number = {{ loop.index }}) as {{ figure }}_low,
        max(high) filter (where figure_number = {{ loop.index }}) as {{ figure }}_high
        {%- endfor %}
    from intervals
    group by
        model,
        level

),

answered as (

    select
        headline.model,
        levels.level,
        count(*) as n,
        count(distinct headline.template_key) as n_templates,
        count(distinct headline.person) as n_clusters,
        count(*) filter (where headline.rc_any = 0) as n_wrong,
        count(headline.rouge_1) as n_rouge,
        count(headline.bertscore) as n_bertscore,
        max(headline.bertscore_model) as bertscore_model
    from headline
    inner join levels
        on headline.task = levels.cell
    group by
        headline.model,
        levels.level

),

report as (

    select
        ---------- ids
        rows_asked.model,
        rows_asked.level as task,

        ---------- counts
        cast(coalesce(answered.n, 0) as integer) as n,
        cast(rows_asked.n_asked as integer) as n_asked,
        cast(coalesce(answered.n_templates, 0) as integer) as n_templates,
        cast(coalesce(answered.n_clusters, 0) as integer) as n_clusters,
        cast(coalesce(answered.n_wrong, 0) as integer) as n_wrong,
        cast(coalesce(answered.n_rouge, 0) as integer) as n_rouge,
        cast(coalesce(answered.n_bertscore, 0) as integer) as n_bertscore,
        answered.bertscore_model,
        case when judged.is_estimable then 'estimable' else 'not_estimable' end as status,
        {%- for name in text_figures %}
        case
            when coalesce(answered.n_{{ name }}, 0) = 0 then 'not_assessed'
            when judged_{{ name }}.is_estimable then 'estimable'
            else 'not_estimable'
        end as {{ name }}_status,
        {%- endfor %}

        ---------- figures
        {%- for figure in figures %}
        {%- for part in ['', '_low', '_high'] %}
        {%- set value = 'pivoted.' ~ figure ~ part %}
        {% if figure in counts -%}
        cast(round({{ value }}, 2) as decimal(12, 2))
        {%- else -%}
        {{ rounded_share(value) }}
        {%- endif %} as {{ figure }}{{ part }}{{ ',' if not loop.last }}
        {%- endfor %}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from rows_asked
    left join answered
        on rows_asked.model = answered.model
        and rows_asked.level = answered.level
    left join judged
        on rows_asked.model = judged.model
        and rows_asked.level = judged.level
        and judged.figure_number = 1
    {%- for name, figure in text_figures.items() %}
    left join judged as judged_{{ name }}
        on rows_asked.model = judged_{{ name }}.model
        and rows_asked.level = judged_{{ name }}.level
        and judged_{{ name }}.figure_number = {{ (figures | list).index(figure) + 1 }}
    {%- endfor %}
    left join pivoted
        on rows_asked.model = pivoted.model
        and rows_asked.level = pivoted.level

)

select * from report
