-- Codes of systems without a dictionary and cross-maps of their own (SNOMED CT, CPT, a site's own
-- wording): by the atom of the code, else by a name that is equal to the label and belongs to one
-- concept of the semantic group that fits the kind of event. Same columns as int_icd_code_concepts.
with icd_code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

code_systems as (

    select * from {{ ref('code_systems') }}

),

source_events as (

    select distinct
        code_system,
        normalized_code,
        event_type,
    from {{ ref('int_source_events') }}
    where event_type in ('diagnosis', 'procedure')

),

cohort_codes as (

    select
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        cohort_codes.label,
        code_systems.code_system is not null as is_known_system,
        code_systems.umls_sab,
    from {{ ref('int_cohort_codes') }} as cohort_codes
    left join icd_code_systems
        on cohort_codes.code_system = icd_code_systems.code_system
    left join code_systems
        on cohort_codes.code_system = code_systems.code_system
    where icd_code_systems.code_system is null

),

code_overrides as (

    select * from {{ ref('int_code_overrides') }}

),

atoms as (

    select * from {{ ref('int_terminology_atoms') }}

),

icd_concepts as (

    select distinct cui_id
    from {{ ref('int_icd_atoms') }}

),

term_types as (

    select * from {{ ref('icd_term_types') }}

),

retired_cuis as (

    select * from {{ ref('int_retired_cuis') }}

),

label_tags as (

    select * from {{ ref('label_tags') }}

),

event_groups as (

    select * from {{ ref('event_semantic_groups') }}

),

semantic_types as (

    select * from {{ ref('stg_umls__semantic_types') }}

),

semantic_type_groups as (

    select * from {{ ref('semantic_type_groups') }}

),

concepts as (

    select * from {{ ref('int_concepts') }}

),

procedure_concepts as (

    select * from {{ ref('stg_icd__procedure_concepts') }}

),

overridden as (

    select
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        code_overrides.cui_id,
        code_overrides.is_none,
    from cohort_codes
    inner join code_overrides
        on
            cohort_codes.code_system = code_overrides.code_system
            and upper(cohort_codes.normalized_code) = code_overrides.override_key

),

-- a title of the code before its synonyms, which may belong to another concept
code_atoms as (

    select distinct
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        coalesce(retired_cuis.replacement_cui_id, atoms.cui_id) as cui_id,
        coalesce(term_types.method_rank, 99) as method_rank,
    from cohort_codes
    inner join atoms
        on
            cohort_codes.umls_sab = atoms.sab
            and cohort_codes.normalized_code = atoms.code
    left join term_types
        on atoms.tty = term_types.tty
    left join retired_cuis
        on atoms.cui_id = retired_cuis.cui_id
    qualify
        method_rank = min(method_rank) over (
            partition by cohort_codes.code_system, cohort_codes.normalized_code
        )

),

-- only what no atom names is looked up by its label, without the hierarchy that SNOMED CT writes
-- behind it
plain_labels as (

    select
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        case
            when label_tags.tag is null then cohort_codes.label
            else regexp_replace(cohort_codes.label, '\s*\([^()]*\)\s*$', '')
        end as label,
    from cohort_codes
    left join code_atoms
        on
            cohort_codes.code_system = code_atoms.code_system
            and cohort_codes.normalized_code = code_atoms.normalized_code
    left join label_tags
        on
            lower(regexp_extract(cohort_codes.label, '\(([^()]*)\)\s*$', 1)) = label_tags.tag
    where
        code_atoms.normalized_code is null
        and cohort_codes.label is not null

),

labels as (

    select
        code_system,
        normalized_code,
        {{ norm_label('label') }} as label_text,
    from plain_labels

),

label_events as (

    select
        labels.*,
        event_groups.semantic_group,
    from labels
    inner join source_events
        on
            labels.code_system = source_events.code_system
            and labels.normalized_code = source_events.normalized_code
    inner join event_groups
        on source_events.event_type = event_groups.event_type

),

label_texts as (

    select distinct label_text
    from labels
    where label_text <> '  '

),

concept_groups as (

    select distinct
        {{ cui_id('semantic_types.cui') }} as cui_id,
        semantic_type_groups.semantic_group,
    from semantic_types
    inner join semantic_type_groups
        on semantic_types.tui = semantic_type_groups.tui
    inner join event_groups
        on semantic_type_groups.semantic_group = event_groups.semantic_group

),

fitting_concepts as (

    select distinct cui_id
    from concept_groups

),

-- only names of the fitting groups are normalised: materialized, else the planner does it to all
fitting_names as materialized (

    select
        atoms.cui_id,
        atoms.name,
    from atoms
    inner join fitting_concepts
        on atoms.cui_id = fitting_concepts.cui_id

),

named_atoms as (

    select distinct
        label_texts.label_text,
        fitting_names.cui_id,
    from fitting_names
    inner join label_texts
        on {{ norm_label('fitting_names.name') }} = label_texts.label_text

),

named_concepts as (

    select distinct
        label_events.code_system,
        label_events.normalized_code,
        named_atoms.cui_id,
        case when {{ norm_label('concepts.name') }} = label_events.label_text then 2 else 0 end
        + case when icd_concepts.cui_id is not null then 1 else 0 end as name_fit,
    from label_events
    inner join named_atoms
        on label_events.label_text = named_atoms.label_text
    inner join concept_groups
        on
            named_atoms.cui_id = concept_groups.cui_id
            and label_events.semantic_group = concept_groups.semantic_group
    inner join concepts
        on named_atoms.cui_id = concepts.cui_id
    left join icd_concepts
        on named_atoms.cui_id = icd_concepts.cui_id

),

-- of several concepts the one whose own name it is, not the one with a synonym alike; then the one
-- that ICD codes stand for
best_named_concepts as (

    select *
    from named_concepts
    qualify name_fit = max(name_fit) over (partition by code_system, normalized_code)

),

name_counts as (

    select
        code_system,
        normalized_code,
        count(*) as n_cuis,
        min(cui_id) as cui_id,
    from best_named_concepts
    group by all

),

candidates as (

    select
        code_system,
        normalized_code,
        0 as step,
        'override' as mapping_method,
        cui_id,
    from overridden
    where not is_none
    union all
    select
        code_system,
        normalized_code,
        1 as step,
        'exact_atom' as mapping_method,
        cui_id,
    from code_atoms
    union all
    select
        code_system,
        normalized_code,
        2 as step,
        'exact_name' as mapping_method,
        cui_id,
    from name_counts
    where n_cuis = 1

),

chosen as (

    select candidates.*
    from candidates
    left join overridden
        on
            candidates.code_system = overridden.code_system
            and candidates.normalized_code = overridden.normalized_code
            and overridden.is_none
    where overridden.normalized_code is null
    qualify
        candidates.step = min(candidates.step) over (
            partition by candidates.code_system, candidates.normalized_code
        )

),

ranked as (

    select
        *,
        row_number() over (
            partition by code_system, normalized_code
            order by cui_id
        ) as rank,
        count(*) over (partition by code_system, normalized_code) as n_cuis,
    from chosen

),

mapped as (

    select *
    from ranked
    where n_cuis <= {{ var('max_code_cuis') }}

),

-- a concept of the procedure list does there what it does here
concept_roles as (

    select
        {{ cui_id('cui') }} as cui_id,
        min(role) as procedure_role,
    from procedure_concepts
    group by all
    having count(distinct role) = 1

),

code_concepts as (

    select
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        mapped.cui_id,
        cast(coalesce(mapped.rank, 1) as integer) as rank,
        coalesce(mapped.mapping_method, 'none') as mapping_method,
        case when mapped.cui_id is null then 'none' else 'exact' end as mapping_level,
        case
            when mapped.cui_id is not null then null
            when coalesce(overridden.is_none, false) then 'overridden'
            when not cohort_codes.is_known_system then 'unknown_code_system'
            when quarantined.n_cuis is not null then 'too_many_concepts'
            when name_counts.n_cuis > 1 then 'ambiguous_name'
            when cohort_codes.label is null then 'no_label'
            else 'no_concept'
        end as reason,
        concept_roles.procedure_role,
    from cohort_codes
    left join mapped
        on
            cohort_codes.code_system = mapped.code_system
            and cohort_codes.normalized_code = mapped.normalized_code
    left join ranked as quarantined
        on
            cohort_codes.code_system = quarantined.code_system
            and cohort_codes.normalized_code = quarantined.normalized_code
            and quarantined.rank = 1
            and quarantined.n_cuis > {{ var('max_code_cuis') }}
    left join name_counts
        on
            cohort_codes.code_system = name_counts.code_system
            and cohort_codes.normalized_code = name_counts.normalized_code
    left join overridden
        on
            cohort_codes.code_system = overridden.code_system
            and cohort_codes.normalized_code = overridden.normalized_code
            and overridden.is_none
    left join concept_roles
        on mapped.cui_id = concept_roles.cui_id

)

select * from code_concepts
