{{ config(tags=['portable']) }}

with

verdicts as (

    select * from {{ ref('fct_triple_verdicts') }}

),

generated as (

    select * from {{ ref('int_triple_generators') }}

),

policies as (

    select policy from {{ ref('evidence_policies') }}

),

levels as (

    select match_level from {{ ref('match_levels') }}
    union all
    select 'any' as match_level

),

-- Triples of one person share visits, so persons are the units of the interval.
person_totals as (

    select
        source,
        task,
        generator,
        person_group,
        count(*) as n
    from generated
    group by
        source,
        task,
        generator,
        person_group

),

passes as (

    select
        verdicts.policy,
        generated.source,
        generated.task,
        generated.generator,
        generated.person_group,
        verdicts.match_level,
        count(*) as n_pass
    from verdicts
    inner join generated
        on verdicts.triple_id = generated.triple_id
    where verdicts.kb_verdict = 'accepted'
    group by
        verdicts.policy,
        generated.source,
        generated.task,
        generated.generator,
        generated.person_group,
        verdicts.match_level

),

person_passes as (

    select * from passes

    union all

    select
        policy,
        source,
        task,
        generator,
        person_group,
        'any' as match_level,
        sum(n_pass) as n_pass
    from passes
    group by
        policy,
        source,
        task,
        generator,
        person_group

),

-- Every triple is under every level: passes at a level stand over all triples, so that the levels
-- add up to any.
person_counts as (

    select
        policies.policy,
        levels.match_level,
        person_totals.source,
        person_totals.task,
        person_totals.generator,
        person_totals.person_group,
        person_totals.n,
        coalesce(person_passes.n_pass, 0) as n_pass
    from person_totals
    cross join policies
    cross join levels
    left join person_passes
        on person_totals.source = person_passes.source
        and person_totals.task = person_passes.task
        and person_totals.generator = person_passes.generator
        and person_totals.person_group = person_passes.person_group
        and policies.policy = person_passes.policy
        and levels.match_level = person_passes.match_level

),

null_counts as (

    select * from person_counts
    where generator = '{{ var("null_generator") }}'

),

sums as (

    select
        policy,
        match_level,
        source,
        task,
        generator,
        count(*) as n_persons,
        {{ wide_integer('sum(n)') }} as n,
        {{ wide_integer('sum(n_pass)') }} as n_pass,
        {{ wide_integer('sum(n * n)') }} as nn,
        {{ wide_integer('sum(n * n_pass)') }} as ny,
        {{ wide_integer('sum(n_pass * n_pass)') }} as yy
    from person_counts
    group by
        policy,
        match_level,
        source,
        task,
        generator

),

-- Both generators draw from the same persons; the cross products carry their covariance.
cross_sums as (

    select
        person_counts.policy,
        person_counts.match_level,
        person_counts.source,
        person_counts.task,
        person_counts.generator,
        count(*) as n_shared_persons,
        {{ wide_integer('sum(person_counts.n_pass * null_counts.n_pass)') }} as yy,
        {{ wide_integer('sum(person_counts.n_pass * null_counts.n)') }} as yn,
        {{ wide_integer('sum(person_counts.n * null_counts.n_pass)') }} as ny,
        {{ wide_integer('sum(person_counts.n * null_counts.n)') }} as nn
    from person_counts
    inner join null_counts
        on person_counts.policy = null_counts.policy
        and person_counts.match_level = null_counts.match_level
        and person_counts.source = null_counts.source
        and person_counts.task = null_counts.task
        and person_counts.person_group = null_counts.person_group
    group by
        person_counts.policy,
        person_counts.match_level,
        person_counts.source,
        person_counts.task,
        person_counts.generator

),

paired as (

    select
        own.policy,
        own.match_level,
        own.source,
        own.task,
        own.generator,
        own.n,
        own.n_pass,
        own.n_persons as own_n_persons,
        null_sums.n as null_n,
        null_sums.n_pass as null_n_pass,
        own.n_persons + coalesce(null_sums.n_persons, 0)
            - coalesce(cross_sums.n_shared_persons, 0) as n_persons,
        cast(own.n_pass as double) / own.n as pass_rate,
        cast(null_sums.n_pass as double) / null_sums.n as null_pass_rate,
        own.nn,
        own.ny,
        own.yy,
        null_sums.nn as null_nn,
        null_sums.ny as null_ny,
        null_sums.yy as null_yy,
        coalesce(cross_sums.nn, 0) as cross_nn,
        coalesce(cross_sums.ny, 0) as cross_ny,
        coalesce(cross_sums.yn, 0) as cross_yn,
        coalesce(cross_sums.yy, 0) as cross_yy
    from sums as own
    left join sums as null_sums
        on own.policy = null_sums.policy
        and own.match_level = null_sums.match_level
        and own.source = null_sums.source
        and own.task = null_sums.task
        and null_sums.generator = '{{ var("null_generator") }}'
    left join cross_sums
        on own.policy = cross_sums.policy
        and own.match_level = cross_sums.match_level
        and own.source = cross_sums.source
        and own.task = cross_sums.task
        and own.generator = cross_sums.generator

),

judged as (

    select
        *,
        {{ cluster_error('n * n * yy - 2 * n * n_pass * ny + n_pass * n_pass * nn', 'n',
            'own_n_persons') }} as standard_error,
        case
            when generator = '{{ var("null_generator") }}' then 'is_null'
            else {{ enrichment_gap('n', 'null_n', 'null_n_pass', 'n_persons') }}
        end as gap
    from paired

),

-- Linearised variance of the log ratio, expanded into whole-number sums so that the order of
-- adding cannot change it.
varied as (

    select
        *,
        case
            when gap is null and n_persons > 1 and n_pass > 0
                then cast(n_persons as double) / (n_persons - 1) * (
                    (yy - 2 * pass_rate * ny + pass_rate * pass_rate * nn)
                    / (cast(n_pass as double) * n_pass)
                    + (null_yy - 2 * null_pass_rate * null_ny
                        + null_pass_rate * null_pass_rate * null_nn)
                    / (cast(null_n_pass as double) * null_n_pass)
                    - 2 * (cross_yy - null_pass_rate * cross_yn - pass_rate * cross_ny
                        + pass_rate * null_pass_rate * cross_nn)
                    / (cast(n_pass as double) * null_n_pass)
                )
        end as log_variance
    from judged

),

-- Where all persons agree the variance is nought, but for rounding: a few persons cannot give such
-- a certainty, so there is no interval.
bounded as (

    select
        *,
        case when round(log_variance, 9) > 0 then sqrt(log_variance) end as log_error,
        case when gap is null then pass_rate / nullif(null_pass_rate, 0) end as ratio
    from varied

)

select
    source,
    generator,
    task,
    policy,
    match_level,
    cast(n as bigint) as n,
    cast(n_pass as bigint) as n_kb_pass,
    {{ share('n_pass', 'n') }} as pass_rate,
    {{ rounded_share(clustered_interval('pass_rate', 'standard_error', 'own_n_persons', 'low')) }}
        as pass_rate_low,
    {{ rounded_share(clustered_interval('pass_rate', 'standard_error', 'own_n_persons', 'high')) }}
        as pass_rate_high,
    cast(null_n as bigint) as null_n,
    cast(null_n_pass as bigint) as null_n_kb_pass,
    {{ share('null_n_pass', 'null_n') }} as null_pass_rate,
    cast(n_persons as bigint) as n_persons,
    case when gap is null then 'estimated' else 'not_estimable' end as status,
    gap as reason,
    cast({{ rounded('ratio') }} as decimal(18, 6)) as enrichment,
    cast({{ rounded('ratio * exp(-' ~ var('interval_z') ~ ' * log_error)') }} as decimal(18, 6))
        as enrichment_low,
    cast({{ rounded('ratio * exp(' ~ var('interval_z') ~ ' * log_error)') }} as decimal(18, 6))
        as enrichment_high
from bounded
