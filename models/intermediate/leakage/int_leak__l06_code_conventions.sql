-- L06: a convention of coding puts the answer's code beside a scenario code: a note of ICD-10-CM
-- (code first, use additional code, code also), a known pair of a cause and its manifestation, or
-- the habit of the source: nearly every visit of other patients with the scenario's category has
-- the answer's.
with

templates as (

    select * from {{ ref('int_template_forms') }}
    where task = 'dx'

),

events as not materialized (

    select * from {{ ref('fct_visit_events') }}
    where event_type = 'diagnosis'

),

visits as (

    select * from {{ ref('dim_visits') }}

),

icd_code_systems as (

    select * from {{ ref('icd_code_systems') }}
    where code_kind = 'diagnosis'

),

concept_codes as (

    select * from {{ ref('int_leak_concept_codes') }}
    where is_exact

),

scenario_codes as (

    select * from {{ ref('int_leak_scenario_codes') }}

),

notes as (

    select * from {{ ref('int_icd_code_notes') }}
    where target_from is not null

),

conventions as (

    select * from {{ ref('icd_pair_conventions') }}

),

---------- the pairs of codes that templates show

answers as (

    select
        templates.template_key,
        templates.source,
        templates.person_group,
        templates.answer_cui_id,
        events.code_system,
        events.normalized_code,
        icd_code_systems.code_system is not null as is_icd
    from templates
    inner join events
        on templates.answer_event_key = events.event_key
    left join icd_code_systems
        on events.code_system = icd_code_systems.code_system

),

answer_codes as (

    select
        template_key,
        source,
        person_group,
        code_system,
        normalized_code
    from answers
    where is_icd

    union

    select
        answers.template_key,
        answers.source,
        answers.person_group,
        concept_codes.code_system,
        concept_codes.normalized_code
    from answers
    inner join concept_codes
        on answers.answer_cui_id = concept_codes.cui_id
    where not answers.is_icd

),

template_pairs as (

    select distinct
        answer_codes.template_key,
        answer_codes.source,
        answer_codes.person_group,
        answer_codes.code_system,
        answer_codes.normalized_code as answer_code,
        scenario_codes.normalized_code as shown_code
    from answer_codes
    inner join scenario_codes
        on answer_codes.template_key = scenario_codes.template_key
        and answer_codes.code_system = scenario_codes.code_system
    inner join icd_code_systems
        on answer_codes.code_system = icd_code_systems.code_system

),

code_pairs as (

    select
        code_system,
        answer_code as code,
        shown_code as other_code,
        answer_code,
        shown_code
    from template_pairs

    union

    select
        code_system,
        shown_code as code,
        answer_code as other_code,
        answer_code,
        shown_code
    from template_pairs

),

codes as (

    select distinct
        code_system,
        code
    from code_pairs

),

---------- what the classification says

rules as (

    select
        code_system,
        code_from,
        code_to,
        target_from,
        target_to,
        note_type as convention
    from notes

    union

    select
        code_system,
        code_from,
        code_to,
        paired_from as target_from,
        paired_to as target_to,
        kind as convention
    from conventions

),

code_rules as (

    select
        codes.code_system,
        codes.code,
        rules.target_from,
        rules.target_to,
        rules.convention
    from codes
    inner join rules
        on codes.code_system = rules.code_system
        and substr(codes.code, 1, length(rules.code_from)) >= rules.code_from
        and substr(codes.code, 1, length(rules.code_to)) <= rules.code_to

),

by_convention as (

    select
        code_pairs.code_system,
        code_pairs.answer_code,
        code_pairs.shown_code,
        min(code_rules.convention) as convention
    from code_pairs
    inner join code_rules
        on code_pairs.code_system = code_rules.code_system
        and code_pairs.code = code_rules.code
        and substr(code_pairs.other_code, 1, length(code_rules.target_from))
            >= code_rules.target_from
        and substr(code_pairs.other_code, 1, length(code_rules.target_to)) <= code_rules.target_to
    group by
        code_pairs.code_system,
        code_pairs.answer_code,
        code_pairs.shown_code

),

convention_findings as (

    select
        template_pairs.template_key,
        concat(
            by_convention.convention, ': ', template_pairs.code_system, ' ',
            template_pairs.shown_code, ' and ', template_pairs.answer_code
        ) as evidence
    from template_pairs
    inner join by_convention
        on template_pairs.code_system = by_convention.code_system
        and template_pairs.answer_code = by_convention.answer_code
        and template_pairs.shown_code = by_convention.shown_code

),

---------- what the source does

-- Numbers stand for the long keys in the joins below; they never leave this model.
numbered_visits as (

    select
        visit_key,
        source,
        person_group,
        cast(row_number() over (order by visit_key) as integer) as visit_number
    from visits

),

shown_pairs as (

    select distinct
        template_key,
        source,
        person_group,
        code_system,
        {{ icd_category('code_system', 'answer_code') }} as answer_category,
        {{ icd_category('code_system', 'shown_code') }} as shown_category
    from template_pairs
    where {{ icd_category('code_system', 'answer_code') }}
        <> {{ icd_category('code_system', 'shown_code') }}

),

asked_categories as (

    select source, code_system, answer_category as category from shown_pairs
    union
    select source, code_system, shown_category as category from shown_pairs

),

numbered_categories as (

    select
        *,
        cast(row_number() over (order by source, code_system, category) as integer)
            as category_number
    from asked_categories

),

category_pairs as (

    select
        shown_pairs.*,
        answer_categories.category_number as answer_number,
        shown_categories.category_number as shown_number
    from shown_pairs
    inner join numbered_categories as answer_categories
        on shown_pairs.source = answer_categories.source
        and shown_pairs.code_system = answer_categories.code_system
        and shown_pairs.answer_category = answer_categories.category
    inner join numbered_categories as shown_categories
        on shown_pairs.source = shown_categories.source
        and shown_pairs.code_system = shown_categories.code_system
        and shown_pairs.shown_category = shown_categories.category

),

visit_categories as (

    select distinct
        numbered_visits.visit_number,
        numbered_categories.category_number
    from events
    inner join numbered_visits
        on events.visit_key = numbered_visits.visit_key
    inner join numbered_categories
        on numbered_visits.source = numbered_categories.source
        and events.code_system = numbered_categories.code_system
        and {{ icd_category('events.code_system', 'events.normalized_code') }}
            = numbered_categories.category

),

category_counts as (

    select
        category_number,
        count(*) as n_visits
    from visit_categories
    group by category_number

),

asked_persons as (

    select distinct person_group
    from category_pairs

),

own_categories as (

    select
        numbered_visits.person_group,
        visit_categories.visit_number,
        visit_categories.category_number
    from visit_categories
    inner join numbered_visits
        on visit_categories.visit_number = numbered_visits.visit_number
    inner join asked_persons
        on numbered_visits.person_group = asked_persons.person_group

),

own_counts as (

    select
        person_group,
        category_number,
        count(*) as n_visits
    from own_categories
    group by
        person_group,
        category_number

),

-- A category rarer than its share of the other's visits is no habit: few pairs need counting.
possible_pairs as (

    select
        category_pairs.*,
        shown_counts.n_visits - coalesce(own_counts.n_visits, 0) as n_shown
    from category_pairs
    inner join category_counts as shown_counts
        on category_pairs.shown_number = shown_counts.category_number
    inner join category_counts as answer_counts
        on category_pairs.answer_number = answer_counts.category_number
    left join own_counts
        on category_pairs.person_group = own_counts.person_group
        and category_pairs.shown_number = own_counts.category_number
    where shown_counts.n_visits - coalesce(own_counts.n_visits, 0)
            >= {{ var('convention_min_visits') }}
        and answer_counts.n_visits
            > {{ var('convention_min_share') }}
            * (shown_counts.n_visits - coalesce(own_counts.n_visits, 0))

),

counted_pairs as (

    select distinct
        shown_number,
        answer_number
    from possible_pairs

),

shared as (

    select
        counted_pairs.shown_number,
        counted_pairs.answer_number,
        count(*) as n_both
    from counted_pairs
    inner join visit_categories as shown
        on counted_pairs.shown_number = shown.category_number
    inner join visit_categories as also
        on shown.visit_number = also.visit_number
        and counted_pairs.answer_number = also.category_number
    group by
        counted_pairs.shown_number,
        counted_pairs.answer_number

),

-- Own visits only lower the count, so what is too low with them stays so.
likely_pairs as (

    select
        possible_pairs.*,
        shared.n_both
    from possible_pairs
    inner join shared
        on possible_pairs.shown_number = shared.shown_number
        and possible_pairs.answer_number = shared.answer_number
    where shared.n_both > {{ var('convention_min_share') }} * possible_pairs.n_shown

),

own_shared as (

    select
        likely_pairs.template_key,
        likely_pairs.shown_number,
        likely_pairs.answer_number,
        count(*) as n_both
    from likely_pairs
    inner join own_categories as shown
        on likely_pairs.person_group = shown.person_group
        and likely_pairs.shown_number = shown.category_number
    inner join own_categories as also
        on shown.visit_number = also.visit_number
        and likely_pairs.answer_number = also.category_number
    group by
        likely_pairs.template_key,
        likely_pairs.shown_number,
        likely_pairs.answer_number

),

others_counted as (

    select
        likely_pairs.template_key,
        likely_pairs.code_system,
        likely_pairs.shown_category,
        likely_pairs.answer_category,
        likely_pairs.n_shown,
        likely_pairs.n_both - coalesce(own_shared.n_both, 0) as n_both
    from likely_pairs
    left join own_shared
        on likely_pairs.template_key = own_shared.template_key
        and likely_pairs.shown_number = own_shared.shown_number
        and likely_pairs.answer_number = own_shared.answer_number

),

habit_findings as (

    select
        template_key,
        concat(
            'habit: ', code_system, ' ', shown_category, ' with ', answer_category, ' in ', n_both,
            ' of ', n_shown, ' visits of others'
        ) as evidence
    from others_counted
    where n_both > {{ var('convention_min_share') }} * n_shown

),

united as (

    select * from convention_findings
    union all
    select * from habit_findings

),

found as (

    select
        'L06' as rule_id,
        'template' as scope,
        template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        min(evidence) as evidence
    from united
    group by template_key

)

select * from found
