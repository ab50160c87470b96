{{ config(materialized='view') }}

with

vocabulary as (

    select * from {{ ref('stg_drugbank__vocabulary') }}

),

drugs as (

    select * from {{ ref('stg_drugbank__drugs') }}

),

interactions as (

    select * from {{ ref('stg_drugbank__interactions') }}

),

named as (

    select
        'drugbank.vocabulary' as source_table,
        source_file,
        source_row,
        drugbank_id,
        name,
        {{ has_open_quote() }} as has_open_quote
    from vocabulary

    union all

    select
        'drugbank.drugs' as source_table,
        source_file,
        source_row,
        drugbank_id,
        name,
        false as has_open_quote
    from drugs

),

judged as (

    select
        source_table,
        source_file,
        source_row,
        case
            when has_open_quote then 'open_quote'
            when drugbank_id is null then 'missing_key'
            when not regexp_matches(drugbank_id, '^DB[0-9]{5}$') then 'malformed_key'
            when name is null then 'missing_name'
            when row_number() over (
                    partition by source_table, drugbank_id
                    order by source_row
                ) > 1
                then 'duplicate_key'
        end as reason
    from named

    union all

    select
        'drugbank.interactions' as source_table,
        source_file,
        source_row,
        case
            when drugbank_id is null or other_drugbank_id is null then 'missing_key'
            when not regexp_matches(drugbank_id, '^DB[0-9]{5}$')
                or not regexp_matches(other_drugbank_id, '^DB[0-9]{5}$')
                then 'malformed_key'
        end as reason
    from interactions

)

select
    source_table,
    source_file as file,
    source_row as row,
    reason,
    'set_aside' as action
from judged
where reason is not null
