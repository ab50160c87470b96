-- E850, V443 and hundreds of other texts are codes of both versions with another meaning. Two codes
-- of one text share a concept only where a mapping between the versions says so.
with code_concepts as (

    select
        *,
        replace(normalized_code, '.', '') as bare_code,
    from {{ ref('int_icd_code_concepts') }}
    where mapping_level in ('exact', 'equivalent')

),

gem_targets as (

    select * from {{ ref('int_gem_targets') }}

)

select
    nine.normalized_code as icd9_code,
    ten.normalized_code as icd10_code,
    nine.cui_id,
from code_concepts as nine
inner join code_concepts as ten
    on
        nine.bare_code = ten.bare_code
        and nine.cui_id = ten.cui_id
left join gem_targets
    on
        nine.code_system = gem_targets.code_system
        and nine.normalized_code = gem_targets.normalized_code
        and ten.code_system = gem_targets.target_system
        and ten.normalized_code = gem_targets.target_code
where
    nine.code_system = 'ICD9CM'
    and ten.code_system = 'ICD10CM'
    and gem_targets.target_code is null
