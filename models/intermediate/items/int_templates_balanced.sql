-- One row per template, with cap_reason where its answer is asked more often than it can be shown
-- as a distractor. A concept that answers n templates should be a distractor in n times one less
-- than the largest option count; where too few templates have it as a candidate, the answer would
-- be given away by being there, so the surplus templates go (in md5 order; one always stays).
-- Concepts that must not stand together share their candidate templates by their answers.
-- Templates that only completions propose get what room the others leave, and none when their
-- answer is no distractor of any.
{%- set wanted = (var('item_option_counts') | max) - 1 %}
{%- set needed = (var('item_option_counts') | min) - 1 %}
with

templates as (

    select * from {{ ref('int_templates') }}

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

    select templates.*
    from templates
    inner join usable_templates
        on templates.template_number = usable_templates.template_number
    where not templates.needs_completion

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

ranked as (

    select
        templates.template_key,
        templates.template_number,
        allowances.allowance,
        row_number() over (
            partition by
                templates.pool_number,
                templates.answer_cui_id,
                usable_templates.template_number is null
            order by templates.needs_completion, templates.template_key
        ) as place,
        usable_templates.template_number is not null as is_usable
    from templates
    left join usable_templates
        on templates.template_number = usable_templates.template_number
    left join allowances
        on templates.pool_number = allowances.pool_number
        and templates.answer_cui_id = allowances.cui_id

),

balanced as (

    select
        template_key,
        template_number,
        cast(allowance as integer) as allowance,
        case when is_usable and place > coalesce(allowance, 0) then 'cap_exposure' end as cap_reason
    from ranked

)

select * from balanced
