-- Concepts that may answer other questions of the pool, each with what came of it as a distractor
-- of this template. The order of the rules is that of int_distractor_candidates.
with

used as (

    select distinct template_key
    from chosen_items

),

templates as (

    select templates.*
    from int_templates as templates
    inner join used
        on templates.template_key = used.template_key

),

plausible as (

    select distinct
        scenario.template_number,
        together.cui_id,
        together.event_type
    from templates
    inner join int_scenario_concepts as scenario
        on templates.template_number = scenario.template_number
    inner join int_concept_cooccurrence as together
        on scenario.cui_id = together.scenario_cui_id

),

linked as (

    select distinct
        scenario.template_number,
        linked.cui_id
    from templates
    inner join int_scenario_concepts as scenario
        on templates.template_number = scenario.template_number
    inner join int_kb_linked_pairs as linked
        on scenario.task = linked.task
        and scenario.cui_id = linked.scenario_cui_id

),

judged as (

    select
        templates.template_key,
        vocabulary.label,
        vocabulary.option_key,
        case
            when vocabulary.cui_id = templates.answer_cui_id then 'answer'
            when shown.cui_id is not null then 'shown'
            when candidates.cui_id is not null then 'not_drawn'
            when plausible.cui_id is null then 'never_together'
            when linked.cui_id is not null and critical.cui_id is null then 'linked'
            when excluded.cui_id is not null then 'in_record'
            when absurd.cui_id is not null then 'impossible'
            when words.cui_id is not null then 'rare_word'
            when conflicts.other_cui_id is not null then 'like_answer'
            else 'other'
        end as outcome
    from templates
    inner join int_answer_vocabulary as vocabulary
        on templates.pool_number = vocabulary.pool_number
    left join int_distractors as shown
        on templates.template_key = shown.template_key
        and vocabulary.option_key = shown.option_key
    left join int_distractor_candidates as candidates
        on templates.template_number = candidates.template_number
        and vocabulary.cui_id = candidates.cui_id
    left join plausible
        on templates.template_number = plausible.template_number
        and vocabulary.cui_id = plausible.cui_id
        and vocabulary.event_type = plausible.event_type
    left join linked
        on templates.template_number = linked.template_number
        and vocabulary.cui_id = linked.cui_id
    -- What the context rules out may be linked all the same.
    left join int_context_critical_pairs as critical
        on templates.template_number = critical.template_number
        and vocabulary.cui_id = critical.cui_id
    left join int_person_excluded_concepts as excluded
        on templates.person_group = excluded.person_group
        and vocabulary.cui_id = excluded.cui_id
    left join (select distinct template_number, cui_id from int_absurd_answers) as absurd
        on templates.template_number = absurd.template_number
        and vocabulary.cui_id = absurd.cui_id
    left join (select distinct template_number, cui_id from int_leak_shared_words) as words
        on templates.template_number = words.template_number
        and vocabulary.cui_id = words.cui_id
    left join (select distinct pool_number, cui_id, other_cui_id from int_option_conflicts)
        as conflicts
        on templates.pool_number = conflicts.pool_number
        and templates.answer_cui_id = conflicts.cui_id
        and vocabulary.cui_id = conflicts.other_cui_id

)

select
    template_key,
    outcome,
    list(label order by label, option_key) as labels
from judged
where outcome <> 'answer'
group by
    template_key,
    outcome
order by
    template_key,
    outcome
