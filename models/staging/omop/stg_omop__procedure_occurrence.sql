with

raw_procedure_occurrence as (

    select * from {{ raw('omop', 'procedure_occurrence') }}

),

renamed as (

    select
        ---------- ids
        _site as source,
        {{ omop_id('person_id') }} as person_id,
        {{ omop_id('visit_occurrence_id') }} as visit_occurrence_id,
        {{ omop_concept_id('procedure_concept_id') }} as procedure_concept_id,
        {{ omop_concept_id('procedure_type_concept_id') }} as procedure_type_concept_id,
        {{ omop_concept_id('procedure_source_concept_id') }} as procedure_source_concept_id,

        ---------- strings
        {{ omop_text('procedure_source_value') }} as procedure_source_value,

        ---------- timestamps
        {{ omop_time('procedure_date') }} as procedure_date,
        {{ omop_time('procedure_datetime') }} as procedure_datetime,
        {{ unreadable_columns({
            'procedure_date': 'timestamp', 'procedure_datetime': 'timestamp',
        }) }} as unreadable_columns,

        ---------- where the row is
        _file as source_file,
        _row as source_row,
        coalesce(lower({{ omop_text('person_id') }}) = 'person_id', false) as is_header_row,
        -- Each record has a type, so one without it and without a visit was cut off before them.
        {{ swallowed_lines() }}
            or trim(concat(visit_occurrence_id, procedure_type_concept_id)) = '' as is_torn_line
    from raw_procedure_occurrence

)

select * from renamed
