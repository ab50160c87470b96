with

raw_drugs as (

    select * from {{ raw('drugbank', 'drugs') }}

),

renamed as (

    select
        ---------- ids
        drugbank_id,

        ---------- strings
        name,
        drug_type,
        cas_number,
        unii,
        groups,
        indication,

        ---------- where it came from
        _file as source_file,
        cast(_row as bigint) as source_row
    from raw_drugs

)

select * from renamed
