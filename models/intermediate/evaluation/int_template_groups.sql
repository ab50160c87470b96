-- Which subgroup each template of the evaluation subset belongs to. Grain: template × grouping;
-- templates that a grouping cannot place have no row in it. Groups with fewer than
-- subgroup_min_persons persons are pooled, so that no report singles them out; how well a fact is
-- known or how common an answer is says nothing about a person. Groups without a place in the order
-- of their grouping (unknown, small groups) have none.
{%- set is_shown %}
persons_counted.n_persons >= {{ var('subgroup_min_persons') }}
            or grouped.grouping in ('answer_frequency', 'evidence')
{%- endset %}
with

subset as (

    select distinct
        template_key,
        source,
        task,
        person_group
    from {{ ref('int_subset_templates') }}

),

templates as (

    select
        template_key,
        triple_id,
        patient_key,
        visit_key,
        answer_event_key,
        answer_event_type
    from {{ ref('int_templates') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

patient_groups as (

    select * from {{ ref('int_patient_groups') }}

),

visits as (

    select
        visit_key,
        admitted_at,
        discharged_at
    from {{ ref('dim_visits') }}

),

events as (

    select
        event_key,
        code_system,
        normalized_code
    from {{ ref('fct_visit_events') }}

),

triple_counts as (

    select
        triple_id,
        n_supporting_pmids
    from {{ ref('int_triple_counts') }}

),

answers as (

    select
        template_key,
        source,
        task,
        n_visits
    from {{ ref('int_surface_options') }}
    where is_gold

),

bands as (

    select * from {{ ref('subgroup_bands') }}

),

evidence_bands as (

    select * from {{ ref('evidence_bands') }}

),

chapters as (

    select * from {{ ref('icd_chapters') }}

),

placed as (

    select
        subset.template_key,
        subset.person_group,
        patients.sex,
        patient_groups.race_group,
        patient_groups.anchor_year_group,
        date_part('year', visits.admitted_at) - patients.birth_year as age,
        date_diff('day', visits.admitted_at, visits.discharged_at) as n_days,
        templates.answer_event_type,
        events.code_system,
        events.normalized_code,
        triple_counts.n_supporting_pmids as n_pmids
    from subset
    inner join templates
        on subset.template_key = templates.template_key
    left join patients
        on templates.patient_key = patients.patient_key
    left join patient_groups
        on templates.patient_key = patient_groups.patient_key
    left join visits
        on templates.visit_key = visits.visit_key
    left join events
        on templates.answer_event_key = events.event_key
    left join triple_counts
        on templates.triple_id = triple_counts.triple_id

),

-- Answers that are as frequent as each other share a decile.
deciles as (

    select
        template_key,
        least(10, 1 + cast(floor(10 * percent_rank() over (
            partition by source, task
            order by n_visits
        )) as integer)) as decile
    from answers

),

grouped as (

    select
        template_key,
        person_group,
        'sex' as grouping,
        sex as subgroup,
        0 as subgroup_order
    from placed
    where sex is not null

    union all

    select
        template_key,
        person_group,
        'race' as grouping,
        race_group as subgroup,
        0 as subgroup_order
    from placed
    where race_group is not null

    union all

    select
        placed.template_key,
        placed.person_group,
        'age' as grouping,
        coalesce(bands.band, 'unknown') as subgroup,
        bands.band_order as subgroup_order
    from placed
    left join bands
        on bands.grouping = 'age'
        and placed.age between bands.min_value and bands.max_value

    union all

    select
        placed.template_key,
        placed.person_group,
        'visit_length' as grouping,
        bands.band as subgroup,
        bands.band_order as subgroup_order
    from placed
    inner join bands
        on bands.grouping = 'visit_length'
        and placed.n_days between bands.min_value and bands.max_value

    union all

    select
        placed.template_key,
        placed.person_group,
        'answer_chapter' as grouping,
        coalesce(chapters.chapter, concat('no ICD chapter: ', placed.answer_event_type))
            as subgroup,
        case when chapters.chapter is not null then 0 end as subgroup_order
    from placed
    left join chapters
        on placed.code_system = chapters.code_system
        and {{ code_in_range('placed.normalized_code', 'chapters.code_from', 'chapters.code_to') }}

    union all

    select
        subset.template_key,
        subset.person_group,
        'answer_frequency' as grouping,
        concat('decile ', deciles.decile) as subgroup,
        deciles.decile as subgroup_order
    from subset
    inner join deciles
        on subset.template_key = deciles.template_key

    union all

    select
        placed.template_key,
        placed.person_group,
        'evidence' as grouping,
        evidence_bands.band as subgroup,
        evidence_bands.band_order as subgroup_order
    from placed
    inner join evidence_bands
        on placed.n_pmids between evidence_bands.min_pmids and evidence_bands.max_pmids

    union all

    select
        template_key,
        person_group,
        'anchor_year_group' as grouping,
        anchor_year_group as subgroup,
        cast(left(anchor_year_group, 4) as integer) as subgroup_order
    from placed
    where anchor_year_group is not null

    union all

    select
        template_key,
        person_group,
        'anchor_period' as grouping,
        case
            when cast(left(anchor_year_group, 4) as integer)
                >= {{ var('contamination_later_from') }} then 'later'
            else 'earlier'
        end as subgroup,
        cast(left(anchor_year_group, 4) as integer) // {{ var('contamination_later_from') }}
            as subgroup_order
    from placed
    where anchor_year_group is not null

),

persons_counted as (

    select
        grouping,
        subgroup,
        count(distinct person_group) as n_persons
    from grouped
    group by
        grouping,
        subgroup

),

pooled as (

    select
        grouped.template_key,
        grouped.grouping,
        case when {{ is_shown }} then grouped.subgroup else 'small groups' end as subgroup,
        cast(case when {{ is_shown }} then grouped.subgroup_order end as integer) as subgroup_order
    from grouped
    inner join persons_counted
        on grouped.grouping = persons_counted.grouping
        and grouped.subgroup = persons_counted.subgroup

)

select * from pooled
