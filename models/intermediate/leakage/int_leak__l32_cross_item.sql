-- Templates whose answer the scenario of another template prints: shown side by side, as examples
-- in one prompt or in one training set, the one gives the other away.
with

revealed as (

    select * from {{ ref('int_revealed_answers') }}

),

found as (

    select
        template_key,
        concat('printed by ', count(*), ' other templates') as evidence
    from revealed
    group by template_key

)

select
    'L32' as rule_id,
    'template' as scope,
    template_key,
    cast(null as varchar) as item_id,
    cast(null as varchar) as option_key,
    evidence
from found
