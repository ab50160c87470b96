{#- CTEs of the names of concepts: those given, atoms of the Metathesaurus, titles of codes, salts and
    brands of a drug, order-entry abbreviations. Folded, without noise words; a short name or an
    ambiguous abbreviation names nothing. The last CTE is `names_searched`: cui_id, words_in_order,
    words_sorted, n_words, name (one of those that fold alike), is_preferred (one of those given).
    Reads the CTEs `concepts` (cui_id, name or null, is_drug), `atoms`, `code_concepts`, `titles`,
    `drug_ingredients`, `drug_atoms`, `drug_abbreviations`, `noise` and `ambiguous`. -#}
{% macro leak_concept_names() -%}
names_found as (

    select
        cui_id,
        name,
        true as is_preferred
    from concepts

    union

    select
        atoms.cui_id,
        atoms.name,
        false as is_preferred
    from atoms
    semi join concepts
        on atoms.cui_id = concepts.cui_id

    union

    select
        code_concepts.cui_id,
        titles.title as name,
        false as is_preferred
    from code_concepts
    inner join titles
        on code_concepts.code_system = titles.code_system
        and code_concepts.normalized_code = titles.normalized_code
    semi join concepts
        on code_concepts.cui_id = concepts.cui_id

    union

    select
        drug_ingredients.ingredient_cui_id as cui_id,
        drug_atoms.name,
        false as is_preferred
    from drug_ingredients
    inner join drug_atoms
        on drug_ingredients.cui_id = drug_atoms.cui_id
    semi join concepts
        on drug_ingredients.ingredient_cui_id = concepts.cui_id
        and concepts.is_drug

    union

    select
        concepts.cui_id,
        drug_abbreviations.word as name,
        false as is_preferred
    from concepts
    inner join drug_abbreviations
        on {{ leak_words('concepts.name') }} = {{ leak_words('drug_abbreviations.replacement') }}
    where concepts.is_drug

),

names_folded as (

    select
        names_found.cui_id,
        names_found.name,
        names_found.is_preferred,
        list_filter(
            {{ leak_folded_words('names_found.name') }},
            lambda w: not list_contains(noise.words, w)
        ) as words
    from names_found
    cross join noise

),

names_keyed as (

    select
        cui_id,
        {{ leak_joined_words('words') }} as words_in_order,
        array_to_string(list_sort(words), ' ') as words_sorted,
        cast(len(words) as integer) as n_words,
        min(name) as name,
        bool_or(is_preferred) as is_preferred
    from names_folded
    group by all

),

names_searched as (

    select names_keyed.*
    from names_keyed
    anti join ambiguous
        on names_keyed.words_in_order = ambiguous.words_in_order
    where length(names_keyed.words_in_order) >= {{ var('leak_min_name_letters') }}

)
{%- endmacro %}
