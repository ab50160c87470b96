with

raw_person as (

    select * from {{ raw('omop', 'person') }}

),

renamed as (

    select
        ---------- ids
        _site as source,
        {{ omop_id('person_id') }} as person_id,
        {{ omop_concept_id('gender_concept_id') }} as gender_concept_id,
        {{ omop_id('race_concept_id') }} as race_concept_id,

        ---------- strings
        {{ omop_text('person_source_value') }} as person_source_value,
        {{ omop_text('gender_source_value') }} as gender_source_value,
        {{ omop_text('race_source_value') }} as race_source_value,
        {{ omop_text('ethnicity_source_value') }} as ethnicity_source_value,

        ---------- numbers
        try_cast({{ omop_id('year_of_birth') }} as integer) as year_of_birth,

        ---------- where the row is
        _file as source_file,
        _row as source_row,
        coalesce(lower({{ omop_text('person_id') }}) = 'person_id', false) as is_header_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_person

)

select * from renamed
