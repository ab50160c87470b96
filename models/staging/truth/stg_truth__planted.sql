with

raw_truth_planted as (

    select * from {{ raw('truth', 'truth_planted') }}

),

renamed as (

    select
        ---------- strings
        source,
        subject_id,
        hadm_id,
        target_hadm_id,
        task,
        relation,
        subject_cui,
        object_cui
    from raw_truth_planted

)

select * from renamed
