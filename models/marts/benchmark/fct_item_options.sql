-- Text comes from the label table by option key, letters from the order model, and neither says
-- which option is the answer. Nor may the order in which the rows are stored.
with

rendered as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

ordered as (

    select * from {{ ref('int_item_options_ordered') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

final as (

    select
        rendered.item_id,
        ordered.option_letter,
        labels.option_key,
        labels.label,
        labels.cui,
        labels.event_type
    from rendered
    inner join ordered
        on rendered.item_key = ordered.item_key
    inner join labels
        on ordered.option_key = labels.option_key

)

select * from final
order by item_id, option_letter
