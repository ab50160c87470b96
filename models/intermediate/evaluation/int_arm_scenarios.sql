-- One row per template of the evaluation subset x arm beside the standard one: the scenario that
-- the arm shows, or the reason why the template cannot be asked that way. Reads templates for
-- person and subject alone: nothing here depends on which option is the answer. Arm shuffled looks
-- at all options of a template alike.
with

items as (

    select * from {{ ref('dim_items') }}
    where in_subset
        and format = 'mcq'

),

options as (

    select * from {{ ref('fct_item_options') }}

),

templates as (

    select
        template_key,
        person_group,
        subject_event_key,
        needs_completion
    from {{ ref('int_templates') }}

),

lines as (

    select * from {{ ref('int_template_scenario') }}

),

mappings as (

    select
        event_key,
        cui
    from {{ ref('brg_event_concepts') }}
    where cui is not null

),

-- All options of an item are of one type, so any of them says what is asked for.
item_types as (

    select
        items.template_key,
        items.source,
        items.task,
        min(items.scenario) as scenario,
        min(options.event_type) as option_type
    from items
    inner join options
        on items.item_id = options.item_id
    group by
        items.template_key,
        items.source,
        items.task

),

shown as (

    select
        item_types.template_key,
        item_types.source,
        item_types.task,
        item_types.option_type,
        item_types.scenario,
        templates.person_group,
        templates.subject_event_key,
        templates.needs_completion
    from item_types
    inner join templates
        on item_types.template_key = templates.template_key

),

parts as (

    select
        shown.template_key,
        string_agg(lines.line, chr(10) order by lines.order_key, lines.event_key) filter (
            where lines.event_key = shown.subject_event_key
        ) as subject_lines,
        string_agg(lines.line, chr(10) order by lines.order_key, lines.event_key) filter (
            where lines.event_key <> shown.subject_event_key
        ) as context_lines
    from shown
    inner join lines
        on shown.template_key = lines.template_key
    group by shown.template_key

),

-- The shuffled arm is a rotation: templates stand in the order of their persons, and each takes the
-- scenario that lies as many places ahead as the busiest person has templates, so another person's.
-- One that shows an option of the template is passed over for the next: the option would be picked
-- or ruled out for it, and answers are shown more often than distractors. Donors need no
-- completion: what a model has extracted moves nobody's scenario.
ringed as (

    select
        *,
        count(*) filter (where not needs_completion) over (
            partition by source, task, option_type
            order by md5(concat('shuffled|', person_group)), person_group,
                md5(concat('shuffled|', template_key)), template_key
            rows between unbounded preceding and current row
        ) as place,
        count(*) filter (where not needs_completion) over (
            partition by source, task, option_type
        ) as n_donors,
        count(*) filter (where not needs_completion) over (
            partition by source, task, option_type, person_group
        ) as n_own_donors
    from shown

),

aimed as (

    select
        *,
        (place - 1 + max(n_own_donors) over (
            partition by source, task, option_type
        )) % nullif(n_donors, 0) + 1 as donor_place
    from ringed

),

tries as (

    select cast(generate_series as bigint) as step
    from generate_series(0, {{ var('arm_donor_tries') }} - 1)

),

candidates as (

    select
        aimed.template_key,
        donors.template_key as donor_key,
        donors.scenario,
        tries.step
    from aimed
    inner join tries
        on tries.step < aimed.n_donors
    inner join aimed as donors
        on aimed.source = donors.source
        and aimed.task = donors.task
        and aimed.option_type = donors.option_type
        and (aimed.donor_place - 1 + tries.step) % aimed.n_donors + 1 = donors.place
        and not donors.needs_completion
        and aimed.person_group <> donors.person_group
        and aimed.scenario <> donors.scenario

),

template_options as (

    select distinct
        items.template_key,
        options.cui,
        {{ leak_words('options.label') }} as words
    from items
    inner join options
        on items.item_id = options.item_id

),

donor_words as (

    select
        template_key,
        {{ leak_words('scenario') }} as words
    from shown

),

donor_concepts as (

    select distinct
        lines.template_key,
        mappings.cui
    from lines
    semi join shown
        on lines.template_key = shown.template_key
    inner join mappings
        on lines.event_key = mappings.event_key

),

showing_an_option as (

    select
        candidates.template_key,
        candidates.donor_key
    from candidates
    inner join template_options
        on candidates.template_key = template_options.template_key
    inner join donor_concepts
        on candidates.donor_key = donor_concepts.template_key
        and template_options.cui = donor_concepts.cui

    union

    select
        candidates.template_key,
        candidates.donor_key
    from candidates
    inner join template_options
        on candidates.template_key = template_options.template_key
    inner join donor_words
        on candidates.donor_key = donor_words.template_key
        and contains(donor_words.words, template_options.words)

),

taken as (

    select candidates.*
    from candidates
    anti join showing_an_option
        on candidates.template_key = showing_an_option.template_key
        and candidates.donor_key = showing_an_option.donor_key
    qualify row_number() over (
        partition by candidates.template_key
        order by candidates.step
    ) = 1

),

shuffled as (

    select
        shown.template_key,
        taken.scenario
    from shown
    left join taken
        on shown.template_key = taken.template_key

),

united as (

    select
        template_key,
        'choices_only' as arm,
        cast(null as varchar) as scenario,
        cast(null as varchar) as reason
    from shown

    union all

    select
        template_key,
        'shuffled' as arm,
        scenario,
        case when scenario is null then 'no_donor' end as reason
    from shuffled

    union all

    -- Without context events the subject alone is the whole scenario.
    select
        template_key,
        'no_context' as arm,
        case when context_lines is not null then subject_lines end as scenario,
        case when context_lines is null then 'no_context_events' end as reason
    from parts

    union all

    select
        template_key,
        'no_subject' as arm,
        context_lines as scenario,
        case when context_lines is null then 'no_context_events' end as reason
    from parts

)

select * from united
