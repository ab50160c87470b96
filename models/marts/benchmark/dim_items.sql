with

rendered as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

release as (

    select * from {{ ref('int_item_release') }}

),

subset as (

    select * from {{ ref('int_item_subset') }}

),

final as (

    select
        ---------- ids
        rendered.item_id,
        rendered.template_key,

        ---------- form
        rendered.source,
        rendered.task,
        rendered.format,
        rendered.n_options,
        rendered.variant,
        rendered.n_context,

        ---------- text
        rendered.scenario,
        rendered.question,

        ---------- use
        coalesce(release.released, false) as released,
        coalesce(release.released, false) and subset.item_id is not null as in_subset
    from rendered
    left join release
        on rendered.item_id = release.item_id
    left join subset
        on rendered.item_id = subset.item_id

)

select * from final
