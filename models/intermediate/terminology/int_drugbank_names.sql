-- Every name and synonym of DrugBank's own files with the concept of the drug.
with entries as (

    select * from {{ ref('int_drugbank_entries') }}

),

vocabulary as (

    select * from {{ ref('stg_drugbank__vocabulary') }}
    where not {{ has_open_quote() }}

),

synonyms as (

    select * from {{ ref('stg_drugbank__synonyms') }}

),

drugbank_concepts as (

    select * from {{ ref('int_drugbank_concepts') }}

),

names as (

    select
        drugbank_id,
        name,
        true as is_main_name,
    from entries
    union all
    select
        trim(drugbank_id) as drugbank_id,
        trim(unnest(string_split(synonyms, '|'))) as name,
        false as is_main_name,
    from vocabulary
    union all
    select
        trim(drugbank_id) as drugbank_id,
        trim(synonym) as name,
        false as is_main_name,
    from synonyms

),

merged as (

    select
        names.drugbank_id,
        names.name,
        bool_or(names.is_main_name) as is_main_name,
        drugbank_concepts.cui_id,
    from names
    left join drugbank_concepts
        on names.drugbank_id = drugbank_concepts.drugbank_id
    where names.name <> ''
    group by all

)

select * from merged
