-- Every concept that may answer a question of the template's pool, with what came of it as a
-- distractor and why. The order of the reasons is the order of int_distractor_candidates, which
-- decides; test_explain compares the two.
with

template as (

    select
        templates.*,
        balanced.draw
    from int_templates as templates
    left join int_templates_balanced as balanced
        on templates.template_key = balanced.template_key
    where templates.triple_id = $triple_id

),

vocabulary as (

    select * from int_answer_vocabulary
    where pool_number in (select pool_number from template)

),

scenario as (

    select * from int_scenario_concepts
    where template_number in (select template_number from template)

),

plausible as (

    select distinct together.cui_id
    from int_concept_cooccurrence as together
    inner join scenario
        on together.scenario_cui_id = scenario.cui_id
    inner join template
        on together.event_type = template.answer_event_type

),

linked as (

    select
        links.cui_id,
        links.scenario_cui_id
    from int_kb_linked_pairs as links
    inner join scenario
        on links.task = scenario.task
        and links.scenario_cui_id = scenario.cui_id

),

scenario_labels as (

    select distinct
        mapped.cui_id,
        events.label
    from int_template_scenario as shown
    inner join fct_visit_events as events
        on shown.event_key = events.event_key
    inner join brg_event_concepts as mapped
        on shown.event_key = mapped.event_key
    where shown.template_key in (select template_key from template)

),

linked_labelled as (

    select
        linked.cui_id,
        string_agg(distinct scenario_labels.label, '; ' order by scenario_labels.label) as labels
    from linked
    left join scenario_labels
        on linked.scenario_cui_id = scenario_labels.cui_id
    group by linked.cui_id

),

critical as (

    select
        cui_id,
        rule
    from int_context_critical_pairs
    where template_number in (select template_number from template)

),

excluded as (

    select distinct cui_id
    from int_person_excluded_concepts
    where person_group in (select person_group from template)

),

recorded as (

    select distinct mapped.cui_id
    from dim_visits as visits
    inner join fct_visit_events as events
        on visits.visit_key = events.visit_key
    inner join brg_event_concepts as mapped
        on events.event_key = mapped.event_key
    where visits.person_group in (select person_group from template)

),

absurd as (

    select
        cui_id,
        min(reason) as reason
    from int_absurd_answers
    where template_number in (select template_number from template)
    group by cui_id

),

words as (

    select
        cui_id,
        min(word) as word
    from int_leak_shared_words
    where template_number in (select template_number from template)
    group by cui_id

),

conflicts as (

    select * from int_option_conflicts
    where pool_number in (select pool_number from template)

),

candidates as (

    select cui_id
    from int_distractor_candidates
    where template_number in (select template_number from template)

),

drawn as (

    select
        option_key,
        cui_id,
        label
    from int_distractors
    where template_key in (select template_key from template)

),

near_drawn as (

    select
        conflicts.other_cui_id as cui_id,
        string_agg(drawn.label, '; ' order by drawn.label, drawn.option_key) as labels
    from conflicts
    inner join drawn
        on conflicts.cui_id = drawn.cui_id
    group by conflicts.other_cui_id

),

options as (

    select
        option_key,
        option_letter
    from fct_item_options
    where item_id = $item_id

),

judged as (

    select
        vocabulary.label,
        vocabulary.cui,
        vocabulary.option_key,
        options.option_letter,
        template.draw,
        case
            when vocabulary.cui_id = template.answer_cui_id then 'answer'
            when drawn.cui_id is not null and ($item_id is null or options.option_key is not null)
                then 'shown'
            when drawn.cui_id is not null then 'in_other_items'
            when candidates.cui_id is not null and near_drawn.cui_id is not null
                and template.draw <> 'blocks'
                then 'near_drawn'
            when candidates.cui_id is not null then 'not_drawn'
            when plausible.cui_id is null then 'not_together'
            when linked_labelled.cui_id is not null and critical.cui_id is null then 'linked'
            when excluded.cui_id is not null then 'in_record'
            when absurd.cui_id is not null then 'impossible'
            when words.cui_id is not null then 'rare_word'
            when like_answer.other_cui_id is not null then 'like_answer'
            when linked_labelled.cui_id is not null then 'too_many_critical'
        end as outcome,
        near_drawn.labels as near_drawn_labels,
        linked_labelled.labels as linked_labels,
        critical.rule as critical_rule,
        recorded.cui_id is not null as is_recorded,
        absurd.reason as absurd_reason,
        words.word,
        like_answer.conflict
    from template
    inner join vocabulary
        on template.pool_number = vocabulary.pool_number
    left join drawn
        on vocabulary.cui_id = drawn.cui_id
    left join options
        on vocabulary.option_key = options.option_key
    left join candidates
        on vocabulary.cui_id = candidates.cui_id
    left join near_drawn
        on vocabulary.cui_id = near_drawn.cui_id
    left join plausible
        on vocabulary.cui_id = plausible.cui_id
    left join linked_labelled
        on vocabulary.cui_id = linked_labelled.cui_id
    left join critical
        on vocabulary.cui_id = critical.cui_id
    left join excluded
        on vocabulary.cui_id = excluded.cui_id
    left join recorded
        on vocabulary.cui_id = recorded.cui_id
    left join absurd
        on vocabulary.cui_id = absurd.cui_id
    left join words
        on vocabulary.cui_id = words.cui_id
    left join conflicts as like_answer
        on template.answer_cui_id = like_answer.cui_id
        and vocabulary.cui_id = like_answer.other_cui_id

)

select
    outcome,
    label,
    cui,
    option_letter,
    draw,
    case outcome
        when 'near_drawn' then near_drawn_labels
        when 'linked' then linked_labels
        when 'in_record' then case when is_recorded then 'itself' else 'near it' end
        when 'impossible' then absurd_reason
        when 'rare_word' then word
        when 'like_answer' then conflict
        when 'too_many_critical' then critical_rule
        when 'shown' then critical_rule
    end as detail
from judged
where outcome <> 'answer'
    or outcome is null
order by
    outcome,
    option_letter,
    label,
    option_key
