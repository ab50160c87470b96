with

raw_truth_evidence as (

    select * from {{ raw('truth', 'truth_evidence') }}

),

renamed as (

    select
        ---------- strings
        subject_cui,
        relation,
        object_cui,

        ---------- numbers
        try_cast(n_supporting_pmids as integer) as n_supporting_pmids,
        try_cast(n_supporting_pmids_exact as integer) as n_supporting_pmids_exact,
        try_cast(n_supporting_curated as integer) as n_supporting_curated,
        try_cast(n_supporting_curated_exact as integer) as n_supporting_curated_exact,
        try_cast(n_contradicting_pmids as integer) as n_contradicting_pmids,
        try_cast(n_hazard_pmids as integer) as n_hazard_pmids,
        try_cast(n_reverse_pmids as integer) as n_reverse_pmids
    from raw_truth_evidence

)

select * from renamed
