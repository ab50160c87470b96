-- What code_overrides says of a text holds. A flush, diluent or container is no drug and needs no
-- concept. Else the whole text decides, and where it names nothing its parts do, when all of them
-- name ingredients. Several ingredients
-- become the combination with exactly these parts, or stay unmapped with the reason.
with drug_texts as (

    select * from {{ ref('int_cohort_drug_texts') }}

),

code_overrides as (

    select * from {{ ref('int_code_overrides') }}
    where code_system = 'DRUG_TEXT'

),

non_drugs as (

    select * from {{ ref('non_drugs') }}

),

keys as (

    select * from {{ ref('int_drug_name_keys') }}

),

matches as (

    select * from {{ ref('int_drug_name_matches') }}

),

text_parts as (

    select * from {{ ref('int_drug_text_parts') }}

),

combination_parts as (

    select * from {{ ref('int_combination_parts') }}

),

combination_sets as (

    select * from {{ ref('int_combination_sets') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

-- the marks of the order screen (*NF* in front, underscores) are no part of the text
plain_texts as (

    select
        drug_text,
        trim(regexp_replace(
            regexp_replace(lower(drug_text), '[\s_]+', ' ', 'g'), '^ ?\*nf\* ?', ''
        )) as plain_text,
    from drug_texts

),

overridden as (

    select
        drug_texts.drug_text,
        coalesce(drug_ingredients.ingredient_cui_id, code_overrides.cui_id) as cui_id,
    from drug_texts
    inner join code_overrides
        on {{ norm_label('drug_texts.drug_text') }} = code_overrides.override_key
    left join drug_ingredients
        on code_overrides.cui_id = drug_ingredients.cui_id

),

text_reasons as (

    select
        plain_texts.drug_text,
        min(non_drugs.reason) as reason,
    from plain_texts
    inner join non_drugs
        on regexp_matches(plain_texts.plain_text, non_drugs.pattern)
    left join overridden
        on plain_texts.drug_text = overridden.drug_text
    where overridden.drug_text is null
    group by all

),

normalized_texts as (

    select
        name as drug_text,
        max_by(name_key, key_rank) filter (where key_rank <= 3) as normalized_text,
    from keys
    group by all

),

whole_matches as (

    select
        matches.name as drug_text,
        case
            when matches.key_rank <= 2 then 'name'
            when matches.key_rank <= 4 then 'name_without_form'
            when matches.key_rank = 5 then 'name_without_salt'
            else 'name_in_brackets'
        end as method,
        matches.ingredient_cui_id,
        matches.is_combination,
    from matches
    inner join drug_texts
        on matches.name = drug_texts.drug_text

),

-- a part that is only a strength or a form has no substance key and does not count
counted_parts as (

    select
        text_parts.drug_text,
        count(distinct text_parts.part_number) as n_parts,
        count(distinct text_parts.part_number) filter (
            where matches.name is not null
        ) as n_matched,
    from text_parts
    inner join keys
        on
            text_parts.part_text = keys.name
            and keys.key_rank = 3
    left join matches
        on text_parts.part_text = matches.name
    left join whole_matches
        on text_parts.drug_text = whole_matches.drug_text
    where whole_matches.drug_text is null
    group by all

),

part_matches as (

    select
        text_parts.drug_text,
        'parts' as method,
        matches.ingredient_cui_id,
        matches.is_combination,
    from counted_parts
    inner join text_parts
        on counted_parts.drug_text = text_parts.drug_text
    inner join matches
        on text_parts.part_text = matches.name
    where
        counted_parts.n_parts = counted_parts.n_matched
        and counted_parts.n_parts > 1

),

hits as (

    select * from whole_matches
    union
    select * from part_matches

),

-- several hits: a combination counts as its parts
ingredients as (

    select
        hits.drug_text,
        coalesce(combination_parts.part_cui_id, hits.ingredient_cui_id) as part_cui_id,
    from hits
    left join combination_parts
        on hits.ingredient_cui_id = combination_parts.combination_cui_id
    group by all

),

part_sets as (

    select
        drug_text,
        string_agg(cast(part_cui_id as varchar), ' ' order by part_cui_id) as part_set,
    from ingredients
    group by all

),

single_hits as (

    select
        drug_text,
        min(method) as method,
        count(distinct ingredient_cui_id) as n_cuis,
        min(ingredient_cui_id) as cui_id,
    from hits
    group by all

),

matched as (

    select
        single_hits.drug_text,
        case
            when single_hits.n_cuis = 1 then single_hits.cui_id
            else combination_sets.combination_cui_id
        end as cui_id,
        single_hits.method,
        single_hits.n_cuis,
    from single_hits
    inner join part_sets
        on single_hits.drug_text = part_sets.drug_text
    left join combination_sets
        on part_sets.part_set = combination_sets.part_set

),

-- an override without a concept leaves the text without one
resolved as (

    select
        drug_text,
        cui_id,
        'override' as method,
        1 as n_cuis,
        true as is_overridden,
    from overridden
    union all
    select
        matched.drug_text,
        matched.cui_id,
        matched.method,
        matched.n_cuis,
        false as is_overridden,
    from matched
    left join overridden
        on matched.drug_text = overridden.drug_text
    where overridden.drug_text is null

),

labels as (

    select distinct
        ingredient_cui_id,
        label,
        is_combination,
    from drug_ingredients

),

text_concepts as (

    select
        drug_texts.drug_text,
        normalized_texts.normalized_text,
        case when text_reasons.reason is null then resolved.cui_id end as cui_id,
        case when text_reasons.reason is null then labels.label end as label,
        case
            when text_reasons.reason is null and resolved.cui_id is not null
                then resolved.method
            else 'none'
        end as method,
        case
            when text_reasons.reason is not null then text_reasons.reason
            when resolved.cui_id is not null then null
            when resolved.is_overridden then 'overridden'
            when resolved.n_cuis > 1 then 'several_ingredients'
            else 'no_concept'
        end as reason,
        text_reasons.reason is not null as is_non_drug,
        text_reasons.reason is null
        and coalesce(labels.is_combination, coalesce(resolved.n_cuis, 0) > 1)
            as is_combination,
    from drug_texts
    left join normalized_texts
        on drug_texts.drug_text = normalized_texts.drug_text
    left join text_reasons
        on drug_texts.drug_text = text_reasons.drug_text
    left join resolved
        on drug_texts.drug_text = resolved.drug_text
    left join labels
        on resolved.cui_id = labels.ingredient_cui_id

)

select * from text_concepts
