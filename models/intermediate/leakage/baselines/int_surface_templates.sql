-- One row per released template x option count with items of it. Items of a template ask one thing,
-- so a figure over several option counts takes one of them (is_drawn, by md5). Sources that hold
-- the same visits count once in figures over all sources (is_pooled). What is learnt from some
-- templates about others is learnt from one split_half about the other: the half of the patients,
-- and for a block with patients of both an md5 half of blocks. The items of a block share their
-- options, so whoever has the answers of some of them knows the others: no split may cut a block.
with

items as (

    select distinct
        template_key,
        n_options
    from {{ ref('dim_items') }}
    where released
        and format = 'mcq'

),

templates as (

    select * from {{ ref('int_templates') }}

),

balanced as (

    select * from {{ ref('int_templates_balanced') }}

),

source_overlaps as (

    select * from {{ ref('source_overlaps') }}

),

block_members as (

    select
        balanced.block_number,
        balanced.template_key,
        {{ patient_half('templates.person_group') }} as patient_half
    from balanced
    inner join templates
        on balanced.template_key = templates.template_key
    where balanced.block_number is not null

),

block_halves as (

    select
        block_number,
        case
            when min(patient_half) = max(patient_half) then min(patient_half)
            else cast({{ md5_integer(key(['min(template_key)', "'block half'"])) }} % 2
                as integer)
        end as split_half
    from block_members
    group by block_number

),

template_halves as (

    select
        block_members.template_key,
        block_halves.split_half
    from block_members
    inner join block_halves
        on block_members.block_number = block_halves.block_number

),

released as (

    select
        templates.template_number,
        items.template_key,
        templates.pool_number,
        templates.source,
        templates.task,
        templates.answer_event_type as event_type,
        templates.person_group,
        {{ patient_half('templates.person_group') }} as patient_half,
        coalesce(
            template_halves.split_half,
            {{ patient_half('templates.person_group') }}
        ) as split_half,
        templates.answer_cui_id,
        balanced.draw,
        items.n_options,
        row_number() over (
            partition by items.template_key
            order by
                {{ key(['items.template_key', 'items.n_options', "'drawn'"]) }},
                items.n_options
        ) = 1 as is_drawn
    from items
    inner join templates
        on items.template_key = templates.template_key
    inner join balanced
        on items.template_key = balanced.template_key
    left join template_halves
        on items.template_key = template_halves.template_key

),

sources as (

    select distinct source
    from released

),

repeated_sources as (

    select source_overlaps.source
    from source_overlaps
    inner join sources
        on source_overlaps.derived_from = sources.source

),

marked as (

    select
        released.*,
        repeated_sources.source is null as is_pooled
    from released
    left join repeated_sources
        on released.source = repeated_sources.source

)

select * from marked
