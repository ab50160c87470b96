-- The option that goes best or worst with the scenario in visits of the other half of the patients:
-- the sum over scenario concepts of log (shared visits + 1), which orders the options of a template
-- like the sum of log P(option | concept). px looks at the concepts of the next visit.
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

surface_options as (

    select * from {{ ref('int_surface_options') }}

),

scenario_concepts as (

    select * from {{ ref('int_scenario_concepts') }}

),

pair_visits as (

    select
        *,
        {{ patient_half('person_group') }} as patient_half
    from {{ ref('int_pair_visits') }}

),

visit_concepts as (

    select * from {{ ref('int_visit_concepts') }}

),

options_asked as (

    select
        surface_options.template_key,
        surface_options.rank,
        surface_options.source,
        case when surface_options.task = 'px' then 'next_visit' else 'same_visit' end
            as pair_window,
        1 - surface_options.patient_half as patient_half,
        scenario_concepts.cui_id as scenario_cui_id,
        surface_options.cui_id
    from surface_options
    inner join scenario_concepts
        on surface_options.template_number = scenario_concepts.template_number

),

-- Numbered, so that the pairs of a visit are joined and counted on integers.
scenarios_asked as (

    select
        source,
        pair_window,
        patient_half,
        scenario_cui_id,
        cast(row_number() over (
            order by source, pair_window, patient_half, scenario_cui_id
        ) as integer) as scenario_number
    from options_asked
    group by
        source,
        pair_window,
        patient_half,
        scenario_cui_id

),

asked as (

    select
        options_asked.template_key,
        options_asked.rank,
        scenarios_asked.scenario_number,
        options_asked.cui_id
    from options_asked
    inner join scenarios_asked
        on options_asked.source = scenarios_asked.source
        and options_asked.pair_window = scenarios_asked.pair_window
        and options_asked.patient_half = scenarios_asked.patient_half
        and options_asked.scenario_cui_id = scenarios_asked.scenario_cui_id

),

pairs_asked as (

    select distinct
        scenario_number,
        cui_id
    from asked

),

visits_with_concept as materialized (

    select
        pair_visits.source,
        pair_visits.pair_window,
        pair_visits.patient_half,
        pair_visits.object_visit_id,
        visit_concepts.cui_id
    from pair_visits
    inner join visit_concepts
        on pair_visits.subject_visit_id = visit_concepts.visit_id
    where visit_concepts.cui_id in (select scenario_cui_id from scenarios_asked)

),

visits_with_scenario as materialized (

    select
        scenarios_asked.scenario_number,
        visits_with_concept.object_visit_id
    from visits_with_concept
    inner join scenarios_asked
        on visits_with_concept.source = scenarios_asked.source
        and visits_with_concept.pair_window = scenarios_asked.pair_window
        and visits_with_concept.patient_half = scenarios_asked.patient_half
        and visits_with_concept.cui_id = scenarios_asked.scenario_cui_id

),

visits_with_option as (

    select
        visit_id,
        cui_id
    from visit_concepts
    where cui_id in (select cui_id from pairs_asked)

),

pairs_counted as (

    select
        visits_with_scenario.scenario_number,
        visits_with_option.cui_id,
        count(*) as n_visits
    from visits_with_scenario
    inner join visits_with_option
        on visits_with_scenario.object_visit_id = visits_with_option.visit_id
    -- the pairs that are asked, of the far more that occur
    semi join pairs_asked
        on visits_with_scenario.scenario_number = pairs_asked.scenario_number
        and visits_with_option.cui_id = pairs_asked.cui_id
    group by
        visits_with_scenario.scenario_number,
        visits_with_option.cui_id

),

options_scored as (

    select
        asked.template_key,
        asked.rank,
        sum(cast(round(1000000 * ln(coalesce(pairs_counted.n_visits, 0) + 1)) as bigint))
            as cooccurrence
    from asked
    left join pairs_counted
        on asked.scenario_number = pairs_counted.scenario_number
        and asked.cui_id = pairs_counted.cui_id
    group by
        asked.template_key,
        asked.rank

),

options as (

    select
        surface_options.template_key,
        surface_options.rank,
        surface_options.is_gold,
        coalesce(options_scored.cooccurrence, 0) as cooccurrence
    from surface_options
    left join options_scored
        on surface_options.template_key = options_scored.template_key
        and surface_options.rank = options_scored.rank

),

{{ baseline_picks('B10', [
    ('most_together', 'cooccurrence'),
    ('least_together', '-cooccurrence'),
]) }}

select * from picked
