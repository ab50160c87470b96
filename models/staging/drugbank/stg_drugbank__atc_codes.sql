with

raw_atc_codes as (

    select * from {{ raw('drugbank', 'atc_codes') }}

),

renamed as (

    select
        ---------- ids
        drugbank_id,

        ---------- strings
        atc_code
    from raw_atc_codes

)

select * from renamed
