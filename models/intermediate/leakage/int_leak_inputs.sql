-- One row per input that a leak rule cannot do without: how many rows there are, and what to say
-- when there are none.
with

inputs as (

    select * from {{ ref('leak_inputs') }}

),

models as (

    select * from {{ ref('models') }}

),

model_proposals as (

    select models.family
    from {{ ref('fct_triple_proposals') }} as proposals
    inner join models
        on proposals.generator = models.model

),

counted as (

    select 'names' as needs, count(*) as n_rows from {{ ref('int_terminology_atoms') }}
    union all
    select 'hierarchy', count(*) from {{ ref('int_concept_links') }}
    union all
    select 'drug_relations', count(*) from {{ ref('int_drug_walk') }}
    union all
    select 'drug_classes', count(*) from {{ ref('int_drug_classes') }}
    union all
    select 'knowledge', count(*) from {{ ref('int_edges') }}
    union all
    select 'knowledge', count(*) from {{ ref('int_curated_edges') }}
    union all
    select 'two_families', case when count(distinct family) >= 2 then count(*) else 0 end
    from model_proposals
    union all
    select 'model_answers', count(*)
    from {{ ref('fct_responses') }} as responses
    inner join models
        on responses.model = models.model
    where models.engine <> 'sql'
    union all
    select 'embeddings', count(*) from {{ ref('int_baseline__b6_embedding') }}

),

summed as (

    select
        inputs.needs,
        cast(coalesce(sum(counted.n_rows), 0) as bigint) as n_rows,
        inputs.reason
    from inputs
    left join counted
        on inputs.needs = counted.needs
    group by
        inputs.needs,
        inputs.reason

)

select * from summed
