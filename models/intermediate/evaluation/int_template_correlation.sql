-- How far the answers to items of one template go together: the correlation of two of them about
-- the mean of their task. Grain: one row per model × mode with headline scores.
with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

templates as (

    select
        model,
        mode,
        task,
        template_key,
        person_group,
        count(*) as n,
        sum(correct) as n_correct
    from scores
    group by
        model,
        mode,
        task,
        template_key,
        person_group

),

tasks as (

    select
        model,
        mode,
        task,
        cast(round(1e12 * sum(n_correct) / sum(n)) as bigint) as mean
    from templates
    group by
        model,
        mode,
        task

),

-- A right answer deviates by 1 - mean, a wrong one by -mean; in units of 1e-12.
persons as (

    select
        templates.model,
        templates.mode,
        templates.person_group,
        sum(templates.n) as n,
        sum(templates.n * (templates.n - 1)) as n_pairs,
        sum(
            cast(templates.n_correct * 1000000000000 - templates.n * tasks.mean as hugeint)
            * (templates.n_correct * 1000000000000 - templates.n * tasks.mean)
        ) as squared_sums,
        sum(
            templates.n_correct * cast(1000000000000 - tasks.mean as hugeint)
            * (1000000000000 - tasks.mean)
            + (templates.n - templates.n_correct) * cast(tasks.mean as hugeint) * tasks.mean
        ) as squares
    from templates
    inner join tasks
        on templates.model = tasks.model
        and templates.mode = tasks.mode
        and templates.task = tasks.task
    group by
        templates.model,
        templates.mode,
        templates.person_group

),

totals as (

    select
        model,
        mode,
        count(*) as n_persons,
        cast(sum(n) as double) as n,
        cast(sum(n_pairs) as double) as n_pairs,
        cast(sum(squared_sums - squares) as double) as products,
        cast(sum(squares) as double) as squares
    from persons
    group by
        model,
        mode

),

correlations as (

    select
        *,
        products / n_pairs * n / squares as icc
    from totals
    where n_pairs > 0
        and squares > 0

),

-- What a person moves the correlation by (linearised), in 1e-15.
moves as (

    select
        correlations.model,
        correlations.mode,
        cast(round(1e15 * (
            cast(persons.squared_sums - persons.squares as double)
                * correlations.n / correlations.n_pairs / correlations.squares
            - correlations.icc * (
                persons.n_pairs / correlations.n_pairs
                + cast(persons.squares as double) / correlations.squares
                - persons.n / correlations.n
            )
        )) as hugeint) as move
    from persons
    inner join correlations
        on persons.model = correlations.model
        and persons.mode = correlations.mode

),

squares_summed as (

    select
        model,
        mode,
        cast(sum(move * move) as double) as squares
    from moves
    group by
        model,
        mode

),

final as (

    select
        correlations.model,
        correlations.mode,
        -- Few pairs can say more than 1, which no correlation is.
        cast(round(greatest(-1.0, least(1.0, correlations.icc)), 12) as decimal(18, 12)) as icc,
        case when correlations.n_persons >= 2 then cast(round(sqrt(
            squares_summed.squares * correlations.n_persons / (correlations.n_persons - 1)
        ) / 1e15, 12) as decimal(18, 12)) end as standard_error
    from correlations
    inner join squares_summed
        on correlations.model = squares_summed.model
        and correlations.mode = squares_summed.mode

)

select * from final
