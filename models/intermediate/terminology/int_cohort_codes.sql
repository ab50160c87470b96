-- The union point of the sources: a further source adds one model and one branch here.
with mimic_iv as (

    select * from {{ ref('int_mimic_iv__codes') }}

),

mimic_iii as (

    select * from {{ ref('int_mimic_iii__codes') }}

),

omop as (

    select * from {{ ref('int_omop__codes') }}

),

sources as (

    select * from mimic_iv
    union all
    select * from mimic_iii
    union all
    select * from omop

),

merged as (

    select
        code_system,
        normalized_code,
        min(label) as label,
        bool_or(is_coded) as is_coded,
    from sources
    group by all

)

select * from merged
