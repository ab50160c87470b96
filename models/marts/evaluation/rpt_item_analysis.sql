-- Templates as test items over the models that answered them: how many solve one, and whether those
-- who do are the ones who solve the others of its task. A corrected point-biserial correlation
-- leaves the template itself out of the rest score.
with

scores as (

    select * from {{ ref('int_template_scores') }}

),

rest_scored as (

    select
        mode,
        task,
        template_key,
        score,
        (sum(score) over by_model - score) // nullif(count(score) over by_model - 1, 0) as rest
    from scores
    where score is not null
    window by_model as (partition by mode, task, model)

),

asked as (

    select
        mode,
        task,
        source,
        template_key,
        count(*) as n_asked,
        count(score) as n,
        sum(score) as total,
        min(score) as lowest,
        max(score) as highest
    from scores
    group by
        mode,
        task,
        source,
        template_key

),

-- Whole numbers until the last step.
products as (

    select
        mode,
        template_key,
        count(*) as n,
        sum(cast(score as hugeint) * rest) * count(*)
            - cast(sum(score) as hugeint) * sum(rest) as covariance,
        sum(cast(score as hugeint) * score) * count(*)
            - cast(sum(score) as hugeint) * sum(score) as score_variance,
        sum(cast(rest as hugeint) * rest) * count(*)
            - cast(sum(rest) as hugeint) * sum(rest) as rest_variance
    from rest_scored
    where rest is not null
    group by
        mode,
        template_key

),

judged as (

    select
        asked.*,
        asked.n >= {{ var('item_analysis_min_models') }} as is_estimable,
        cast(asked.total as double) / asked.n / 1000000000 as difficulty,
        case when products.score_variance > 0 and products.rest_variance > 0 then
            cast(products.covariance as double) / sqrt(cast(products.score_variance as double))
                / sqrt(cast(products.rest_variance as double))
        end as discrimination,
        -- Fisher's z; short of 1, where it has no end.
        least(0.999999, greatest(-0.999999,
            cast(products.covariance as double) / sqrt(cast(products.score_variance as double))
                / sqrt(cast(products.rest_variance as double))
        )) as discrimination_inside,
        {{ var('interval_z') }} / sqrt(nullif(greatest(products.n - 3, 0), 0)) as z_error
    from asked
    left join products
        on asked.mode = products.mode
        and asked.template_key = products.template_key

),

item_analysis as (

    select
        ---------- ids
        mode,
        template_key,
        task,
        source,

        ---------- counts
        cast(n as integer) as n,
        cast(n_asked as integer) as n_asked,

        ---------- figures
        case when is_estimable then {{ rounded_share('difficulty') }} end as difficulty,
        case when is_estimable then {{ wilson_bound('difficulty * n', 'n', 'low') }} end
            as difficulty_low,
        case when is_estimable then {{ wilson_bound('difficulty * n', 'n', 'high') }} end
            as difficulty_high,
        case when is_estimable then {{ rounded_share('discrimination') }} end as discrimination,
        case when is_estimable and discrimination is not null then
            {{ rounded_share('tanh(atanh(discrimination_inside) - z_error)') }}
        end as discrimination_low,
        case when is_estimable and discrimination is not null then
            {{ rounded_share('tanh(atanh(discrimination_inside) + z_error)') }}
        end as discrimination_high,

        ---------- state
        case
            when not is_estimable then null
            when highest = 0 then 'all_miss'
            when lowest = 1000000000 then 'all_solve'
            when round(discrimination, 6) < 0 then 'negative_discrimination'
        end as flag,
        case when is_estimable then 'estimable' else 'not_estimable' end as status
    from judged

)

select * from item_analysis
