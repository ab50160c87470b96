with

raw_interactions as (

    select * from {{ raw('drugbank', 'interactions') }}

),

renamed as (

    select
        ---------- ids
        drugbank_id,
        other_drugbank_id,

        ---------- strings
        other_name,
        description,

        ---------- where it came from
        _file as source_file,
        cast(_row as bigint) as source_row
    from raw_interactions

)

select * from renamed
