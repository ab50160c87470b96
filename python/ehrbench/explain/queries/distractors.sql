-- Every other concept of the template's pool with what came of it as a distractor: the outcome of
-- int_distractor_outcomes, with its particulars. Of an item, what is shown in others only stands
-- apart; of a weighted draw, what was not drawn because it is like what was.
with

template as (

    select
        templates.*,
        balanced.draw
    from int_templates as templates
    left join int_templates_balanced as balanced
        on templates.template_key = balanced.template_key
    where templates.template_number = $template_number

),

-- The number as it is given: then the view is asked for this template only.
outcomes as (

    select * from int_distractor_outcomes
    where template_number = $template_number

),

scenario as (

    select * from int_scenario_concepts
    where template_number = $template_number

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
    where template_number = $template_number

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
    where template_number = $template_number
    group by cui_id

),

words as (

    select
        cui_id,
        min(word) as word
    from int_leak_shared_words
    where template_number = $template_number
    group by cui_id

),

conflicts as (

    select * from int_option_conflicts
    where pool_number in (select pool_number from template)

),

drawn as (

    select * from outcomes
    where outcome = 'shown'

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
        outcomes.label,
        outcomes.cui,
        outcomes.option_key,
        options.option_letter,
        template.draw,
        case
            when outcomes.outcome = 'shown'
                and $item_id is not null
                and options.option_key is null
                then 'in_other_items'
            when outcomes.outcome = 'not_drawn'
                and template.draw <> 'blocks'
                and near_drawn.cui_id is not null
                then 'near_drawn'
            else outcomes.outcome
        end as outcome,
        near_drawn.labels as near_drawn_labels,
        linked_labelled.labels as linked_labels,
        critical.rule as critical_rule,
        recorded.cui_id is not null as is_recorded,
        absurd.reason as absurd_reason,
        words.word,
        like_answer.conflict
    from template
    inner join outcomes
        on template.template_number = outcomes.template_number
    left join options
        on outcomes.option_key = options.option_key
    left join near_drawn
        on outcomes.cui_id = near_drawn.cui_id
    left join linked_labelled
        on outcomes.cui_id = linked_labelled.cui_id
    left join critical
        on outcomes.cui_id = critical.cui_id
    left join recorded
        on outcomes.cui_id = recorded.cui_id
    left join absurd
        on outcomes.cui_id = absurd.cui_id
    left join words
        on outcomes.cui_id = words.cui_id
    left join conflicts as like_answer
        on template.answer_cui_id = like_answer.cui_id
        and outcomes.cui_id = like_answer.other_cui_id

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
order by
    outcome,
    option_letter,
    label,
    option_key
