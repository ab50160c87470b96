with

raw_concept as (

    select * from {{ raw('omop', 'concept') }}

),

renamed as (

    select
        ---------- ids
        _site as source,
        {{ omop_concept_id('concept_id') }} as concept_id,

        ---------- strings
        {{ omop_text('concept_name') }} as concept_name,
        {{ omop_text('vocabulary_id') }} as vocabulary_id,
        {{ omop_text('concept_code') }} as concept_code
    from raw_concept

)

select * from renamed
