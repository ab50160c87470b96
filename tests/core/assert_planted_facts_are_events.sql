-- Facts that `ehrbench synth` planted whose two ends are not both events of their visits. A few
-- drug texts are emptied on purpose, so up to one fact in a hundred may be missing per task.
-- Real data have no planted facts, and without one of the sources that name events and concepts
-- there is nothing to find them in.
with

planted as (

    select * from {{ ref('stg_truth__planted') }}
    where
        {%- for source in ['stg_mimic_iv__admissions', 'stg_umls__atoms', 'stg_icd__i10_gems',
            'stg_icd__procedure_concepts'] %}
        {{ 'and ' if not loop.first }}exists (select 1 as found from {{ ref(source) }})
        {%- endfor %}

),

admissions as (

    select * from {{ ref('int_admissions_merged') }}
    where source = 'mimic_iv'

),

visit_concepts as (

    select distinct
        events.visit_key,
        concepts.cui
    from {{ ref('fct_visit_events') }} as events
    inner join {{ ref('brg_event_concepts') }} as concepts
        on events.event_key = concepts.event_key
    where concepts.cui is not null

),

looked_up as (

    select
        planted.task,
        subjects.cui is not null and objects.cui is not null as is_found
    from planted
    left join admissions
        on planted.hadm_id = admissions.admission_id
    left join admissions as target_admissions
        on coalesce(planted.target_hadm_id, planted.hadm_id) = target_admissions.admission_id
    left join visit_concepts as subjects
        on admissions.visit_key = subjects.visit_key
        and planted.subject_cui = subjects.cui
    left join visit_concepts as objects
        on target_admissions.visit_key = objects.visit_key
        and planted.object_cui = objects.cui

)

select
    task,
    count(*) as n_planted,
    count(*) filter (where not is_found) as n_missing
from looked_up
group by task
having count(*) filter (where not is_found) * 100 > count(*)
