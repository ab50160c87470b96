with

raw_condition_occurrence as (

    select * from {{ raw('omop', 'condition_occurrence') }}

),

renamed as (

    select
        ---------- ids
        _site as source,
        {{ omop_id('person_id') }} as person_id,
        {{ omop_id('visit_occurrence_id') }} as visit_occurrence_id,
        {{ omop_concept_id('condition_concept_id') }} as condition_concept_id,
        {{ omop_concept_id('condition_type_concept_id') }} as condition_type_concept_id,
        {{ omop_concept_id('condition_source_concept_id') }} as condition_source_concept_id,

        ---------- strings
        {{ omop_text('condition_source_value') }} as condition_source_value,

        ---------- timestamps
        {{ omop_time('condition_start_date') }} as condition_start_date,
        {{ unreadable_columns({'condition_start_date': 'timestamp'}) }} as unreadable_columns,

        ---------- where the row is
        _file as source_file,
        _row as source_row,
        coalesce(lower({{ omop_text('person_id') }}) = 'person_id', false) as is_header_row,
        -- Each record has a type, so one without it and without a visit was cut off before them.
        {{ swallowed_lines() }}
            or trim(concat(visit_occurrence_id, condition_type_concept_id)) = '' as is_torn_line
    from raw_condition_occurrence

)

select * from renamed
