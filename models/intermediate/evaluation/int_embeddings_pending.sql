{{ config(materialized='view') }}

-- What is still to be embedded: texts × embedding models that the plan of this target names,
-- without a stored vector of the model's present revision. The one relation that `ehrbench embed`
-- reads.
with

texts as (

    select * from {{ ref('int_texts_to_embed') }}

),

run_plan as (

    select * from {{ ref('run_plan') }}
    where target = '{{ var('plan_target', target.name) }}'
        and stage = 'embeddings'
        and enabled

),

models as (

    select * from {{ ref('models') }}

),

vectors as (

    select * from {{ ref('int_text_vectors') }}

),

planned as (

    select
        models.model,
        models.revision,
        texts.text_key,
        texts.text
    from run_plan
    inner join models
        on run_plan.model = models.model
    cross join texts

),

pending as (

    select planned.*
    from planned
    left join vectors
        on planned.text_key = vectors.text_key
        and planned.model = vectors.model
    where vectors.text_key is null

)

select * from pending
