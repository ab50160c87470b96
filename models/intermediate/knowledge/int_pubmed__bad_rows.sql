{{ config(materialized='view') }}

with

articles as (

    select * from {{ ref('stg_pubmed__articles') }}

),

judged as (

    select
        source_file,
        source_row,
        case
            when pmid is null then 'missing_key'
            when not regexp_matches(pmid, '^[0-9]+$') then 'malformed_key'
            when row_number() over (partition by pmid order by source_row) > 1
                then 'duplicate_key'
        end as reason
    from articles

)

select
    'pubmed.articles' as source_table,
    source_file as file,
    source_row as row,
    reason,
    'set_aside' as action
from judged
where reason is not null
