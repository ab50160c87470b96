-- One row per template with the way its distractors are found (draw), and with cap_reason where its
-- answer could not be shown as a distractor as often as it is asked, so that being there would give
-- it away. In a pool of blocks that is a template without a block. In a pool of the weighted draw a
-- concept that answers n templates should be a distractor in n times one less than the largest
-- option count; where too few templates have it as a candidate, the surplus templates go (in md5
-- order; one always stays), and concepts that must not stand together share their candidate
-- templates by their answers. Templates that only completions propose take no room: of those with
-- one answer as many stay as there are others with it. Templates in a leak rule stay: their items
-- are rendered and held back.
{%- set wanted = (var('item_option_counts') | max) - 1 %}
{%- set needed = (var('item_option_counts') | min) - 1 %}
with

templates as (

    select * from {{ ref('int_templates') }}

),

matchable as (

    select * from {{ ref('int_matchable_templates') }}

),

leaking as (

    select distinct template_key from {{ ref('int_leaking_templates') }}

),

blocks as (

    select * from {{ ref('int_matched_blocks') }}

),

pool_draws as (

    select * from {{ ref('int_pool_draws') }}

),

candidates as (

    select * from {{ ref('int_distractor_candidates') }}

),

conflicts as (

    select * from {{ ref('int_option_conflicts') }}

),

usable_templates as (

    select template_number
    from candidates
    group by template_number
    having count(*) >= {{ needed }}

),

counted_templates as (

    select matchable.*
    from matchable
    inner join usable_templates
        on matchable.template_number = usable_templates.template_number
    inner join pool_draws
        on matchable.pool_number = pool_draws.pool_number
        and pool_draws.draw = 'weighted'

),

candidates_counted as (

    select
        candidates.pool_number,
        candidates.cui_id,
        count(*) as n_candidate_templates
    from candidates
    inner join counted_templates
        on candidates.template_number = counted_templates.template_number
    group by
        candidates.pool_number,
        candidates.cui_id

),

answers_counted as (

    select
        pool_number,
        answer_cui_id as cui_id,
        count(*) as n_answers
    from counted_templates
    group by
        pool_number,
        answer_cui_id

),

rivals_counted as (

    select
        conflicts.pool_number,
        conflicts.cui_id,
        sum(answers_counted.n_answers) as n_rival_answers
    from conflicts
    inner join answers_counted
        on conflicts.pool_number = answers_counted.pool_number
        and conflicts.other_cui_id = answers_counted.cui_id
    group by
        conflicts.pool_number,
        conflicts.cui_id

),

allowances as (

    select
        answers_counted.pool_number,
        answers_counted.cui_id,
        greatest(
            1,
            coalesce(candidates_counted.n_candidate_templates, 0) * answers_counted.n_answers
                // (answers_counted.n_answers + coalesce(rivals_counted.n_rival_answers, 0))
                // {{ wanted }}
        ) as allowance
    from answers_counted
    left join candidates_counted
        on answers_counted.pool_number = candidates_counted.pool_number
        and answers_counted.cui_id = candidates_counted.cui_id
    left join rivals_counted
        on answers_counted.pool_number = rivals_counted.pool_number
        and answers_counted.cui_id = rivals_counted.cui_id

),

classed as (

    select
        templates.template_key,
        templates.template_number,
        templates.pool_number,
        templates.answer_cui_id,
        coalesce(pool_draws.draw = 'blocks', false) as is_block_pool,
        blocks.block_number,
        blocks.place as block_place,
        blocks.smallest_size,
        usable_templates.template_number is not null as is_usable,
        case
            when matchable.template_number is not null then 'matchable'
            when leaking.template_key is null and templates.needs_completion then 'completion'
            else 'held_back'
        end as template_class
    from templates
    left join matchable
        on templates.template_number = matchable.template_number
    left join leaking
        on templates.template_key = leaking.template_key
    left join blocks
        on templates.template_number = blocks.template_number
    left join pool_draws
        on templates.pool_number = pool_draws.pool_number
    left join usable_templates
        on templates.template_number = usable_templates.template_number

),

ranked as (

    select
        classed.*,
        row_number() over (
            partition by
                classed.pool_number,
                classed.answer_cui_id,
                classed.template_class,
                classed.is_usable
            order by classed.template_key
        ) as place,
        coalesce(allowances.allowance, 0) as allowance
    from classed
    left join allowances
        on classed.pool_number = allowances.pool_number
        and classed.answer_cui_id = allowances.cui_id

),

decided as (

    select
        *,
        template_class = 'matchable'
            and is_usable
            and case when is_block_pool then block_number is not null else place <= allowance end
            as is_balanced
    from ranked

),

counted as (

    select
        *,
        is_balanced and is_block_pool as is_in_block,
        count(*) filter (where is_balanced) over (
            partition by
                pool_number,
                answer_cui_id
        ) as n_balanced
    from decided

),

balanced as (

    select
        template_key,
        template_number,
        template_class = 'matchable' as is_matchable,
        case when is_in_block then 'blocks' else 'weighted' end as draw,
        case when is_in_block then block_number end as block_number,
        case when is_in_block then block_place end as block_place,
        case when is_in_block then smallest_size end as smallest_size,
        case
            when not is_usable then null
            when template_class = 'matchable' and not is_balanced then 'cap_exposure'
            when template_class = 'completion' and place > n_balanced then 'cap_exposure'
        end as cap_reason
    from counted

)

select * from balanced
