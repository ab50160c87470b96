-- Concepts of each site by id, with their code where the vocabulary is a known one.
with concepts as (

    select * from {{ ref('stg_omop__concept') }}
    union all
    select * from {{ ref('stg_omop__site_concept') }}

),

vocabularies as (

    select * from {{ ref('omop_vocabularies') }}

),

code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

named as (

    select
        source,
        concept_id,
        concept_name,
        vocabulary_id,
        concept_code,
    from concepts
    where concept_id is not null
    qualify row_number() over (
        partition by source, concept_id
        order by vocabulary_id, concept_code, concept_name
    ) = 1

),

coded as (

    select
        named.source,
        named.concept_id,
        named.concept_name,
        named.vocabulary_id,
        named.concept_code,
        vocabularies.code_system,
        coalesce(vocabularies.is_source_vocabulary, false) as is_source_vocabulary,
        case
            when code_systems.code_system is not null
                then {{ normalize_icd('named.concept_code', 'code_systems.icd_version',
                    'code_systems.code_kind') }}
            when vocabularies.code_system is not null then named.concept_code
        end as normalized_code,
    from named
    left join vocabularies
        on named.vocabulary_id = vocabularies.vocabulary_id
    left join code_systems
        on vocabularies.code_system = code_systems.code_system

)

select * from coded
