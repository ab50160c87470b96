with

raw_truth_codes as (

    select * from {{ raw('truth', 'truth_codes') }}

),

renamed as (

    select
        ---------- strings
        code_system,
        code,
        cui,
        level
    from raw_truth_codes

)

select * from renamed
