with

raw_drug_exposure as (

    select * from {{ raw('omop', 'drug_exposure') }}

),

renamed as (

    select
        ---------- ids
        _site as source,
        {{ omop_id('person_id') }} as person_id,
        {{ omop_id('visit_occurrence_id') }} as visit_occurrence_id,
        {{ omop_concept_id('drug_concept_id') }} as drug_concept_id,
        {{ omop_concept_id('drug_type_concept_id') }} as drug_type_concept_id,
        {{ omop_concept_id('drug_source_concept_id') }} as drug_source_concept_id,

        ---------- strings
        {{ omop_text('drug_source_value') }} as drug_source_value,
        {{ omop_text('route_source_value') }} as route_source_value,

        ---------- timestamps
        {{ omop_time('drug_exposure_start_date') }} as drug_exposure_start_date,
        {{ omop_time('drug_exposure_start_datetime') }} as drug_exposure_start_datetime,
        {{ unreadable_columns({
            'drug_exposure_start_date': 'timestamp', 'drug_exposure_start_datetime': 'timestamp',
        }) }} as unreadable_columns,

        ---------- where the row is
        _file as source_file,
        _row as source_row,
        coalesce(lower({{ omop_text('person_id') }}) = 'person_id', false) as is_header_row,
        -- Each record has a type, so one without it and without a visit was cut off before them.
        {{ swallowed_lines() }}
            or trim(concat(visit_occurrence_id, drug_type_concept_id)) = '' as is_torn_line
    from raw_drug_exposure

)

select * from renamed
