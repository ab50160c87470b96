-- Every accepted triple is either a template with items or lost for a stated reason, and every
-- rendered item is either kept in dim_items or counted as reading like another one.
with

verdicts as (

    select * from {{ ref('fct_triple_verdicts') }}
    where policy = '{{ active_policy() }}'
        and verdict = 'accepted'

),

-- What only a generator of tests proposed is no template by rule.
for_tests as (

    select triple_id
    from {{ ref('fct_triple_proposals') }}
    group by triple_id
    having count(*) = count(*) filter (where {{ for_tests_only('generator') }})

),

attrition as (

    select * from {{ ref('int_template_attrition') }}

),

templates as (

    select * from {{ ref('fct_templates') }}

),

rendered as (

    select * from {{ ref('int_rendered_items') }}

),

items as (

    select * from {{ ref('dim_items') }}

),

sums as (

    select
        (
            select count(*)
            from verdicts
            where triple_id not in (select triple_id from for_tests)
        ) as n_accepted,
        (select count(*) from attrition) as n_accounted,
        (select count(*) from attrition where step is null or step in ('distractors', 'items'))
            as n_templates_accounted,
        (select count(*) from templates) as n_templates,
        (select coalesce(sum(n_items + n_items_alike), 0) from attrition) as n_rendered_accounted,
        (select count(*) from rendered) as n_rendered,
        (select coalesce(sum(n_items), 0) from attrition) as n_items_accounted,
        (select count(*) from items) as n_items

)

select *
from sums
where n_accepted is distinct from n_accounted
    or n_templates is distinct from n_templates_accounted
    or n_rendered is distinct from n_rendered_accounted
    or n_items is distinct from n_items_accounted
