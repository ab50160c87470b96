with drug_rows as (

    select * from {{ ref('int_omop__drug_rows') }}
    where set_aside_reason is null

),

texts as (

    select distinct drug_text
    from drug_rows

)

select * from texts
