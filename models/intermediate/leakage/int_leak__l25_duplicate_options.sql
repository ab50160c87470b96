-- Options that say the same as another one of their template: by text, concept, ingredient, drug
-- class, ICD category, or by a code that the other ICD version translates to the same. Every
-- option gets the marks of its concept; two options with one mark are duplicates, and the later
-- one is found.
with

options as (

    select * from {{ ref('int_leak_options') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

code_concepts as (

    select * from {{ ref('int_code_concepts') }}
    where mapping_level in ('exact', 'equivalent')

),

cohort_codes as (

    select * from {{ ref('int_cohort_codes') }}
    where is_coded

),

icd_code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

gem_targets as (

    select * from {{ ref('int_gem_targets') }}
    where not is_approximate
        and not is_combination

),

combination_parts as (

    select * from {{ ref('int_combination_parts') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}

),

atc_kinds as (

    select * from {{ ref('atc_kinds') }}

),

concepts as (

    select distinct
        options.option_key,
        options.cui_id,
        labels.event_type,
        {{ leak_words('labels.label') }} as words
    from options
    inner join labels
        on options.option_key = labels.option_key

),

own_codes as (

    select distinct
        concepts.option_key,
        code_concepts.code_system,
        code_concepts.normalized_code as code
    from concepts
    inner join code_concepts
        on concepts.cui_id = code_concepts.cui_id
    inner join icd_code_systems
        on code_concepts.code_system = icd_code_systems.code_system
        and concepts.event_type = icd_code_systems.code_kind
    inner join cohort_codes
        on code_concepts.code_system = cohort_codes.code_system
        and code_concepts.normalized_code = cohort_codes.normalized_code

),

codes as (

    select * from own_codes

    union

    select
        own_codes.option_key,
        gem_targets.target_system as code_system,
        gem_targets.target_code as code
    from own_codes
    inner join gem_targets
        on own_codes.code_system = gem_targets.code_system
        and own_codes.code = gem_targets.normalized_code

),

ingredients as (

    select
        option_key,
        cui_id
    from concepts
    where event_type = 'medication'

    union

    select
        concepts.option_key,
        drug_ingredients.ingredient_cui_id as cui_id
    from concepts
    inner join drug_ingredients
        on concepts.cui_id = drug_ingredients.cui_id
    where concepts.event_type = 'medication'

    union

    select
        concepts.option_key,
        combination_parts.part_cui_id as cui_id
    from concepts
    inner join combination_parts
        on concepts.cui_id = combination_parts.combination_cui_id
    where concepts.event_type = 'medication'

),

marks as (

    select
        option_key,
        'text' as kind,
        trim(words) as mark
    from concepts

    union

    select
        option_key,
        'concept' as kind,
        {{ cui_text('cui_id') }} as mark
    from concepts

    union

    select
        option_key,
        'ingredient' as kind,
        {{ cui_text('cui_id') }} as mark
    from ingredients
    where cui_id is not null

    union

    select
        ingredients.option_key,
        'drug class' as kind,
        drug_classes.atc_code as mark
    from ingredients
    inner join drug_classes
        on ingredients.cui_id = drug_classes.cui_id
    left join atc_kinds
        on drug_classes.atc_code = atc_kinds.atc_code
    where drug_classes.level = {{ var('class_relative_level') }}
        or atc_kinds.atc_code is not null

    union

    select
        option_key,
        'code' as kind,
        concat(code_system, ' ', code) as mark
    from codes

    -- A procedure's "category" is a body system: far wider than one procedure.
    union

    select
        codes.option_key,
        'category' as kind,
        concat(
            codes.code_system, ' ', {{ icd_category('codes.code_system', 'codes.code') }}
        ) as mark
    from codes
    inner join icd_code_systems
        on codes.code_system = icd_code_systems.code_system
        and icd_code_systems.code_kind = 'diagnosis'

),

placed as (

    select
        options.template_key,
        options.option_key,
        options.rank,
        marks.kind,
        marks.mark,
        min(options.rank) over (
            partition by options.template_key, marks.kind, marks.mark
        ) as first_rank
    from options
    inner join marks
        on options.option_key = marks.option_key

),

found as (

    select
        'L25' as rule_id,
        'option' as scope,
        template_key,
        cast(null as varchar) as item_id,
        option_key,
        min(concat('same ', kind, ' as another option: ', mark)) as evidence
    from placed
    where rank > first_rank
    group by
        template_key,
        option_key

)

select * from found
