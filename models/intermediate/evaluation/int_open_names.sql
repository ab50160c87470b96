-- Names by which a reply may name a concept: of the concepts near what was asked
-- (int_open_references) and of all that answer somewhere. Folded as the leak rules fold them.
with

open_references as (

    select distinct cui_id from {{ ref('int_open_references') }}

),

vocabulary as (

    select distinct cui_id from {{ ref('int_answer_vocabulary') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

known_concepts as (

    select * from {{ ref('int_concepts') }}

),

atoms as (

    select * from {{ ref('int_terminology_atoms') }}

),

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}
    where mapping_level = 'exact'

),

titles as (

    select * from {{ ref('int_icd_titles') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

drug_atoms as (

    select * from {{ ref('int_drug_atoms') }}

),

drug_abbreviations as (

    select * from {{ ref('drug_abbreviations') }}

),

noise as (

    select list(word order by word) as words from {{ ref('leak_noise_words') }}

),

ambiguous as (

    select {{ leak_joined_words(leak_folded_words('name')) }} as words_in_order
    from {{ ref('ambiguous_abbreviations') }}

),

-- Nothing is searched for while nothing open-ended is asked.
searched as (

    select cui_id from open_references

    union

    select cui_id from vocabulary
    where exists (select 1 from open_references)

),

concepts as (

    select
        searched.cui_id,
        labels.label as name,
        true as is_drug
    from searched
    left join labels
        on searched.cui_id = labels.cui_id

    union

    select
        searched.cui_id,
        known_concepts.name,
        true as is_drug
    from searched
    left join known_concepts
        on searched.cui_id = known_concepts.cui_id

),

{{ leak_concept_names() }},

open_names as (

    select
        cui_id,
        words_in_order,
        words_sorted,
        n_words,
        case when is_preferred then 'preferred' else 'other' end as name_kind
    from names_searched

)

select * from open_names
