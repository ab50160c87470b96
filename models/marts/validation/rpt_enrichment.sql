{{ config(tags=['portable']) }}

with

verdicts as (

    select * from {{ ref('fct_triple_verdicts') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

generated as (

    select distinct
        triples.triple_id,
        triples.task,
        patients.person_group,
        triple_proposals.generator
    from triples
    inner join triple_proposals
        on triples.triple_id = triple_proposals.triple_id
    inner join patients
        on triples.patient_key = patients.patient_key

),

-- Triples of one person share visits, so persons are the units of the interval.
person_counts as (

    select
        verdicts.policy,
        generated.task,
        generated.generator,
        generated.person_group,
        count(*) as n,
        sum(case when verdicts.kb_verdict = 'accepted' then 1 else 0 end) as n_pass
    from verdicts
    inner join generated
        on verdicts.triple_id = generated.triple_id
    group by
        verdicts.policy,
        generated.task,
        generated.generator,
        generated.person_group

),

null_counts as (

    select
        policy,
        task,
        person_group,
        n,
        n_pass
    from person_counts
    where generator = '{{ var("null_generator") }}'

),

sums as (

    select
        policy,
        task,
        generator,
        count(*) as n_persons,
        sum(n) as n,
        sum(n_pass) as n_pass,
        sum(n * n) as nn,
        sum(n * n_pass) as ny,
        sum(n_pass * n_pass) as yy
    from person_counts
    group by
        policy,
        task,
        generator

),

-- Both generators draw from the same persons; the cross products carry their covariance.
cross_sums as (

    select
        person_counts.policy,
        person_counts.task,
        person_counts.generator,
        count(*) as n_shared_persons,
        sum(person_counts.n_pass * null_counts.n_pass) as yy,
        sum(person_counts.n_pass * null_counts.n) as yn,
        sum(person_counts.n * null_counts.n_pass) as ny,
        sum(person_counts.n * null_counts.n) as nn
    from person_counts
    inner join null_counts
        on person_counts.policy = null_counts.policy
        and person_counts.task = null_counts.task
        and person_counts.person_group = null_counts.person_group
    group by
        person_counts.policy,
        person_counts.task,
        person_counts.generator

),

paired as (

    select
        own.policy,
        own.task,
        own.generator,
        own.n,
        own.n_pass,
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
        and own.task = null_sums.task
        and null_sums.generator = '{{ var("null_generator") }}'
    left join cross_sums
        on own.policy = cross_sums.policy
        and own.task = cross_sums.task
        and own.generator = cross_sums.generator

),

-- Linearised variance of the log ratio, expanded into whole-number sums so that the order of
-- adding cannot change it.
varied as (

    select
        *,
        case
            when n_persons > 1 and n_pass > 0 and null_n_pass > 0
                and generator <> '{{ var("null_generator") }}'
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
    from paired

),

-- Rounding can leave a variance of nought slightly below it.
bounded as (

    select
        *,
        sqrt(case when log_variance < 0 then 0 else log_variance end) as log_error
    from varied

)

select
    generator,
    task,
    policy,
    cast(n as bigint) as n,
    cast(n_pass as bigint) as n_kb_pass,
    {{ share('n_pass', 'n') }} as pass_rate,
    {{ wilson_bound('n_pass', 'n', 'low') }} as pass_rate_low,
    {{ wilson_bound('n_pass', 'n', 'high') }} as pass_rate_high,
    cast(null_n as bigint) as null_n,
    {{ share('null_n_pass', 'null_n') }} as null_pass_rate,
    cast(n_persons as bigint) as n_persons,
    cast(round(pass_rate / nullif(null_pass_rate, 0), 6) as decimal(18,6)) as enrichment,
    cast(round(
        pass_rate / nullif(null_pass_rate, 0)
        * exp(-{{ var('interval_z') }} * log_error),
        6
    ) as decimal(18,6)) as enrichment_low,
    cast(round(
        pass_rate / nullif(null_pass_rate, 0)
        * exp({{ var('interval_z') }} * log_error),
        6
    ) as decimal(18,6)) as enrichment_high
from bounded
