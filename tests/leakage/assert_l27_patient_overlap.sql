-- Patients of released items who could be counted twice: of MIMIC-III beside MIMIC-IV with a stay
-- that CareVue did not record, or none; in two sources of which neither is made from the other; or
-- with records under two person groups, which the patient halves would divide.
with

released as (

    select distinct template_key
    from {{ ref('dim_items') }}
    where released

),

templates as (

    select * from {{ ref('fct_templates') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

registered as (

    select * from {{ ref('int_source_patients') }}

),

families as (

    select * from {{ ref('source_overlaps') }}

),

icustays as (

    select * from {{ ref('stg_mimic_iii__icustays') }}

),

asked as (

    select distinct
        patients.patient_key,
        patients.source,
        patients.person_group,
        families.derived_from,
        registered.patient_id,
        registered.person_id,
        coalesce(families.person_family, patients.source) as family
    from released
    inner join templates
        on released.template_key = templates.template_key
    left join patients
        on templates.patient_key = patients.patient_key
    left join registered
        on patients.source = registered.source
        and patients.patient_key = {{ key(['registered.source', 'registered.patient_id']) }}
    left join families
        on patients.source = families.source

),

carevue_only as (

    select subject_id
    from icustays
    group by subject_id
    having bool_and(dbsource = 'carevue')

),

in_mimic_iv_years as (

    select
        asked.patient_key,
        'years of MIMIC-IV' as found_by
    from asked
    left join carevue_only
        on asked.patient_id = carevue_only.subject_id
    where asked.source = 'mimic_iii'
        and carevue_only.subject_id is null
        and exists (
            select 1
            from patients
            inner join families
                on patients.source = families.source
                and families.person_family = 'mimic_iv_family'
        )

),

in_two_sources as (

    select
        one.patient_key,
        'two sources' as found_by
    from asked as one
    inner join asked as other
        on one.person_group = other.person_group
        and one.source <> other.source
    where one.derived_from is distinct from other.source
        and other.derived_from is distinct from one.source

),

divided as (

    select
        min(patient_key) as patient_key,
        'divided person' as found_by
    from asked
    group by
        family,
        person_id
    having count(distinct person_group) > 1
        or count(*) > count(person_group)

)

select * from in_mimic_iv_years
union
select * from in_two_sources
union
select * from divided
