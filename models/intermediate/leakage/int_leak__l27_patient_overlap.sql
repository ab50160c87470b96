-- Templates of patients that are counted twice or could be: of MIMIC-III's years that MIMIC-IV
-- holds too, whatever var mimic_iii_stays says; with templates in two sources of which neither is
-- made from the other; or whose records do not all have one person_group, so that a split by person
-- (patient halves, clusters, the allowance of the subset) would divide them.
with

templates as (

    select * from {{ ref('int_templates') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

source_patients as (

    select
        {{ key(['source', 'patient_id']) }} as patient_key,
        source,
        person_id
    from {{ ref('int_source_patients') }}

),

source_overlaps as (

    select * from {{ ref('source_overlaps') }}

),

mimic_iii_stays as (

    select * from {{ ref('int_mimic_iii__stay_rule') }}

),

mimic_iv_loaded as (

    select count(*) > 0 as is_loaded
    from patients
    inner join source_overlaps
        on patients.source = source_overlaps.source
    where source_overlaps.person_family in (
        select person_family
        from source_overlaps
        where source = 'mimic_iv'
    )

),

shared_years as (

    select {{ key(["'mimic_iii'", 'subject_id']) }} as patient_key
    from mimic_iii_stays
    where n_stays = 0
        or n_carevue_stays < n_stays

),

persons_by_source as (

    select distinct
        person_group,
        source
    from templates

),

-- Sources of one person that are not made from another source with templates of that person.
counted_twice as (

    select own.person_group
    from persons_by_source as own
    left join source_overlaps
        on own.source = source_overlaps.source
    left join persons_by_source as origin
        on source_overlaps.derived_from = origin.source
        and own.person_group = origin.person_group
    where origin.source is null
    group by own.person_group
    having count(*) > 1

),

persons as (

    select
        source_patients.patient_key,
        coalesce(source_overlaps.person_family, source_patients.source) as person_family,
        coalesce(source_patients.person_id, source_patients.patient_key) as person_id,
        patients.person_group
    from source_patients
    inner join patients
        on source_patients.patient_key = patients.patient_key
    left join source_overlaps
        on source_patients.source = source_overlaps.source

),

divided_persons as (

    select
        person_family,
        person_id
    from persons
    group by
        person_family,
        person_id
    having count(distinct person_group) > 1

),

judged as (

    select
        templates.template_key,
        case
            when shared_years.patient_key is not null and mimic_iv_loaded.is_loaded
                then 'MIMIC-III patient of years that MIMIC-IV holds too'
            when counted_twice.person_group is not null then 'person counted in two sources'
            when divided_persons.person_id is not null
                or persons.person_group is distinct from templates.person_group
                then 'records of one person under two person groups'
        end as evidence
    from templates
    cross join mimic_iv_loaded
    left join persons
        on templates.patient_key = persons.patient_key
    left join shared_years
        on templates.patient_key = shared_years.patient_key
    left join counted_twice
        on templates.person_group = counted_twice.person_group
    left join divided_persons
        on persons.person_family = divided_persons.person_family
        and persons.person_id = divided_persons.person_id

)

select
    'L27' as rule_id,
    'template' as scope,
    template_key,
    cast(null as varchar) as item_id,
    cast(null as varchar) as option_key,
    evidence
from judged
where evidence is not null
