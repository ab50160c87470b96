-- What two sources of one person family hold of the same people: one row per visit, and per visit
-- and code, with who holds it and, when one does not, why. Visits are paired by their times, since
-- sources have ids of their own. Empty while each family has one source.
with

source_overlaps as (

    select * from {{ ref('source_overlaps') }}

),

admissions as (

    select * from {{ ref('int_admissions_merged') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

source_events as (

    select * from {{ ref('int_source_events') }}

),

drug_orders as (

    select * from {{ ref('int_drug_orders_mapped') }}

),

code_concepts as (

    select * from {{ ref('int_code_first_concepts') }}

),

loaded as (

    select distinct
        source_overlaps.source,
        source_overlaps.person_family
    from source_overlaps
    inner join (select distinct source from patients) as sources
        on source_overlaps.source = sources.source

),

pairs as (

    select
        a.source as source_a,
        b.source as source_b
    from loaded as a
    inner join loaded as b
        on a.person_family = b.person_family
        and a.source < b.source

),

sides as (

    select source_a, source_b, source_a as source, source_b as other_source
    from pairs
    union all
    select source_a, source_b, source_b, source_a
    from pairs

),

compared_sources as (

    select distinct source
    from sides

),

visits as (

    select
        admissions.source,
        admissions.admission_id,
        admissions.visit_class,
        admissions.admitted_at,
        admissions.discharged_at,
        patients.person_group,
        cast(row_number() over (order by admissions.source, admissions.admission_id) as integer)
            as visit_number
    from admissions
    inner join compared_sources
        on admissions.source = compared_sources.source
    inner join patients
        on admissions.patient_key = patients.patient_key

),

overlapping as (

    select
        pairs.source_a,
        pairs.source_b,
        a.visit_number as visit_number_a,
        b.visit_number as visit_number_b,
        a.admission_id as admission_id_a,
        b.admission_id as admission_id_b,
        case
            when a.admitted_at = b.admitted_at then 'agree'
            when cast(a.discharged_at as date) = cast(b.discharged_at as date) then 'same_end'
            else 'overlap_only'
        end as reason,
        date_diff(
            'second',
            greatest(a.admitted_at, b.admitted_at), least(a.discharged_at, b.discharged_at)
        ) as n_seconds
    from pairs
    inner join visits as a
        on pairs.source_a = a.source
    inner join visits as b
        on pairs.source_b = b.source
        and a.person_group = b.person_group
        and a.admitted_at <= b.discharged_at
        and b.admitted_at <= a.discharged_at

),

matches as (

    -- One visit is the other one when each overlaps the other most.
    select *
    from overlapping
    qualify row_number() over (
        partition by source_a, source_b, admission_id_a
        order by reason = 'agree' desc, n_seconds desc, admission_id_b
    ) = 1
        and row_number() over (
            partition by source_a, source_b, admission_id_b
            order by reason = 'agree' desc, n_seconds desc, admission_id_a
        ) = 1

),

side_matches as (

    select
        source_a,
        source_b,
        visit_number_a as visit_number,
        visit_number_b as other_visit_number,
        reason
    from matches
    union all
    select
        source_a,
        source_b,
        visit_number_b,
        visit_number_a,
        reason
    from matches

),

held_classes as (

    select distinct source, visit_class
    from visits

),

held_persons as (

    select distinct source, person_group
    from visits

),

visit_rows as (

    select
        sides.source_a,
        sides.source_b,
        sides.source,
        sides.other_source,
        visits.person_group,
        visits.visit_number,
        side_matches.other_visit_number,
        side_matches.other_visit_number is not null as is_shared,
        case
            when side_matches.reason is not null then side_matches.reason
            when other_persons.source is null then 'person_absent'
            when other_classes.source is null then 'visit_class_absent'
            else 'visit_absent'
        end as reason
    from sides
    inner join visits
        on sides.source = visits.source
    left join side_matches
        on sides.source_a = side_matches.source_a
        and sides.source_b = side_matches.source_b
        and visits.visit_number = side_matches.visit_number
    left join held_persons as other_persons
        on sides.other_source = other_persons.source
        and visits.person_group = other_persons.person_group
    left join held_classes as other_classes
        on sides.other_source = other_classes.source
        and visits.visit_class = other_classes.visit_class

),

-- Drugs are compared as ingredients; what no ingredient stands for is not compared.
compared_events as (

    select
        source_events.source,
        source_events.admission_id,
        source_events.event_type,
        coalesce(drug_orders.code_system, source_events.code_system) as code_system,
        coalesce(drug_orders.normalized_code, source_events.normalized_code) as normalized_code
    from source_events
    inner join compared_sources
        on source_events.source = compared_sources.source
    left join drug_orders
        on source_events.event_type = 'medication'
        and source_events.source_code = drug_orders.drug_text
        and source_events.ndc is not distinct from drug_orders.ndc
        and source_events.route is not distinct from drug_orders.route
    where source_events.set_aside_reason is null
        and (source_events.event_type <> 'medication' or drug_orders.code_system = 'INGREDIENT')

),

known_codes as (

    select distinct source, event_type, code_system, normalized_code
    from compared_events

),

known_systems as (

    select distinct source, event_type, code_system
    from known_codes

),

-- Codes and visits as numbers: their pairs are many, and met three times below.
codes as (

    select
        *,
        cast(row_number() over (order by event_type, code_system, normalized_code) as integer)
            as code_number
    from (select distinct event_type, code_system, normalized_code from known_codes)

),

numbered_concepts as (

    select
        codes.code_number,
        codes.event_type,
        code_concepts.cui_id
    from codes
    inner join code_concepts
        on codes.code_system = code_concepts.code_system
        and codes.normalized_code = code_concepts.normalized_code

),

held_codes as (

    select distinct
        visits.visit_number,
        codes.code_number
    from compared_events
    inner join visits
        on compared_events.source = visits.source
        and compared_events.admission_id = visits.admission_id
    inner join codes
        on compared_events.event_type = codes.event_type
        and compared_events.code_system = codes.code_system
        and compared_events.normalized_code = codes.normalized_code

),

held_concepts as (

    select distinct
        held_codes.visit_number,
        numbered_concepts.event_type,
        numbered_concepts.cui_id
    from held_codes
    inner join numbered_concepts
        on held_codes.code_number = numbered_concepts.code_number

),

compared_codes as (

    select
        visit_rows.source_a,
        visit_rows.source_b,
        visit_rows.source,
        visit_rows.other_source,
        visit_rows.person_group,
        visit_rows.is_shared as is_visit_shared,
        visit_rows.other_visit_number,
        held_codes.code_number,
        others.code_number is not null as is_shared
    from visit_rows
    inner join held_codes
        on visit_rows.visit_number = held_codes.visit_number
    left join held_codes as others
        on visit_rows.other_visit_number = others.visit_number
        and held_codes.code_number = others.code_number

),

code_rows as (

    select
        compared_codes.source_a,
        compared_codes.source_b,
        compared_codes.source,
        compared_codes.person_group,
        codes.event_type,
        codes.code_system,
        codes.normalized_code,
        compared_codes.is_shared,
        case
            when compared_codes.is_shared then 'agree'
            when not compared_codes.is_visit_shared then 'visit_not_shared'
            when other_concepts.visit_number is not null then 'other_code_of_concept'
            when other_systems.source is null then 'code_system_absent'
            when other_codes.source is null then 'code_absent'
            else 'code_in_other_visits'
        end as reason
    from compared_codes
    inner join codes
        on compared_codes.code_number = codes.code_number
    left join numbered_concepts
        on compared_codes.code_number = numbered_concepts.code_number
    left join held_concepts as other_concepts
        on compared_codes.other_visit_number = other_concepts.visit_number
        and numbered_concepts.event_type = other_concepts.event_type
        and numbered_concepts.cui_id = other_concepts.cui_id
    left join known_codes as other_codes
        on compared_codes.other_source = other_codes.source
        and codes.event_type = other_codes.event_type
        and codes.code_system = other_codes.code_system
        and codes.normalized_code = other_codes.normalized_code
    left join known_systems as other_systems
        on compared_codes.other_source = other_systems.source
        and codes.event_type = other_systems.event_type
        and codes.code_system = other_systems.code_system

),

united as (

    select
        source_a,
        source_b,
        source,
        person_group,
        'visit' as event_type,
        cast(null as varchar) as code_system,
        cast(null as varchar) as normalized_code,
        is_shared,
        reason
    from visit_rows
    union all
    select * from code_rows

)

-- What both hold is one row, not one per side.
select
    source_a,
    source_b,
    case
        when is_shared then 'both'
        when source = source_a then 'a'
        else 'b'
    end as held_by,
    person_group,
    event_type,
    code_system,
    normalized_code,
    reason
from united
where not is_shared
    or source = source_a
