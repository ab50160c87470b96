-- One row per template x distractor. Ranks are shuffled after the draw: items with fewer options
-- take the first ranks, and those must not be the heaviest concepts.
{%- set wanted = (var('item_option_counts') | max) - 1 %}
with recursive

balanced as (

    select * from {{ ref('int_templates_balanced') }}
    where cap_reason is null

),

candidates as (

    select candidates_found.*
    from {{ ref('int_distractor_candidates') }} as candidates_found
    inner join balanced
        on candidates_found.template_number = balanced.template_number

),

weights as (

    select * from {{ ref('int_distractor_weights') }}

),

conflicts as (

    select * from {{ ref('int_option_conflicts') }}

),

templates as (

    select * from {{ ref('int_templates') }}

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

{{ draw_distractors('draw', 'candidates', 'weights', 'related', wanted,
    var('distractor_shortlist')) }},

ranked as (

    select
        templates.template_key,
        cast(row_number() over (
            partition by templates.template_key
            order by
                {{ key(['templates.template_key', 'vocabulary.option_key', "'rank'"]) }},
                vocabulary.option_key
        ) as integer) as rank,
        vocabulary.option_key,
        vocabulary.cui_id,
        vocabulary.label
    from draw
    inner join templates
        on draw.template_number = templates.template_number
    inner join vocabulary
        on draw.pool_number = vocabulary.pool_number
        and draw.cui_id = vocabulary.cui_id

)

select * from ranked
