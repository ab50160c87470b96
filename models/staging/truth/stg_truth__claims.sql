with

raw_truth_claims as (

    select * from {{ raw('truth', 'truth_claims') }}

),

renamed as (

    select
        ---------- strings
        subject_cui,
        relation,
        object_cui,

        ---------- numbers
        try_cast(supported as integer) as supported,
        try_cast(contradicted as integer) as contradicted,
        try_cast(ambiguous as integer) as ambiguous
    from raw_truth_claims

)

select * from renamed
