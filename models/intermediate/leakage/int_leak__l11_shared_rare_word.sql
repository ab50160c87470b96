-- Templates whose scenario or question shares a rare word with the answer's label.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

shared_words as (

    select * from {{ ref('int_leak_shared_words') }}

),

found as (

    select
        'L11' as rule_id,
        'template' as scope,
        templates.template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        concat('shared: ', shared_words.word) as evidence
    from templates
    inner join shared_words
        on templates.template_number = shared_words.template_number
        and templates.answer_cui_id = shared_words.cui_id

)

select * from found
