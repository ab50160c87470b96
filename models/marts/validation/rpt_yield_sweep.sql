{{ config(tags=['portable']) }}

with

signatures as (

    select * from {{ ref('int_yield_signatures') }}

),

sweep_points as (

    select * from {{ ref('int_sweep_points') }}

),

-- The very rules of the verdicts, with one threshold moved.
decided as (

    select
        signatures.policy,
        sweep_points.threshold,
        sweep_points.position,
        sweep_points.threshold_value,
        sweep_points.is_policy_point,
        sweep_points.is_nested,
        signatures.source,
        signatures.task,
        signatures.generator,
        signatures.n_triples,
        signatures.is_grounded,
        case
            when not signatures.is_open then 0
            when {{ support_level_rank('signatures', 'sweep_points') }} is null then 0
            when {{ ambiguity_reason('signatures', 'sweep_points') }} is not null then 0
            when {{ negation_reason('signatures', 'sweep_points') }} is not null then 0
            when {{ lift_reason('signatures', 'sweep_points') }} is not null then 0
            else 1
        end as is_pass
    from signatures
    inner join sweep_points
        on signatures.policy = sweep_points.policy

),

counted as (

    select
        policy,
        threshold,
        position,
        threshold_value,
        is_policy_point,
        is_nested,
        source,
        task,
        generator,
        sum(n_triples) as n_triples,
        sum(n_triples * is_pass) as n_pass,
        sum(case when is_grounded then n_triples * is_pass else 0 end) as n_accepted
    from decided
    group by
        policy,
        threshold,
        position,
        threshold_value,
        is_policy_point,
        is_nested,
        source,
        task,
        generator

),

paired as (

    select
        counted.*,
        null_counts.n_triples as null_n,
        null_counts.n_pass as null_n_pass,
        case
            when counted.generator = '{{ var("null_generator") }}' then 'is_null'
            else {{ enrichment_gap('counted.n_triples', 'null_counts.n_triples',
                'null_counts.n_pass') }}
        end as gap
    from counted
    left join counted as null_counts
        on counted.policy = null_counts.policy
        and counted.threshold = null_counts.threshold
        and counted.position = null_counts.position
        and counted.source = null_counts.source
        and counted.task = null_counts.task
        and null_counts.generator = '{{ var("null_generator") }}'

)

select
    policy,
    threshold,
    position,
    threshold_value,
    is_policy_point,
    is_nested,
    source,
    task,
    generator,
    cast(n_triples as bigint) as n_triples,
    cast(n_accepted as bigint) as n_accepted,
    {{ share('n_accepted', 'n_triples') }} as accepted_share,
    cast(n_pass as bigint) as n_kb_pass,
    {{ share('n_pass', 'n_triples') }} as pass_rate,
    cast(null_n as bigint) as null_n,
    {{ share('null_n_pass', 'null_n') }} as null_pass_rate,
    case
        when gap is null
            then cast({{ rounded('cast(n_pass as double) / n_triples'
                ' / nullif(cast(null_n_pass as double) / null_n, 0)') }} as decimal(18, 6))
    end as enrichment,
    case when gap is null then 'estimated' else 'not_estimable' end as status,
    gap as reason
from paired
