with

rendered as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

templates as (

    select * from {{ ref('int_templates') }}

),

rationales as (

    select * from {{ ref('int_template_rationales') }}

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
        ordered.option_letter as gold_letter,
        labels.option_key as gold_option_key,
        labels.cui as gold_cui,
        labels.label as gold_label,
        rationales.rationale,
        rationales.evidence
    from rendered
    inner join templates
        on rendered.template_key = templates.template_key
    inner join labels
        on templates.answer_option_key = labels.option_key
    left join ordered
        on rendered.item_key = ordered.item_key
        and templates.answer_option_key = ordered.option_key
    left join rationales
        on rendered.template_key = rationales.template_key

)

select * from final
