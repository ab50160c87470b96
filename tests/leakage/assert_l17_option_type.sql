-- Released items whose options are not all of one event type and semantic group.
with

items as (

    select item_id
    from {{ ref('dim_items') }}
    where released
        and format = 'mcq'
    qualify row_number() over (
        partition by template_key
        order by n_options desc, item_id
    ) = 1

),

options as (

    select * from {{ ref('fct_item_options') }}

),

concepts as (

    select * from {{ ref('dim_concepts') }}

),

typed as (

    select
        items.item_id,
        count(distinct options.event_type) as n_types,
        count(distinct coalesce(concepts.semantic_group, 'none')) as n_groups
    from items
    inner join options
        on items.item_id = options.item_id
    left join concepts
        on options.cui = concepts.cui
    group by items.item_id

)

select * from typed
where n_types <> 1
    or n_groups <> 1
