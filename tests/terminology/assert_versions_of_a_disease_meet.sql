-- A patient whose disease was coded in ICD-9-CM and later in ICD-10-CM has one disease: codes that
-- map to each other without approximation lead to one concept, or to equivalent ones.
with events as (

    select
        visits.person_group,
        events.event_key,
        events.code_system,
        events.normalized_code,
    from {{ ref('fct_visit_events') }} as events
    inner join {{ ref('dim_visits') }} as visits
        on events.visit_key = visits.visit_key
    where events.event_type = 'diagnosis'

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

gem_targets as (

    select * from {{ ref('int_gem_targets') }}
    where
        not is_approximate
        and not is_combination

),

equivalents as (

    select * from {{ ref('int_concept_equivalents') }}

),

pairs as (

    select distinct
        nine.normalized_code as icd9_code,
        ten.normalized_code as icd10_code,
        nine_concepts.cui_id as icd9_cui_id,
        ten_concepts.cui_id as icd10_cui_id,
    from events as nine
    inner join events as ten
        on
            nine.person_group = ten.person_group
            and nine.code_system = 'ICD9CM'
            and ten.code_system = 'ICD10CM'
    inner join gem_targets
        on
            nine.code_system = gem_targets.code_system
            and nine.normalized_code = gem_targets.normalized_code
            and ten.normalized_code = gem_targets.target_code
    inner join event_concepts as nine_concepts
        on nine.event_key = nine_concepts.event_key
    inner join event_concepts as ten_concepts
        on ten.event_key = ten_concepts.event_key

)

select
    pairs.icd9_code,
    pairs.icd10_code,
    count(*) as n_pairs,
from pairs
left join equivalents
    on
        pairs.icd9_cui_id = equivalents.cui_id
        and pairs.icd10_cui_id = equivalents.equivalent_cui_id
group by pairs.icd9_code, pairs.icd10_code
having
    not bool_or(
        pairs.icd9_cui_id = pairs.icd10_cui_id
        or equivalents.cui_id is not null
    )
