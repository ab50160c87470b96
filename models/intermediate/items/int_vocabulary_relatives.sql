-- One row per concept of the answer vocabulary x concept near it (itself, ancestors, descendants,
-- siblings, equivalents; either direction of the hierarchy table); is_same: itself, an equivalent.
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
        relatives.relative_cui_id as near_cui_id,
        relatives.relation
    from vocabulary
    inner join relatives
        on vocabulary.cui_id = relatives.cui_id

    union all

    select
        vocabulary.cui_id,
        relatives.cui_id as near_cui_id,
        relatives.relation
    from vocabulary
    inner join relatives
        on vocabulary.cui_id = relatives.relative_cui_id

    union all

    select
        cui_id,
        cui_id as near_cui_id,
        'self' as relation
    from vocabulary

),

marked as (

    select
        cui_id,
        near_cui_id,
        bool_or(relation in ('self', 'equivalent')) as is_same
    from near_pairs
    group by
        cui_id,
        near_cui_id

)

select * from marked
