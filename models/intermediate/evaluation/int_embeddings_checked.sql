{{ config(materialized='view') }}

with

embeddings as (

    select * from {{ ref('stg_completions__embeddings') }}

),

models as (

    select * from {{ ref('models') }}

),

checked as (

    select
        embeddings.*,
        models.revision is not distinct from embeddings.revision as is_current,
        case
            when embeddings.schema_version is distinct from
                {{ var('completions_schema_version') }}
                then 'unknown_schema_version'
            when embeddings.text_key is null then 'no_text_key'
            when coalesce(len(embeddings.vector), 0) = 0 then 'no_vector'
            -- A crash while shards are compacted may leave a row twice.
            when row_number() over (
                partition by embeddings.text_key, embeddings.model, embeddings.revision,
                    embeddings.schema_version
                order by md5(cast(embeddings.vector as varchar))
            ) > 1 then 'repeated_text'
        end as set_aside_reason
    from embeddings
    left join models
        on embeddings.model = models.model

)

select * from checked
