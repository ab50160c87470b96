-- The union point of the sources: a further source adds one model and one branch here.
with mimic_iv as (

    select * from {{ ref('int_mimic_iv__drug_texts') }}

),

mimic_iii as (

    select * from {{ ref('int_mimic_iii__drug_texts') }}

),

omop as (

    select * from {{ ref('int_omop__drug_texts') }}

),

sources as (

    select drug_text from mimic_iv
    union all
    select drug_text from mimic_iii
    union all
    select drug_text from omop

),

merged as (

    select distinct drug_text
    from sources

)

select * from merged
