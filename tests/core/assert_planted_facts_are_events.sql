-- Facts that `ehrbench synth` planted whose two ends are not both events of their visits. A few
-- drug texts are emptied on purpose, so one fact in a hundred (of few facts, three and one in ten)
-- may be missing per source and task. Patients whom the stay rule of MIMIC-III leaves out are no
-- patients, and a source that was not loaded has no events. Real data have no planted facts, and
-- without one of the sources that name events and concepts there is nothing to find them in.
with

planted as (

    select
        planted.source,
        planted.task,
        planted.subject_id,
        planted.hadm_id,
        coalesce(planted.target_hadm_id, planted.hadm_id) as target_hadm_id,
        {{ cui_id('planted.subject_cui') }} as subject_cui_id,
        {{ cui_id('planted.object_cui') }} as object_cui_id
    from {{ ref('stg_truth__planted') }} as planted
    semi join {{ ref('int_source_data_classes') }} as loaded
        on planted.source = loaded.source
    where
        {%- for source in ['stg_mimic_iv__admissions', 'stg_umls__atoms', 'stg_icd__i10_gems',
            'stg_icd__procedure_concepts'] %}
        {{ 'and ' if not loop.first }}exists (select 1 as found from {{ ref(source) }})
        {%- endfor %}

),

left_out as (

    select subject_id
    from {{ ref('int_mimic_iii__stay_rule') }}
    where set_aside_reason is not null

),

admissions as (

    select
        merged.source,
        merged.admission_id,
        visit_ids.visit_id
    from {{ ref('int_admissions_merged') }} as merged
    inner join {{ ref('int_visit_ids') }} as visit_ids
        on merged.visit_key = visit_ids.visit_key

),

visit_concepts as (

    select distinct
        visit_ids.visit_id,
        concepts.cui_id
    from {{ ref('fct_visit_events') }} as events
    inner join {{ ref('int_visit_ids') }} as visit_ids
        on events.visit_key = visit_ids.visit_key
    inner join {{ ref('brg_event_concepts') }} as concepts
        on events.event_key = concepts.event_key
    where concepts.cui_id in (
        select subject_cui_id from planted
        union
        select object_cui_id from planted
    )

),

looked_up as (

    select
        planted.source,
        planted.task,
        subjects.cui_id is not null and objects.cui_id is not null as is_found
    from planted
    left join left_out
        on planted.source = 'mimic_iii'
        and planted.subject_id = left_out.subject_id
    left join admissions
        on planted.source = admissions.source
        and planted.hadm_id = admissions.admission_id
    left join admissions as target_admissions
        on planted.source = target_admissions.source
        and planted.target_hadm_id = target_admissions.admission_id
    left join visit_concepts as subjects
        on admissions.visit_id = subjects.visit_id
        and planted.subject_cui_id = subjects.cui_id
    left join visit_concepts as objects
        on target_admissions.visit_id = objects.visit_id
        and planted.object_cui_id = objects.cui_id
    where left_out.subject_id is null

)

select
    source,
    task,
    count(*) as n_planted,
    count(*) filter (where not is_found) as n_missing
from looked_up
group by
    source,
    task
having count(*) filter (where not is_found) * 100 > count(*)
    and (
        count(*) filter (where not is_found) > 3
        or count(*) filter (where not is_found) * 10 > count(*)
    )
