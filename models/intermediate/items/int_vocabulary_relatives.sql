-- One row per concept of the answer vocabulary x concept near it (itself, ancestors, descendants,
-- siblings, equivalents; either direction of the hierarchy table).
with

vocabulary as (

    select distinct cui_id from {{ ref('int_answer_vocabulary') }}

),

relatives as (

    select * from {{ ref('int_concept_relatives') }}

),

near_pairs as (

    select
        vocabulary.cui_id,
        relatives.relative_cui_id as near_cui_id
    from vocabulary
    inner join relatives
        on vocabulary.cui_id = relatives.cui_id

    union

    select
        vocabulary.cui_id,
        relatives.cui_id as near_cui_id
    from vocabulary
    inner join relatives
        on vocabulary.cui_id = relatives.relative_cui_id

    union

    select
        cui_id,
        cui_id as near_cui_id
    from vocabulary

),

marked as (

    select
        cui_id,
        near_cui_id,
        cui_id = near_cui_id as is_self
    from near_pairs

)

select * from marked
