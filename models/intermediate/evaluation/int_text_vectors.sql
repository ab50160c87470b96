-- Vectors of the texts that are compared today, of the revision that the registry names. Stored as
-- whole numbers from -127 to 127, so that a dot product is exact in any order.
with

embeddings as (

    select * from {{ ref('int_embeddings_checked') }}
    where set_aside_reason is null
        and is_current

),

texts as (

    select * from {{ ref('int_texts_to_embed') }}

),

vectors as (

    select
        embeddings.text_key,
        embeddings.model,
        cast(embeddings.vector as double[]) as vector
    from embeddings
    inner join texts
        on embeddings.text_key = texts.text_key

),

squared as (

    select
        text_key,
        model,
        vector,
        list_dot_product(vector, vector) as squared_length
    from vectors

)

select * from squared
where squared_length > 0
