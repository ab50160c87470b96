-- One row per template x distractor. A template of a block shows the answers of the others, by
-- their place in the block: an item of n options has the first n members, whichever is asked. Any
-- other template draws for itself; there ranks are shuffled after the draw, as items with fewer
-- options take the first ranks and those must not be the heaviest concepts.
{%- set wanted = (var('item_option_counts') | max) - 1 %}
with recursive

balanced as (

    select * from {{ ref('int_templates_balanced') }}
    where cap_reason is null

),

templates as (

    select * from {{ ref('int_templates') }}

),

candidates as (

    select * from {{ ref('int_drawn_candidates') }}

),

weights as (

    select * from {{ ref('int_distractor_weights') }}

),

conflicts as (

    select * from {{ ref('int_option_conflicts') }}

),

vocabulary as (

    select * from {{ ref('int_answer_vocabulary') }}

),

related as (

    select
        pool_number,
        cui_id,
        list(other_cui_id order by other_cui_id) as related_cui_ids
    from conflicts
    group by all

),

members as (

    select
        templates.template_number,
        templates.template_key,
        templates.pool_number,
        templates.answer_cui_id,
        balanced.block_number,
        balanced.block_place
    from balanced
    inner join templates
        on balanced.template_number = templates.template_number
    where balanced.block_number is not null

),

{{ draw_distractors('draw', 'candidates', 'weights', 'related', wanted,
    var('distractor_shortlist')) }},

shown as (

    select
        members.template_key,
        members.pool_number,
        others.answer_cui_id as cui_id,
        others.block_place,
        cast(null as varchar) as rank_key
    from members
    inner join members as others
        on members.block_number = others.block_number
        and members.template_number <> others.template_number

    union all

    select
        templates.template_key,
        templates.pool_number,
        draw.cui_id,
        cast(null as integer) as block_place,
        {{ key(['templates.template_key', 'draw.cui_id', "'rank'"]) }} as rank_key
    from draw
    inner join templates
        on draw.template_number = templates.template_number

),

ranked as (

    select
        shown.template_key,
        cast(row_number() over (
            partition by shown.template_key
            order by shown.block_place, shown.rank_key, vocabulary.option_key
        ) as integer) as rank,
        vocabulary.option_key,
        vocabulary.cui_id,
        vocabulary.label
    from shown
    inner join vocabulary
        on shown.pool_number = vocabulary.pool_number
        and shown.cui_id = vocabulary.cui_id

)

select * from ranked
