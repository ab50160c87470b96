-- The passes of single match levels make those of `any`, which are the yields'; a ratio has a
-- status that says why not, and no bound without a ratio inside.
with

enrichment as (

    select * from {{ ref('rpt_enrichment') }}

),

summed as (

    select
        source,
        generator,
        task,
        policy,
        sum(case when match_level <> 'any' then n_kb_pass else 0 end) as n_by_level,
        sum(case when match_level = 'any' then n_kb_pass else 0 end) as n_any,
        max(n) as n,
        count(distinct n) as n_sizes
    from enrichment
    group by
        source,
        generator,
        task,
        policy

),

yields as (

    select * from {{ ref('rpt_yield_by_policy') }}

),

unequal as (

    select
        coalesce(summed.source, yields.source) as source,
        coalesce(summed.generator, yields.generator) as generator,
        coalesce(summed.task, yields.task) as task,
        coalesce(summed.policy, yields.policy) as policy,
        'passes do not add up' as problem
    from summed
    full outer join yields
        on summed.source = yields.source
        and summed.generator = yields.generator
        and summed.task = yields.task
        and summed.policy = yields.policy
    where summed.n_by_level is distinct from summed.n_any
        or summed.n_any is distinct from yields.n_kb_accepted
        or summed.n is distinct from yields.n_triples
        or summed.n_sizes <> 1

),

unclear as (

    select
        source,
        generator,
        task,
        policy,
        'status, reason and ratio do not agree' as problem
    from enrichment
    where (status = 'estimated') is distinct from (reason is null)
        or (status = 'estimated') is distinct from (enrichment is not null)
        or enrichment < enrichment_low
        or enrichment > enrichment_high
        or (enrichment is null and enrichment_low is not null)

)

select * from unequal
union all
select * from unclear
