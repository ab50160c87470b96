-- Ranges of code prefixes whose ends have different lengths or the wrong order, and ATC groups of a
-- length that no level has: they find other codes than they seem to, or none.
with

ranges as (

    select 'outcome_proxies' as seed_name, code_system, code_from, code_to
    from {{ ref('outcome_proxies') }}
    union all
    select 'status_code_reveals', code_system, code_from, code_to
    from {{ ref('status_code_reveals') }}
    union all
    select 'icd_pair_conventions', code_system, code_from, code_to
    from {{ ref('icd_pair_conventions') }}
    union all
    select 'icd_pair_conventions', code_system, paired_from, paired_to
    from {{ ref('icd_pair_conventions') }}
    union all
    select 'icd_families', code_system, code_from, code_to
    from {{ ref('icd_families') }}

),

treatment_targets as (

    select * from {{ ref('treatment_targets') }}
    where target_kind = 'atc'

),

atc_levels as (

    select * from {{ ref('atc_levels') }}

)

select
    seed_name,
    code_from as found
from ranges
where code_from is null
    or code_to is null
    or length(code_from) <> length(code_to)
    or code_from > code_to

union all

select
    'treatment_targets' as seed_name,
    treatment_targets.target as found
from treatment_targets
left join atc_levels
    on length(treatment_targets.target) = atc_levels.code_length
where atc_levels.level is null
