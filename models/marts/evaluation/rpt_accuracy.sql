with

score_clusters as (

    select * from {{ ref('int_score_clusters') }}

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

-- Each source, and all that count once; a person of several sources is one cluster.
clusters as (

    select
        source,
        model,
        mode,
        task,
        n_options,
        person_group,
        n,
        n_correct
    from score_clusters

    union all

    select
        'all' as source,
        score_clusters.model,
        score_clusters.mode,
        score_clusters.task,
        score_clusters.n_options,
        score_clusters.person_group,
        cast(sum(score_clusters.n) as integer) as n,
        cast(sum(score_clusters.n_correct) as integer) as n_correct
    from score_clusters
    inner join pooled_sources
        on score_clusters.source = pooled_sources.source
    group by
        score_clusters.model,
        score_clusters.mode,
        score_clusters.task,
        score_clusters.n_options,
        score_clusters.person_group

),

cells as (

    select
        source,
        model,
        mode,
        task,
        n_options,
        sum(n) as n,
        sum(n_correct) as n_correct,
        count(*) as n_clusters
    from clusters
    group by
        source,
        model,
        mode,
        task,
        n_options

),

deviations as (

    select
        cells.source,
        cells.model,
        cells.mode,
        cells.task,
        cells.n_options,
        sum(
            (clusters.n_correct * cells.n - cells.n_correct * clusters.n)
            * (clusters.n_correct * cells.n - cells.n_correct * clusters.n)
        ) as sum_squares
    from cells
    inner join clusters
        on cells.source = clusters.source
        and cells.model = clusters.model
        and cells.mode = clusters.mode
        and cells.task = clusters.task
        and cells.n_options = clusters.n_options
    group by
        cells.source,
        cells.model,
        cells.mode,
        cells.task,
        cells.n_options

),

estimated as (

    select
        cells.*,
        cast(cells.n_correct as double) / cells.n as accuracy,
        {{ cluster_error('deviations.sum_squares', 'cells.n', 'cells.n_clusters') }}
            as standard_error
    from cells
    inner join deviations
        on cells.source = deviations.source
        and cells.model = deviations.model
        and cells.mode = deviations.mode
        and cells.task = deviations.task
        and cells.n_options = deviations.n_options

),

accuracies as (

    select
        source,
        model,
        mode,
        task,
        n_options,
        cast(n as integer) as n,
        cast(n_clusters as integer) as n_clusters,
        {{ rounded_share('accuracy') }} as accuracy,
        {{ rounded_share(clustered_interval('accuracy', 'standard_error', 'n_clusters', 'low')) }}
            as accuracy_low,
        {{ rounded_share(clustered_interval('accuracy', 'standard_error', 'n_clusters', 'high')) }}
            as accuracy_high,
        {{ rounded_share('1.0 / n_options') }} as chance
    from estimated

)

select * from accuracies
