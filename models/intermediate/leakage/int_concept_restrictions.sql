-- One row per event type x answer concept that not every patient can have, or that is no drug any
-- more. A concept is as free as the freest of the codes that mean it, at the nearest level of
-- mapping; the words of its label restrict it too, unless they name both sexes.
with

templates as (

    select * from {{ ref('int_templates') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

code_concepts as (

    select * from {{ ref('int_code_concepts') }}
    where rank = 1
        and cui_id is not null

),

cohort_codes as (

    select * from {{ ref('int_cohort_codes') }}
    where is_coded

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}
    where level = 5

),

atoms as (

    select * from {{ ref('stg_umls__atoms') }}
    where sab = 'RXNORM'

),

restricted_codes as (

    select * from {{ ref('sex_age_restricted') }}

),

restricted_words as (

    select * from {{ ref('sex_age_words') }}

),

answers as (

    select distinct
        templates.answer_event_type as event_type,
        templates.answer_cui_id as cui_id,
        labels.label_words
    from templates
    inner join labels
        on templates.answer_option_key = labels.option_key

),

concept_codes as (

    select
        answers.event_type,
        answers.cui_id,
        code_concepts.code_system,
        code_concepts.normalized_code as code
    from answers
    inner join code_concepts
        on answers.cui_id = code_concepts.cui_id
    inner join cohort_codes
        on code_concepts.code_system = cohort_codes.code_system
        and code_concepts.normalized_code = cohort_codes.normalized_code
    where answers.event_type <> 'medication'
    qualify case when code_concepts.mapping_level in ('exact', 'equivalent') then 0 else 1 end
        = min(case when code_concepts.mapping_level in ('exact', 'equivalent') then 0 else 1 end)
            over (partition by answers.event_type, answers.cui_id)

    union all

    select
        answers.event_type,
        answers.cui_id,
        'ATC' as code_system,
        drug_classes.atc_code as code
    from answers
    inner join drug_classes
        on answers.cui_id = drug_classes.cui_id
    where answers.event_type = 'medication'

),

-- Several rows of the seed on one code hold together.
codes_limited as (

    select
        concept_codes.event_type,
        concept_codes.cui_id,
        concept_codes.code_system,
        concept_codes.code,
        max(restricted_codes.sex) as sex,
        max(restricted_codes.min_age) as min_age,
        min(restricted_codes.max_age) as max_age
    from concept_codes
    left join restricted_codes
        on concept_codes.code_system = restricted_codes.code_system
        and {{ code_in_range('concept_codes.code', 'restricted_codes.code_from',
            'restricted_codes.code_to') }}
    group by
        concept_codes.event_type,
        concept_codes.cui_id,
        concept_codes.code_system,
        concept_codes.code

),

limits_by_codes as (

    select
        event_type,
        cui_id,
        case
            when count(sex) = count(*) and count(distinct sex) = 1 then max(sex)
        end as sex,
        case when count(min_age) = count(*) then min(min_age) end as min_age,
        case when count(max_age) = count(*) then max(max_age) end as max_age
    from codes_limited
    group by
        event_type,
        cui_id

),

limits_by_words as (

    select
        answers.event_type,
        answers.cui_id,
        case when count(distinct restricted_words.sex) = 1 then max(restricted_words.sex) end
            as sex,
        max(restricted_words.min_age) as min_age,
        min(restricted_words.max_age) as max_age
    from answers
    inner join restricted_words
        on answers.label_words like concat('% ', restricted_words.word_pattern, ' %')
        and (
            restricted_words.unless_words is null
            or not contains(answers.label_words, concat(' ', restricted_words.unless_words, ' '))
        )
    where answers.event_type <> 'medication'
    group by
        answers.event_type,
        answers.cui_id

),

-- RxNorm suppresses every name of a drug that it has retired.
obsolete_drugs as (

    select
        answers.event_type,
        answers.cui_id
    from answers
    inner join atoms
        on answers.cui_id = {{ cui_id('atoms.cui') }}
    where answers.event_type = 'medication'
    group by
        answers.event_type,
        answers.cui_id
    having count(*) filter (where atoms.suppress = 'N') = 0

),

restrictions as (

    select
        answers.event_type,
        answers.cui_id,
        coalesce(limits_by_codes.sex, limits_by_words.sex) as sex,
        coalesce(limits_by_codes.min_age, limits_by_words.min_age) as min_age,
        coalesce(limits_by_codes.max_age, limits_by_words.max_age) as max_age,
        obsolete_drugs.cui_id is not null as is_obsolete
    from answers
    left join limits_by_codes
        on answers.event_type = limits_by_codes.event_type
        and answers.cui_id = limits_by_codes.cui_id
    left join limits_by_words
        on answers.event_type = limits_by_words.event_type
        and answers.cui_id = limits_by_words.cui_id
    left join obsolete_drugs
        on answers.event_type = obsolete_drugs.event_type
        and answers.cui_id = obsolete_drugs.cui_id

)

select * from restrictions
where sex is not null
    or min_age is not null
    or max_age is not null
    or is_obsolete
