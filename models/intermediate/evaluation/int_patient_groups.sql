-- What reports know of a patient beyond sex and year of birth. No item and no prompt reads it.
-- Grain: patient. A race that differs between admissions is the one given most often.
with

mimic_iv_patients as (

    select * from {{ ref('stg_mimic_iv__patients') }}

),

mimic_iv_admissions as (

    select * from {{ ref('stg_mimic_iv__admissions') }}

),

mimic_iii_admissions as (

    select * from {{ ref('stg_mimic_iii__admissions') }}

),

omop_persons as (

    select * from {{ ref('stg_omop__person') }}

),

race_groups as (

    select * from {{ ref('race_groups') }}

),

patients as (

    select
        patient_key,
        source
    from {{ ref('dim_patients') }}

),

-- Only MIMIC-IV says in which years a patient was really seen.
year_groups as (

    select
        {{ key(["'mimic_iv'", 'subject_id']) }} as patient_key,
        min(anchor_year_group) as anchor_year_group
    from mimic_iv_patients
    where regexp_full_match(anchor_year_group, '[0-9]{4} ?- ?[0-9]{4}')
    group by subject_id

),

race_texts as (

    select
        'mimic_iv' as source,
        subject_id as patient_id,
        race as race_text
    from mimic_iv_admissions

    union all

    select
        'mimic_iii' as source,
        subject_id as patient_id,
        ethnicity as race_text
    from mimic_iii_admissions

    {% for column in ['race_source_value', 'ethnicity_source_value', 'race_concept_id'] %}
    union all

    select
        source,
        person_id as patient_id,
        {{ column }} as race_text
    from omop_persons

    {% endfor -%}
),

texts_counted as (

    select
        source,
        patient_id,
        upper(trim(race_text)) as race_text,
        count(*) as n
    from race_texts
    where race_text is not null
    group by all

),

texts_grouped as (

    select
        texts.race_text,
        race_groups.race_group
    from (select distinct race_text from texts_counted) as texts
    inner join race_groups
        on starts_with(texts.race_text, race_groups.race_text)
    qualify row_number() over (
        partition by texts.race_text
        order by length(race_groups.race_text) desc
    ) = 1

),

groups_counted as (

    select
        {{ key(['texts_counted.source', 'texts_counted.patient_id']) }} as patient_key,
        texts_grouped.race_group,
        sum(texts_counted.n) as n
    from texts_counted
    inner join texts_grouped
        on texts_counted.race_text = texts_grouped.race_text
    where texts_grouped.race_group is not null
    group by
        texts_counted.source,
        texts_counted.patient_id,
        texts_grouped.race_group

),

races as (

    select
        patient_key,
        race_group
    from groups_counted
    qualify row_number() over (partition by patient_key order by n desc, race_group) = 1

),

patient_groups as (

    select
        patients.patient_key,
        patients.source,
        year_groups.anchor_year_group,
        coalesce(races.race_group, 'other or unknown') as race_group
    from patients
    left join year_groups
        on patients.patient_key = year_groups.patient_key
    left join races
        on patients.patient_key = races.patient_key

)

select * from patient_groups
