-- Released items whose scenario or question names a class of the answer's drug, by the class
-- lexicon. Written apart from the rule: words in order, singular or plural, in the stem as a whole.
with

stems as (

    select
        answer_keys.gold_cui,
        {{ leak_words("concat(items.scenario, chr(10), items.question)") }} as stem_words,
        min(items.item_id) as item_id
    from {{ ref('dim_items') }} as items
    inner join {{ ref('fct_answer_keys') }} as answer_keys
        on items.item_id = answer_keys.item_id
    inner join {{ ref('fct_templates') }} as templates
        on items.template_key = templates.template_key
        and templates.answer_event_type = 'medication'
    where items.released
    group by all

),

phrases as (

    select distinct
        {{ cui_text('drug_classes.cui_id') }} as gold_cui,
        rtrim({{ leak_words('lexicon.phrase') }}) as phrase_words,
        concat(' ', coalesce(lexicon.not_after, '-')) as not_after
    from {{ ref('int_drug_classes') }} as drug_classes
    inner join {{ ref('class_lexicon') }} as lexicon
        on lexicon.event_type = 'medication'
        and starts_with(drug_classes.atc_code, lexicon.atc_prefix)

)

select
    stems.item_id,
    phrases.phrase_words
from stems
inner join phrases
    on stems.gold_cui = phrases.gold_cui
where regexp_matches(
    replace(stems.stem_words, concat(phrases.not_after, phrases.phrase_words), ' '),
    concat(phrases.phrase_words, 's? '))
