with

source as (

    select * from {{ raw('completions', 'embeddings') }}

),

renamed as (

    select
        ---------- ids
        cast(text_key as varchar) as text_key,

        ---------- strings
        cast(model as varchar) as model,
        cast(revision as varchar) as revision,

        ---------- numerics
        cast(vector as tinyint[]) as vector,
        cast(schema_version as integer) as schema_version
    from source

)

select * from renamed
