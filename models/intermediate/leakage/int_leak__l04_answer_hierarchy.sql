-- L04: a scenario concept is an ancestor, descendant, sibling or equivalent of the answer, by the
-- hierarchy in either direction or by what the literature states about kinds of things.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

relatives as (

    select * from {{ ref('int_concept_relatives') }}
    where cui_id <> relative_cui_id

),

edges as (

    select * from {{ ref('int_edges') }}
    where not is_negated
        and subject_cui_id <> object_cui_id

),

kind_predicates as (

    select * from {{ ref('kind_predicates') }}

),

stated_kinds as (

    select
        edges.subject_cui_id as cui_id,
        edges.object_cui_id as relative_cui_id,
        kind_predicates.relation
    from edges
    inner join kind_predicates
        on edges.predicate = kind_predicates.predicate

),

near_pairs as (

    select
        cui_id,
        relative_cui_id,
        relation
    from relatives

    union

    -- What is an ancestor read one way is a descendant read the other.
    select
        relative_cui_id as cui_id,
        cui_id as relative_cui_id,
        case relation
            when 'ancestor' then 'descendant'
            when 'descendant' then 'ancestor'
            else relation
        end as relation
    from relatives

    union

    select * from stated_kinds

    union

    select
        relative_cui_id as cui_id,
        cui_id as relative_cui_id,
        relation
    from stated_kinds

),

shown_concepts as (

    select distinct
        templates.template_key,
        templates.answer_cui_id,
        mappings.cui_id
    from templates
    inner join scenario
        on templates.template_key = scenario.template_key
    inner join mappings
        on scenario.event_key = mappings.event_key

),

found as (

    select
        'L04' as rule_id,
        'template' as scope,
        shown_concepts.template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        min(concat(
            {{ cui_text('near_pairs.relative_cui_id') }}, ' is ', near_pairs.relation,
            ' of the answer'
        )) as evidence
    from shown_concepts
    inner join near_pairs
        on shown_concepts.answer_cui_id = near_pairs.cui_id
        and shown_concepts.cui_id = near_pairs.relative_cui_id
    group by shown_concepts.template_key

)

select * from found
