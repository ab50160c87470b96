-- Templates whose scenario or answer holds what looks like a date, time, key, age above 89 or name
-- (seed identifier_patterns). Decided per distinct text. Distractors are answers of other
-- templates, so that a label is judged wherever it is shown. The evidence names the pattern, never
-- the text.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

patterns as (

    select * from {{ ref('identifier_patterns') }}

),

shown as (

    select
        template_key,
        line as text,
        'scenario' as place
    from scenario

    union

    select
        templates.template_key,
        labels.label as text,
        'answer' as place
    from templates
    inner join labels
        on templates.answer_option_key = labels.option_key

),

texts as (

    select distinct text from shown

),

telling as (

    select
        texts.text,
        patterns.pattern_name
    from texts
    inner join patterns
        on regexp_matches(texts.text, patterns.pattern)

),

found as (

    select
        shown.template_key,
        min(concat(telling.pattern_name, ' in ', shown.place)) as evidence
    from shown
    inner join telling
        on shown.text = telling.text
    group by shown.template_key

)

select
    'L30' as rule_id,
    'template' as scope,
    template_key,
    cast(null as varchar) as item_id,
    cast(null as varchar) as option_key,
    evidence
from found
