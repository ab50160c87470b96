with

raw_external_identifiers as (

    select * from {{ raw('drugbank', 'external_identifiers') }}

),

renamed as (

    select
        ---------- ids
        drugbank_id,

        ---------- strings
        resource,
        identifier
    from raw_external_identifiers

)

select * from renamed
