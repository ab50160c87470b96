-- Administration records that belong to no known admission, counted by reason.
with

emar as (

    select
        hadm_id,
        count(*) as n_rows
    from {{ ref('stg_mimic_iv__emar') }}
    group by hadm_id

),

admissions as (

    select * from {{ ref('int_admissions_merged') }}
    where source = 'mimic_iv'

)

select
    cast('mimic_iv' as varchar) as source,
    cast('administration' as varchar) as row_type,
    case when emar.hadm_id is null then 'missing_key' else 'unknown_admission' end as reason,
    cast(sum(emar.n_rows) as bigint) as n_rows
from emar
left join admissions
    on emar.hadm_id = admissions.admission_id
where admissions.admission_id is null
group by 3
