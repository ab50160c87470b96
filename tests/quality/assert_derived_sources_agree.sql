-- A source that was made from another one (seed source_overlaps) shares visits with it, and every
-- visit, diagnosis and procedure of it is there: the same start or end, the same code of the same
-- version in the same visit. What the origin cannot hold (a class of visits, a code system) is no
-- breach.
-- Run after {{ ref('rpt_source_agreement') }}, which shows what a breach is about.
with

comparisons as (

    select * from {{ ref('int_source_comparisons') }}

),

source_overlaps as (

    select * from {{ ref('source_overlaps') }}
    where derived_from is not null

),

derived_pairs as (

    select distinct
        comparisons.source_a,
        comparisons.source_b,
        source_overlaps.source,
        case
            when source_overlaps.source = comparisons.source_a then 'a'
            else 'b'
        end as derived_side
    from comparisons
    inner join source_overlaps
        on (
            source_overlaps.source = comparisons.source_a
            and source_overlaps.derived_from = comparisons.source_b
        )
        or (
            source_overlaps.source = comparisons.source_b
            and source_overlaps.derived_from = comparisons.source_a
        )

),

breaches as (

    select
        derived_pairs.source,
        comparisons.event_type,
        comparisons.code_system,
        comparisons.normalized_code,
        comparisons.reason,
        count(*) as n_rows
    from derived_pairs
    inner join comparisons
        on derived_pairs.source_a = comparisons.source_a
        and derived_pairs.source_b = comparisons.source_b
        and comparisons.held_by in (derived_pairs.derived_side, 'both')
    where comparisons.event_type in ('visit', 'diagnosis', 'procedure')
        and comparisons.reason not in (
            'agree', 'same_end', 'visit_class_absent', 'visit_not_shared', 'code_system_absent'
        )
    group by
        derived_pairs.source, comparisons.event_type, comparisons.code_system,
        comparisons.normalized_code, comparisons.reason

),

nothing_shared as (

    select
        derived_pairs.source,
        'visit' as event_type,
        cast(null as varchar) as code_system,
        cast(null as varchar) as normalized_code,
        'nothing_shared' as reason,
        0 as n_rows
    from derived_pairs
    left join comparisons
        on derived_pairs.source_a = comparisons.source_a
        and derived_pairs.source_b = comparisons.source_b
        and comparisons.event_type = 'visit'
        and comparisons.held_by = 'both'
    where comparisons.source_a is null

)

select * from breaches
union all
select * from nothing_shared
