-- The union point of the sources: a further source adds one model and one branch here.
with mimic_iv as (

    select * from {{ ref('int_mimic_iv__codes') }}

),

sources as (

    select * from mimic_iv

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
