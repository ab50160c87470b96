with

raw_truth_conflicts as (

    select * from {{ raw('truth', 'truth_conflicts') }}

),

renamed as (

    select
        ---------- strings
        rule,
        context_code_system,
        context_code,
        context_cui,
        answer_code_system,
        answer_code,
        answer_cui
    from raw_truth_conflicts

)

select * from renamed
