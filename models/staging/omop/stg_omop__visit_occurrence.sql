with

raw_visit_occurrence as (

    select * from {{ raw('omop', 'visit_occurrence') }}

),

renamed as (

    select
        ---------- ids
        _site as source,
        {{ omop_id('visit_occurrence_id') }} as visit_occurrence_id,
        {{ omop_id('person_id') }} as person_id,
        {{ omop_concept_id('visit_concept_id') }} as visit_concept_id,
        {{ omop_concept_id('visit_source_concept_id') }} as visit_source_concept_id,

        ---------- strings
        {{ omop_text('visit_source_value') }} as visit_source_value,

        ---------- timestamps
        {{ omop_time('visit_start_date') }} as visit_start_date,
        {{ omop_time('visit_start_datetime') }} as visit_start_datetime,
        {{ omop_time('visit_end_date') }} as visit_end_date,
        {{ omop_time('visit_end_datetime') }} as visit_end_datetime,
        {{ unreadable_columns({
            'visit_start_date': 'timestamp', 'visit_start_datetime': 'timestamp',
            'visit_end_date': 'timestamp', 'visit_end_datetime': 'timestamp',
        }) }} as unreadable_columns,

        ---------- where the row is
        _file as source_file,
        _row as source_row,
        coalesce(lower({{ omop_text('person_id') }}) = 'person_id', false) as is_header_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_visit_occurrence

)

select * from renamed
