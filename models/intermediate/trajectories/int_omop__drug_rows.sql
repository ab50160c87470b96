-- Drug records of OMOP sites, one row per visit x drug x route x type, with the text and the NDC
-- that stand for the drug. A source value of eleven digits (or one of the hyphened layouts) is an
-- NDC unless the site says that its code is another one; a value with words is the text; else the
-- name of a concept is.
with

drug_exposures as (

    select * from {{ ref('stg_omop__drug_exposure') }}

),

concepts as (

    select * from {{ ref('int_omop__concepts') }}

),

type_concepts as (

    select * from {{ ref('omop_type_concepts') }}
    where row_type = 'medication'

),

drugs_aggregated as (

    select
        source,
        person_id,
        visit_occurrence_id,
        drug_concept_id,
        drug_source_concept_id,
        drug_source_value,
        drug_type_concept_id,
        route_source_value as route,
        is_header_row,
        is_torn_line,
        min(coalesce(drug_exposure_start_datetime, drug_exposure_start_date)) as first_at,
        count(*) as n_source_rows
    from drug_exposures
    group by all

),

drug_names as (

    -- Named once per distinct drug, not per row.
    select
        drugs.source,
        drugs.drug_concept_id,
        drugs.drug_source_concept_id,
        drugs.drug_source_value,
        coalesce(source_concepts.vocabulary_id, 'NDC') = 'NDC'
            and ({{ normalize_ndc('drugs.drug_source_value') }}).status = 'mapped_format' as is_ndc,
        regexp_matches(drugs.drug_source_value, '[A-Za-z]{3}') as is_text,
        coalesce(standard_concepts.concept_name, source_concepts.concept_name) as concept_name
    from (
        select distinct source, drug_concept_id, drug_source_concept_id, drug_source_value
        from drugs_aggregated
    ) as drugs
    left join concepts as source_concepts
        on drugs.source = source_concepts.source
        and drugs.drug_source_concept_id = source_concepts.concept_id
    left join concepts as standard_concepts
        on drugs.source = standard_concepts.source
        and drugs.drug_concept_id = standard_concepts.concept_id

),

types as (

    select
        kinds.source,
        kinds.drug_type_concept_id,
        type_concepts.set_aside_reason,
        type_concepts.is_administered
    from (select distinct source, drug_type_concept_id from drugs_aggregated) as kinds
    inner join type_concepts
        on kinds.drug_type_concept_id = type_concepts.type_concept_id
        and kinds.source like type_concepts.source_pattern
    qualify row_number() over (
        partition by kinds.source, kinds.drug_type_concept_id
        order by length(type_concepts.source_pattern) desc, type_concepts.source_pattern
    ) = 1

),

named as (

    select
        drugs_aggregated.*,
        case when drug_names.is_ndc then drug_names.drug_source_value end as ndc,
        case
            when drug_names.is_text and not drug_names.is_ndc then drug_names.drug_source_value
            else coalesce(drug_names.concept_name, drug_names.drug_source_value)
        end as drug_text,
        types.set_aside_reason as type_reason,
        coalesce(types.is_administered, false) as is_administered
    from drugs_aggregated
    left join drug_names
        on drugs_aggregated.source = drug_names.source
        and drugs_aggregated.drug_concept_id is not distinct from drug_names.drug_concept_id
        and drugs_aggregated.drug_source_concept_id
            is not distinct from drug_names.drug_source_concept_id
        and drugs_aggregated.drug_source_value is not distinct from drug_names.drug_source_value
    left join types
        on drugs_aggregated.source = types.source
        and drugs_aggregated.drug_type_concept_id = types.drug_type_concept_id

)

select
    source,
    person_id,
    visit_occurrence_id,
    drug_text,
    ndc,
    route,
    first_at,
    n_source_rows,
    is_administered,
    case
        when is_torn_line then 'torn_line'
        when is_header_row then 'header_row'
        when person_id is null then 'missing_key'
        when {{ omop_id_is_torn('person_id') }} or {{ omop_id_is_torn('visit_occurrence_id') }}
            then 'torn_id'
        when drug_source_value is null and drug_concept_id is null
            and drug_source_concept_id is null
            then 'missing_drug_text'
        when type_reason is not null then type_reason
        when visit_occurrence_id is null then 'no_visit'
        when drug_text is null then 'unnamed_concept'
    end as set_aside_reason
from named
