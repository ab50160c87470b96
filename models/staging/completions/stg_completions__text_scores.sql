with

source as (

    select * from {{ raw('completions', 'text_scores') }}

),

renamed as (

    select
        ---------- ids
        cast(pair_key as varchar) as pair_key,

        ---------- strings
        cast(model as varchar) as model,
        cast(revision as varchar) as revision,

        ---------- numerics
        cast(layer as integer) as layer,
        cast(rouge_1 as double) as rouge_1,
        cast(rouge_l as double) as rouge_l,
        cast(bertscore as double) as bertscore,
        cast(schema_version as integer) as schema_version
    from source

)

select * from renamed
