-- Whether a patient of MIMIC-III counts (var mimic_iii_stays). MIMIC-III's MetaVision years
-- (2008-2012) are in MIMIC-IV too, under other ids, so nothing can tell the same admission twice.
-- A patient counts only when every ICU stay was recorded by CareVue: one MetaVision stay puts the
-- patient into the shared years, and without a stay nothing says that the patient is not in them.
{%- set rules = ['all', 'carevue', 'carevue_beside_mimic_iv'] %}
{%- if var('mimic_iii_stays') not in rules %}
    {{- exceptions.raise_compiler_error(
        'var mimic_iii_stays is ' ~ var('mimic_iii_stays') ~ '; make it one of '
        ~ rules | join(', ')) }}
{%- endif %}
with

patients as (

    select * from {{ ref('stg_mimic_iii__patients') }}

),

icustays as (

    select * from {{ ref('stg_mimic_iii__icustays') }}

),

bad_rows as (

    select * from {{ ref('int_mimic_iii__bad_rows') }}
    where action = 'set_aside'

),

mimic_iv_patients as (

    select * from {{ ref('int_mimic_iv__patients') }}
    where set_aside_reason is null

),

omop_patients as (

    select * from {{ ref('int_omop__patients') }}
    where set_aside_reason is null

),

source_overlaps as (

    select * from {{ ref('source_overlaps') }}

),

mimic_iv_loaded as (

    -- Also when its patients come as an OMOP site.
    select count(*) > 0 as is_loaded
    from (
        select source from mimic_iv_patients
        union
        select source from omop_patients
    ) as loaded
    inner join source_overlaps
        on loaded.source = source_overlaps.source
    where source_overlaps.person_family in (
        select person_family
        from source_overlaps
        where source = 'mimic_iv'
    )

),

stays as (

    select
        icustays.subject_id,
        count(*) as n_stays,
        count(*) filter (where icustays.dbsource = 'carevue') as n_carevue_stays
    from icustays
    left join bad_rows
        on bad_rows.source_table = 'mimic_iii.icustays'
        and icustays.source_row = bad_rows.row
    where bad_rows.row is null
    group by icustays.subject_id

),

counted as (

    select
        patients.subject_id,
        coalesce(stays.n_stays, 0) as n_stays,
        coalesce(stays.n_carevue_stays, 0) as n_carevue_stays
    from patients
    left join bad_rows
        on bad_rows.source_table = 'mimic_iii.patients'
        and patients.source_row = bad_rows.row
    left join stays
        on patients.subject_id = stays.subject_id
    where bad_rows.row is null

)

select
    counted.subject_id,
    counted.n_stays,
    counted.n_carevue_stays,
    case
        {%- if var('mimic_iii_stays') == 'all' %}
        when true then null
        {%- elif var('mimic_iii_stays') == 'carevue_beside_mimic_iv' %}
        when not mimic_iv_loaded.is_loaded then null
        {%- endif %}
        when counted.n_stays = 0 then 'no_icu_stay'
        when counted.n_carevue_stays < counted.n_stays then 'not_carevue'
    end as set_aside_reason
from counted
cross join mimic_iv_loaded
