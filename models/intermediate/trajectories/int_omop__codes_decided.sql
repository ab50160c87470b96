-- The one code of each recorded condition or procedure. A code that exists in both ICD versions
-- is of the version that most of the visit's unambiguous codes have (a stay is coded in one), and
-- where they say nothing, of the version that comes first in seed omop_vocabularies.
with

coded_rows as (

    select distinct
        source,
        row_type,
        person_id,
        visit_occurrence_id,
        source_value,
        source_concept_id,
        concept_id
    from {{ ref('int_omop__coded_rows') }}
    where set_aside_reason is null

),

code_choices as (

    select * from {{ ref('int_omop__code_choices') }}

),

code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

candidates as (

    select
        coded_rows.source,
        coded_rows.row_type,
        coded_rows.person_id,
        coded_rows.visit_occurrence_id,
        coded_rows.source_value,
        coded_rows.source_concept_id,
        coded_rows.concept_id,
        code_choices.choice_method,
        code_choices.code_system,
        code_choices.source_code,
        code_choices.normalized_code,
        code_choices.label,
        code_choices.version_rank,
        code_choices.n_candidates,
        code_systems.icd_version
    from coded_rows
    inner join code_choices
        on coded_rows.source = code_choices.source
        and coded_rows.row_type = code_choices.row_type
        and coded_rows.source_value is not distinct from code_choices.source_value
        and coded_rows.source_concept_id is not distinct from code_choices.source_concept_id
        and coded_rows.concept_id is not distinct from code_choices.concept_id
    left join code_systems
        on code_choices.code_system = code_systems.code_system

),

version_votes as (

    select
        source,
        visit_occurrence_id,
        icd_version,
        count(distinct (row_type, normalized_code)) as n_codes
    from candidates
    where n_candidates = 1
        and icd_version is not null
    group by source, visit_occurrence_id, icd_version

)

select
    candidates.source,
    candidates.row_type,
    candidates.person_id,
    candidates.visit_occurrence_id,
    candidates.source_value,
    candidates.source_concept_id,
    candidates.concept_id,
    candidates.code_system,
    candidates.source_code,
    candidates.normalized_code,
    candidates.label,
    case
        when candidates.n_candidates = 1 then candidates.choice_method
        when version_votes.n_codes is not null then 'version_of_visit'
        else 'version_by_seed'
    end as choice_method
from candidates
left join version_votes
    on candidates.source = version_votes.source
    and candidates.visit_occurrence_id = version_votes.visit_occurrence_id
    and candidates.icd_version = version_votes.icd_version
qualify row_number() over (
    partition by
        candidates.source, candidates.row_type, candidates.person_id,
        candidates.visit_occurrence_id, candidates.source_value, candidates.source_concept_id,
        candidates.concept_id
    order by
        coalesce(version_votes.n_codes, 0) desc, candidates.version_rank, candidates.code_system,
        candidates.normalized_code
) = 1
