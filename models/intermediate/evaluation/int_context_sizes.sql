-- One row per template of the evaluation subset: its wide form, or why it cannot be asked with more
-- context events. Leak rules of template scope that read the scenario find no less the more it
-- shows, and so do the rules on its options and the context check: what passes with all events
-- passes with some of them. It reads keys and findings and holds no text.
with

items as (

    select distinct template_key
    from {{ ref('dim_items') }}
    where in_subset
        and format = 'mcq'

),

forms as (

    select * from {{ ref('int_template_forms') }}

),

triple_events as not materialized (

    select * from {{ ref('fct_triple_events') }}
    where role = 'context'

),

leaking as (

    select * from {{ ref('int_leaking_templates') }}

),

coding_conventions as (

    select * from {{ ref('int_leak__l06_code_conventions') }}

),

rules as (

    select * from {{ ref('leak_rules') }}
    where policy in ('fail', 'quarantine')

),

supported_options as (

    select * from {{ ref('int_leak__l24_distractor_also_right') }}

),

absurd_options as (

    select * from {{ ref('int_leak__l37_absurd_option') }}

),

options as (

    select * from {{ ref('int_leak_options') }}
    where not is_gold

),

shared_words as (

    select * from {{ ref('int_leak_shared_words') }}

),

conflict_rules as (

    select * from {{ ref('conflict_rules') }}
    where policy = '{{ active_policy() }}'
        and is_enabled

),

visit_events as (

    select * from {{ ref('fct_visit_events') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

excludes1 as (

    select * from {{ ref('int_icd_excludes1') }}

),

treatment_harms as (

    select * from {{ ref('int_treatment_harms') }}

),

edges as (

    select * from {{ ref('int_edges') }}

),

subset as (

    select
        forms.template_key,
        forms.triple_id,
        forms.answer_event_key,
        wide_forms.template_key as wide_key,
        wide_forms.template_number as wide_number
    from items
    inner join forms
        on items.template_key = forms.template_key
    left join forms as wide_forms
        on forms.template_key = wide_forms.of_template_key

),

contexts_counted as (

    select
        subset.template_key,
        count(triple_events.event_key) as n_events
    from subset
    left join triple_events
        on subset.triple_id = triple_events.triple_id
    group by subset.template_key

),

-- The first events passed the check with the triple.
triple_contexts as (

    select
        subset.triple_id,
        triple_events.event_key as context_event_key,
        subset.answer_event_key as object_event_key
    from subset
    inner join triple_events
        on subset.triple_id = triple_events.triple_id
        and triple_events.position > {{ var('context_events') }}
    where subset.wide_key is not null

),

{{ context_conflicts() }},

conflicts as (

    select
        triple_id,
        rule
    from concept_conflicts

    union

    select
        triple_id,
        rule
    from code_conflicts

),

conflicting as (

    select distinct conflicts.triple_id
    from conflicts
    inner join conflict_rules
        on conflicts.rule = conflict_rules.rule

),

supported as (

    select distinct supported_options.template_key
    from supported_options
    semi join rules
        on supported_options.rule_id = rules.rule_id

),

ruled_out as (

    select absurd_options.template_key
    from absurd_options
    semi join rules
        on absurd_options.rule_id = rules.rule_id

    union

    -- The draw leaves out what shares a rare word, for no answer does.
    select subset.wide_key as template_key
    from subset
    inner join options
        on subset.template_key = options.template_key
    inner join shared_words
        on subset.wide_number = shared_words.template_number
        and options.cui_id = shared_words.cui_id

),

judged as (

    select
        subset.template_key,
        subset.wide_key,
        case
            when contexts_counted.n_events < {{ var('max_context_events') }}
                then 'few_context_events'
            when subset.wide_key is null then 'not_sampled'
            when leaking.template_key is not null then 'leaks_with_more_context'
            when coding_conventions.template_key is not null then 'convention_with_more_context'
            when conflicting.triple_id is not null then 'conflicts_with_more_context'
            when supported.template_key is not null then 'distractor_supported'
            when ruled_out.template_key is not null then 'distractor_ruled_out'
        end as reason
    from subset
    inner join contexts_counted
        on subset.template_key = contexts_counted.template_key
    left join (select distinct template_key from leaking) as leaking
        on subset.wide_key = leaking.template_key
    left join coding_conventions
        on subset.wide_key = coding_conventions.template_key
    left join conflicting
        on subset.triple_id = conflicting.triple_id
    left join supported
        on subset.wide_key = supported.template_key
    left join ruled_out
        on subset.wide_key = ruled_out.template_key

)

select * from judged
