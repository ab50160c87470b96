{%- set tasks = ['dx', 'tx', 'px'] %}
{%- set option_counts = [4, 5, 6] %}
{%- set cells = tasks + ['acc_4', 'acc_5', 'acc_6', 'parse_failure_rate'] %}

with

requests as (

    select * from {{ ref('fct_requests') }}
    where stage = 'answers'
        and arm = '{{ var("headline_arm") }}'

),

items as (

    select * from {{ ref('dim_items') }}

),

score_clusters as (

    select * from {{ ref('int_score_clusters') }}

),

-- Sources that hold the same visits count once.
pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

asked as (

    select
        requests.model,
        requests.mode,
        count(pooled_sources.source) as n_asked
    from requests
    inner join items
        on requests.item_id = items.item_id
    left join pooled_sources
        on items.source = pooled_sources.source
    group by
        requests.model,
        requests.mode

),

clusters as (

    select score_clusters.*
    from score_clusters
    inner join pooled_sources
        on score_clusters.source = pooled_sources.source

),

-- One row per model × mode × cluster: answers (n_) and hits (hits_) of every figure.
counts as (

    select
        model,
        mode,
        person_group,
        sum(n) as n,
        {%- for task in tasks %}
        coalesce(sum(n) filter (where task = '{{ task }}'), 0) as n_{{ task }},
        coalesce(sum(n_correct) filter (where task = '{{ task }}'), 0) as hits_{{ task }},
        {%- endfor %}
        {%- for k in option_counts %}
        coalesce(sum(n) filter (where n_options = {{ k }}), 0) as n_acc_{{ k }},
        coalesce(sum(n_correct) filter (where n_options = {{ k }}), 0) as hits_acc_{{ k }},
        {%- endfor %}
        sum(n) as n_parse_failure_rate,
        sum(n_not_parsed) as hits_parse_failure_rate
    from clusters
    group by
        model,
        mode,
        person_group

),

totals as (

    select
        model,
        mode,
        sum(n) as n,
        count(*) as n_clusters,
        {%- for cell in cells %}
        sum(n_{{ cell }}) as n_{{ cell }},
        sum(hits_{{ cell }}) as hits_{{ cell }},
        count(*) filter (where n_{{ cell }} > 0) as clusters_{{ cell }}{{ ',' if not loop.last }}
        {%- endfor %}
    from counts
    group by
        model,
        mode

),

-- Integer deviations of a cluster; zero where it has no answers of that kind.
deviations as (

    select
        counts.model,
        counts.mode,
        {%- for cell in cells %}
        counts.hits_{{ cell }} * totals.n_{{ cell }}
            - totals.hits_{{ cell }} * counts.n_{{ cell }} as d_{{ cell }}{{ ',' if not loop.last }}
        {%- endfor %}
    from counts
    inner join totals
        on counts.model = totals.model
        and counts.mode = totals.mode

),

products as (

    select
        model,
        mode,
        {%- for cell in cells %}
        sum(d_{{ cell }} * d_{{ cell }}) as squares_{{ cell }},
        {%- endfor %}
        sum(d_dx * d_tx) as products_dx_tx,
        sum(d_dx * d_px) as products_dx_px,
        sum(d_tx * d_px) as products_tx_px
    from deviations
    group by
        model,
        mode

),

figures as (

    select
        totals.*,
        {%- for cell in cells %}
        cast(totals.hits_{{ cell }} as double) / nullif(totals.n_{{ cell }}, 0) as {{ cell }},
        {{ cluster_error(
            'products.squares_' ~ cell, 'totals.n_' ~ cell, 'totals.clusters_' ~ cell
        ) }} as error_{{ cell }},
        {%- endfor %}
        -- 1 / n² scales a task's integer deviations; zero for a task without answers.
        {%- for task in tasks %}
        case
            when totals.n_{{ task }} > 0 then
                1.0 / (cast(totals.n_{{ task }} as double) * cast(totals.n_{{ task }} as double))
            else 0.0
        end as scale_{{ task }},
        {%- endfor %}
        {% for task in tasks -%}
        case when totals.n_{{ task }} > 0 then 1 else 0 end{{ ' + ' if not loop.last }}
        {%- endfor %} as n_tasks,
        products.squares_dx as square_dx,
        products.squares_tx as square_tx,
        products.squares_px as square_px,
        products.products_dx_tx as product_dx_tx,
        products.products_dx_px as product_dx_px,
        products.products_tx_px as product_tx_px
    from totals
    inner join products
        on totals.model = products.model
        and totals.mode = products.mode

),

-- A task whose clusters all agree has no linearised error: its Wilson interval stands in, as a
-- variance. `n_lone_tasks` counts tasks with answers of a single cluster, which have no error.
completed as (

    select
        *,
        {%- for task in tasks %}
        case
            when clusters_{{ task }} >= 2 and error_{{ task }} = 0 then power(
                (
                    {{ clustered_interval(task, 'error_' ~ task, 'clusters_' ~ task, 'high') }}
                    - {{ clustered_interval(task, 'error_' ~ task, 'clusters_' ~ task, 'low') }}
                ) / (2.0 * {{ var('interval_z') }}),
                2
            )
            else 0.0
        end as agreed_variance_{{ task }},
        {%- endfor %}
        {% for task in tasks -%}
        case when clusters_{{ task }} = 1 then 1 else 0 end{{ ' + ' if not loop.last }}
        {%- endfor %} as n_lone_tasks
    from figures

),

-- The plain mean of the tasks; tasks share persons, so their covariances count too.
overall_figures as (

    select
        *,
        (coalesce(dx, 0.0) + coalesce(tx, 0.0) + coalesce(px, 0.0)) / n_tasks as overall,
        case
            when n_clusters >= 2 then sqrt(greatest(0.0,
                cast(n_clusters as double) / (n_clusters - 1) * (
                    cast(square_dx as double) * scale_dx * scale_dx
                    + cast(square_tx as double) * scale_tx * scale_tx
                    + cast(square_px as double) * scale_px * scale_px
                    + 2.0 * cast(product_dx_tx as double) * scale_dx * scale_tx
                    + 2.0 * cast(product_dx_px as double) * scale_dx * scale_px
                    + 2.0 * cast(product_tx_px as double) * scale_tx * scale_px
                ) + agreed_variance_dx + agreed_variance_tx + agreed_variance_px
            )) / n_tasks
        end as error_overall,
        case when n_lone_tasks = 0 then n_clusters else 1 end as clusters_overall
    from completed

),

leaderboard as (

    select
        ---------- ids
        asked.model,
        asked.mode,

        ---------- counts
        cast(coalesce(overall_figures.n, 0) as integer) as n,
        cast(asked.n_asked as integer) as n_asked,
        cast(coalesce(overall_figures.n_clusters, 0) as integer) as n_clusters,
        {%- for task in tasks %}
        cast(coalesce(overall_figures.n_{{ task }}, 0) as integer) as n_{{ task }},
        {%- endfor %}

        ---------- figures
        {%- for cell in ['overall'] + cells %}
        {%- set value = 'overall_figures.' ~ cell %}
        {%- set error = 'overall_figures.error_' ~ cell %}
        {%- set n_clusters = 'overall_figures.clusters_' ~ cell %}
        {{ rounded_share(value) }} as {{ cell }},
        {{ rounded_share(clustered_interval(value, error, n_clusters, 'low')) }}
            as {{ cell }}_low,
        {{ rounded_share(clustered_interval(value, error, n_clusters, 'high')) }}
            as {{ cell }}_high{{ ',' if not loop.last }}
        {%- endfor %}
    from asked
    left join overall_figures
        on asked.model = overall_figures.model
        and asked.mode = overall_figures.mode

)

select * from leaderboard
