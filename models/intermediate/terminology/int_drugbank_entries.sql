-- The drugs of DrugBank's own files, the open vocabulary and the full database, one row per id.
with vocabulary as (

    select * from {{ ref('stg_drugbank__vocabulary') }}
    where not {{ has_open_quote() }}

),

drugs as (

    select * from {{ ref('stg_drugbank__drugs') }}

),

listed as (

    select
        1 as list_rank,
        source_row,
        trim(drugbank_id) as drugbank_id,
        nullif(trim(name), '') as name,
        nullif(upper(trim(unii)), '') as unii,
    from vocabulary
    union all
    select
        2 as list_rank,
        source_row,
        trim(drugbank_id) as drugbank_id,
        nullif(trim(name), '') as name,
        nullif(upper(trim(unii)), '') as unii,
    from drugs

)

-- of several rows of an id the first with a name counts; the others are in fct_quarantine
select
    drugbank_id,
    min_by(name, (list_rank, source_row)) as name,
    min_by(unii, (list_rank, source_row)) as unii,
from listed
where
    regexp_full_match(drugbank_id, 'DB[0-9]{5}')
    and name is not null
group by all
