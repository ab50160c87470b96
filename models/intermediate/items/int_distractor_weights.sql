-- One row per pool x answer concept with the weight of the draw. In a pool of blocks it goes by
-- the answers of the blocks: only templates that calibrate nothing draw there. In a pool of the
-- weighted draw each round draws for every template and moves a concept's weight by wanted /
-- drawn, so that a concept comes up as a distractor in proportion to how often it is an answer;
-- templates whose draw is too short for the smallest item count on neither side. Whole numbers
-- only.
{%- set rounds = var('distractor_weight_rounds') %}
{%- set wanted = (var('item_option_counts') | max) - 1 %}
{%- set needed = (var('item_option_counts') | min) - 1 %}
with recursive

balanced as (

    select * from {{ ref('int_templates_balanced') }}
    where cap_reason is null
        and is_matchable

),

templates as (

    select * from {{ ref('int_templates') }}

),

template_answers as (

    select
        templates.template_number,
        templates.answer_cui_id
    from templates
    inner join balanced
        on templates.template_number = balanced.template_number
        and balanced.draw = 'weighted'

),

block_answers as (

    select
        templates.pool_number,
        templates.answer_cui_id as cui_id,
        count(*) as n_answers
    from templates
    inner join balanced
        on templates.template_number = balanced.template_number
        and balanced.block_number is not null
    group by
        templates.pool_number,
        templates.answer_cui_id

),

pool_draws as (

    select * from {{ ref('int_pool_draws') }}

),

candidates as (

    select drawn.*
    from {{ ref('int_drawn_candidates') }} as drawn
    inner join template_answers
        on drawn.template_number = template_answers.template_number

),

vocabulary as (

    select found.*
    from {{ ref('int_answer_vocabulary') }} as found
    inner join pool_draws
        on found.pool_number = pool_draws.pool_number
        and pool_draws.draw = 'weighted'

),

conflicts as (

    select * from {{ ref('int_option_conflicts') }}

),

related as (

    select
        pool_number,
        cui_id,
        list(other_cui_id order by other_cui_id) as related_cui_ids
    from conflicts
    group by all

),

weights_0 as (

    select
        pool_number,
        cui_id,
        n_answers,
        cast(n_answers * 100000 as bigint) as weight
    from vocabulary

),

{% for round in range(1, rounds + 1) -%}
{{ draw_distractors('draw_' ~ round, 'candidates', 'weights_' ~ (round - 1), 'related', wanted,
    var('distractor_shortlist')) }},

used_{{ round }} as materialized (

    select
        draw_{{ round }}.template_number,
        draw_{{ round }}.pool_number,
        draw_{{ round }}.cui_id
    from draw_{{ round }}
    qualify count(*) over (partition by draw_{{ round }}.template_number) >= {{ needed }}

),

drawn_{{ round }} as (

    select
        pool_number,
        cui_id,
        count(*) as n_drawn
    from used_{{ round }}
    group by
        pool_number,
        cui_id

),

asked_{{ round }} as (

    select
        used_{{ round }}.pool_number,
        template_answers.answer_cui_id as cui_id,
        count(distinct used_{{ round }}.template_number) as n_answers
    from used_{{ round }}
    inner join template_answers
        on used_{{ round }}.template_number = template_answers.template_number
    group by
        used_{{ round }}.pool_number,
        template_answers.answer_cui_id

),

totals_{{ round }} as (

    select
        pool_number,
        count(*) as n_pool_drawn,
        count(distinct template_number) as n_pool_answers
    from used_{{ round }}
    group by pool_number

),

weights_{{ round }} as materialized (

    select
        weights_{{ round - 1 }}.pool_number,
        weights_{{ round - 1 }}.cui_id,
        coalesce(asked_{{ round }}.n_answers, 0) as n_answers,
        coalesce(drawn_{{ round }}.n_drawn, 0) as n_drawn,
        -- at most fourfold a round, within bounds that keep the keys of the draw in a bigint
        cast(least(10000000000, greatest(
            1,
            weights_{{ round - 1 }}.weight // 4,
            least(
                weights_{{ round - 1 }}.weight * 4,
                weights_{{ round - 1 }}.weight * (
                    2 * coalesce(asked_{{ round }}.n_answers, 0) * totals_{{ round }}.n_pool_drawn
                        // totals_{{ round }}.n_pool_answers + 1
                ) // (2 * coalesce(drawn_{{ round }}.n_drawn, 0) + 1)
            )
        )) as bigint) as weight
    from weights_{{ round - 1 }}
    left join totals_{{ round }}
        on weights_{{ round - 1 }}.pool_number = totals_{{ round }}.pool_number
    left join asked_{{ round }}
        on weights_{{ round - 1 }}.pool_number = asked_{{ round }}.pool_number
        and weights_{{ round - 1 }}.cui_id = asked_{{ round }}.cui_id
    left join drawn_{{ round }}
        on weights_{{ round - 1 }}.pool_number = drawn_{{ round }}.pool_number
        and weights_{{ round - 1 }}.cui_id = drawn_{{ round }}.cui_id

),

{% endfor -%}
weighted as (

    select
        pool_number,
        cui_id,
        weight,
        cast(n_answers as integer) as n_answers,
        cast(n_drawn as integer) as n_drawn_before
    from weights_{{ rounds }}

),

united as (

    select * from weighted

    union all

    select
        pool_number,
        cui_id,
        cast(n_answers * 100000 as bigint) as weight,
        cast(n_answers as integer) as n_answers,
        cast(null as integer) as n_drawn_before
    from block_answers

)

select * from united
