-- Sources that share nobody should give a model the same accuracy; one that was read in training
-- would stand out. Pairs that share persons, or whose records anybody can read, say nothing about
-- that and are not assessed. The difference is the plain mean over cells of task × option count,
-- the same ones on both sides.
with

all_scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1

),

arms as (

    select * from {{ ref('prompt_arms') }}
    where is_headline

),

requests as (

    select * from {{ ref('int_answer_requests') }}
    where repetition = 1
        and format = 'mcq'

),

items as (

    select * from {{ ref('dim_items') }}

),

subset as (

    select * from {{ ref('int_subset_templates') }}

),

source_overlaps as (

    select * from {{ ref('source_overlaps') }}

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}

),

data_classes as (

    select * from {{ ref('int_source_data_classes') }}

),

models as (

    select * from {{ ref('models') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

scores as (

    select all_scores.*
    from all_scores
    semi join arms
        on all_scores.arm = arms.arm

),

asked as (

    select
        requests.model,
        requests.mode,
        items.source,
        count(*) as n_asked
    from requests
    semi join arms
        on requests.arm = arms.arm
    inner join items
        on requests.item_id = items.item_id
    group by
        requests.model,
        requests.mode,
        items.source

),

series as (

    select
        asked.model,
        asked.mode,
        models.engine = 'sql' as is_baseline,
        row_number() over (order by asked.model, asked.mode) as series
    from asked
    inner join models
        on asked.model = models.model
    group by
        asked.model,
        asked.mode,
        models.engine

),

sources as (

    select
        asked.source,
        row_number() over (order by asked.source) as source_number,
        bool_and(coalesce(pooled_sources.is_pooled, true)) as is_pooled,
        max(source_overlaps.person_family) as person_family,
        max(data_classes.data_class) as data_class
    from asked
    left join pooled_sources
        on asked.source = pooled_sources.source
    left join source_overlaps
        on asked.source = source_overlaps.source
    left join data_classes
        on asked.source = data_classes.source
    group by asked.source

),

shared_persons as (

    select distinct
        firsts.source as first_source,
        seconds.source as second_source
    from patients as firsts
    inner join patients as seconds
        on firsts.person_group = seconds.person_group
        and firsts.source < seconds.source

),

source_pairs as (

    select
        firsts.source as first_source,
        seconds.source as second_source,
        row_number() over (order by firsts.source, seconds.source) as pair,
        case
            when firsts.person_family = seconds.person_family then 'overlapping_sources'
            when shared_persons.first_source is not null then 'shared_persons'
            {%- if var('mimic_iii_stays') == 'all' %}
            -- Their ids do not tell who is in both.
            when 'mimic_iii' in (firsts.source, seconds.source)
                and 'mimic_iv_family' in (firsts.person_family, seconds.person_family)
                then 'overlapping_sources'
            {%- endif %}
            when not firsts.is_pooled or not seconds.is_pooled then 'made_from_another_source'
            when 'demo' in (firsts.data_class, seconds.data_class) then 'public_demo'
        end as refusal
    from sources as firsts
    inner join sources as seconds
        on firsts.source < seconds.source
    left join shared_persons
        on firsts.source = shared_persons.first_source
        and seconds.source = shared_persons.second_source

),

subset_cells as (

    select
        source,
        task,
        n_options,
        dense_rank() over (order by task, n_options) as cell
    from subset
    group by
        source,
        task,
        n_options
    having {{ estimate_status('count(distinct template_key)') }} = 'estimable'

),

wanted as (

    select
        source_pairs.pair,
        source_pairs.first_source,
        source_pairs.second_source,
        firsts.task,
        firsts.n_options,
        firsts.cell,
        count(*) over (partition by source_pairs.pair) as n_cells
    from source_pairs
    inner join subset_cells as firsts
        on source_pairs.first_source = firsts.source
    inner join subset_cells as seconds
        on source_pairs.second_source = seconds.source
        and firsts.cell = seconds.cell
    where source_pairs.refusal is null

),

persons as (

    select
        person_group,
        row_number() over (order by person_group) as person
    from scores
    group by person_group

),

templates as (

    select
        series.series,
        scores.source,
        scores.task,
        scores.n_options,
        scores.template_key,
        persons.person as person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        count(*) as n,
        cast(sum(scores.correct) as bigint) * 1000000000 as value
    from scores
    inner join series
        on scores.model = series.model
        and scores.mode = series.mode
    inner join persons
        on scores.person_group = persons.person_group
    group by
        series.series,
        scores.source,
        scores.task,
        scores.n_options,
        scores.template_key,
        persons.person,
        scores.answer_cui_id

),

sided as (

    select
        templates.series,
        wanted.pair,
        wanted.n_cells,
        templates.source = wanted.first_source as is_first,
        2 * wanted.cell + case when templates.source = wanted.first_source then 0 else 1 end
            as cell,
        templates.template_key,
        templates.person_group,
        templates.answer_cui_id,
        templates.n,
        templates.value
    from templates
    inner join wanted
        on templates.task = wanted.task
        and templates.n_options = wanted.n_options
        and templates.source in (wanted.first_source, wanted.second_source)

),

cells as (

    select
        series,
        pair,
        case when is_first then 'first' else 'second' end as figure,
        cell,
        person_group,
        answer_cui_id,
        n,
        value
    from sided

    union all

    -- The mean over the cells of both sides, those of the second below zero: half the difference.
    select
        series,
        pair,
        'half_difference' as figure,
        cell,
        person_group,
        answer_cui_id,
        n,
        case when is_first then value else -value end as value
    from sided

),

cells_counted as (

    select
        series,
        pair,
        cell,
        min(n_cells) as n_cells,
        bool_and(is_first) as is_first,
        sum(n) as n,
        count(*) as n_templates
    from sided
    group by
        series,
        pair,
        cell

),

pairs_counted as (

    select
        series,
        pair,
        coalesce(sum(n) filter (where is_first), 0) as n_first,
        coalesce(sum(n) filter (where not is_first), 0) as n_second,
        sum(n_templates) as n_templates,
        count(*) filter (where {{ estimate_status('n_templates') }} = 'estimable')
            = 2 * min(n_cells) as is_estimable
    from cells_counted
    group by
        series,
        pair

),

{{ mean_of_cells('means', 'cells', ['series', 'pair', 'figure']) }},

figures as (

    select
        series,
        pair,
        max(n_persons) filter (where figure = 'half_difference') as n_clusters,
        2 * max(mean) filter (where figure = 'half_difference') as difference,
        2 * max(sqrt(standard_error * standard_error + agreed_variance))
            filter (where figure = 'half_difference') as difference_error,
        {%- for side in ['first', 'second'] %}
        max(mean) filter (where figure = '{{ side }}') as {{ side }}_mean,
        max(n_persons) filter (where figure = '{{ side }}') as {{ side }}_persons,
        max(
            case
                when n_cells = 1 then standard_error
                else sqrt(standard_error * standard_error + agreed_variance)
            end
        ) filter (where figure = '{{ side }}') as {{ side }}_error
        {{- ',' if not loop.last }}
        {%- endfor %}
    from means
    group by
        series,
        pair

),

judged as (

    select
        series.model,
        series.mode,
        series.is_baseline,
        source_pairs.first_source,
        source_pairs.second_source,
        source_pairs.refusal,
        coalesce(firsts_asked.n_asked, 0) as n_asked_first,
        coalesce(seconds_asked.n_asked, 0) as n_asked_second,
        coalesce(pairs_counted.n_first, 0) as n_first,
        coalesce(pairs_counted.n_second, 0) as n_second,
        coalesce(pairs_counted.n_templates, 0) as n_templates,
        coalesce(figures.n_clusters, 0) as n_clusters,
        coalesce(pairs_counted.is_estimable, false) as is_estimable,
        figures.difference,
        figures.difference_error,
        figures.first_mean,
        figures.first_error,
        figures.first_persons,
        figures.second_mean,
        figures.second_error,
        figures.second_persons
    from series
    cross join source_pairs
    left join asked as firsts_asked
        on series.model = firsts_asked.model
        and series.mode = firsts_asked.mode
        and source_pairs.first_source = firsts_asked.source
    left join asked as seconds_asked
        on series.model = seconds_asked.model
        and series.mode = seconds_asked.mode
        and source_pairs.second_source = seconds_asked.source
    left join pairs_counted
        on series.series = pairs_counted.series
        and source_pairs.pair = pairs_counted.pair
    left join figures
        on series.series = figures.series
        and source_pairs.pair = figures.pair

),

tested as (

    select
        *,
        case when is_estimable and difference_error > 0
            then {{ normal_p('(difference / difference_error)') }}
        end as p_value
    from judged

),

-- A baseline that differs between sources tells of their items, not of a model, so it costs the
-- models no power.
{{ holm_steps('adjusted', 'tested', ['mode', 'is_baseline'], 'p_value',
    'model, first_source, second_source') }},

consistency as (

    select
        ---------- ids
        model,
        mode,
        first_source,
        second_source,
        is_baseline,

        ---------- counts
        {%- for side in ['first', 'second'] %}
        cast(n_{{ side }} as integer) as n_{{ side }},
        cast(n_asked_{{ side }} as integer) as n_asked_{{ side }},
        {%- endfor %}
        cast(n_templates as integer) as n_templates,
        cast(n_clusters as integer) as n_clusters,

        ---------- figures
        {%- for side in ['first', 'second'] %}
        case when is_estimable then {{ rounded_share(side ~ '_mean') }} end
            as accuracy_{{ side }},
        {%- for end in ['low', 'high'] %}
        case when is_estimable then {{ rounded_share(clustered_interval(
            side ~ '_mean', side ~ '_error', side ~ '_persons', end
        )) }} end as accuracy_{{ side }}_{{ end }},
        {%- endfor %}
        {%- endfor %}
        case when is_estimable then {{ rounded_share('difference') }} end as difference,
        case when is_estimable and difference_error is not null then {{ rounded_share(
            'greatest(-1.0, difference - ' ~ var('interval_z') ~ ' * difference_error)'
        ) }} end as difference_low,
        case when is_estimable and difference_error is not null then {{ rounded_share(
            'least(1.0, difference + ' ~ var('interval_z') ~ ' * difference_error)'
        ) }} end as difference_high,
        cast(round(p_value, 12) as decimal(18, 12)) as p_value,
        cast(round(p_holm, 12) as decimal(18, 12)) as p_holm,

        ---------- state
        case
            when refusal is not null then 'not_assessed'
            when is_estimable then 'estimable'
            else 'not_estimable'
        end as status,
        coalesce(refusal, case when not is_estimable then 'few_templates' end) as reason
    from adjusted

)

select * from consistency
