-- One row per template x concept that may stand beside its answer.
with

templates as (

    select * from {{ ref('int_templates') }}

),

open_concepts as materialized (

    select
        template_number,
        pool_number,
        cui_id,
        is_critical
    from {{ ref('int_distractor_reasons') }}
    where reason is null

),

critical as (

    select
        open_concepts.template_number,
        open_concepts.pool_number,
        open_concepts.cui_id
    from open_concepts
    inner join templates
        on open_concepts.template_number = templates.template_number
    where open_concepts.is_critical
    qualify row_number() over (
        partition by open_concepts.template_number
        order by
            {{ draw_exponential('templates.template_key', 'open_concepts.cui_id') }},
            open_concepts.cui_id
    ) <= {{ var('max_context_critical') }}

),

candidates as (

    select
        template_number,
        pool_number,
        cui_id
    from open_concepts
    where not is_critical

    union all

    select * from critical

)

select * from candidates
