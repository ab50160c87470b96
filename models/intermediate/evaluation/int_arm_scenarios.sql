-- One row per template of the evaluation subset x kind of scenario beside its own (seed
-- prompt_arms): what is shown, or the reason why the template cannot be asked that way. Reads
-- templates for person, visit and subject alone: nothing here depends on which option is the
-- answer. Other persons' scenarios look at all options of a template alike.
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
        visit_key,
        person_group,
        subject_event_key,
        needs_completion
    from {{ ref('int_templates') }}

),

lines as (

    select * from {{ ref('int_template_scenario') }}

),

context_sizes as (

    select * from {{ ref('int_context_sizes') }}

),

form_lines as (

    select * from {{ ref('int_form_scenario') }}

),

mappings as not materialized (

    select
        event_key,
        cui,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui is not null

),

visit_events as (

    select
        visit_key,
        event_key
    from {{ ref('fct_visit_events') }}

),

kb_links as (

    select * from {{ ref('int_kb_linked_pairs') }}

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
        templates.visit_key,
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

-- Every size shows the events of the one before it and one more.
sizes as (

    select cast(generate_series as integer) as n_context
    from generate_series({{ var('context_events') }} + 1, {{ var('max_context_events') }})

),

wide_lines as (

    select
        context_sizes.template_key,
        sizes.n_context,
        string_agg(
            form_lines.line, chr(10) order by form_lines.order_key, form_lines.event_key
        ) as scenario
    from context_sizes
    inner join form_lines
        on context_sizes.wide_key = form_lines.template_key
    inner join sizes
        on form_lines.context_position <= sizes.n_context
    where context_sizes.reason is null
    group by
        context_sizes.template_key,
        sizes.n_context

),

-- Another person's scenario comes by rotation: templates stand in the order of their persons, and
-- each takes the scenario that lies as many places ahead as the busiest person has templates, so
-- another person's. One that shows an option of the template is passed over for the next: the
-- option would be picked or ruled out for it, and answers are shown more often than distractors.
-- Donors need no completion: what a model has extracted moves nobody's scenario.
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
        aimed.task,
        donors.template_key as donor_key,
        donors.visit_key as donor_visit_key,
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
        {{ cui_id('options.cui') }} as cui_id,
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
        mappings.cui,
        mappings.cui_id
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

-- A perturbed twin goes further: nothing in the donor's visit is an option, and the knowledge base
-- links no option to what is shown.
visit_concepts as (

    select distinct
        visit_events.visit_key,
        mappings.cui
    from visit_events
    semi join candidates
        on visit_events.visit_key = candidates.donor_visit_key
    inner join mappings
        on visit_events.event_key = mappings.event_key

),

supporting_an_option as (

    select
        candidates.template_key,
        candidates.donor_key
    from candidates
    inner join template_options
        on candidates.template_key = template_options.template_key
    inner join visit_concepts
        on candidates.donor_visit_key = visit_concepts.visit_key
        and template_options.cui = visit_concepts.cui

    union

    select
        candidates.template_key,
        candidates.donor_key
    from candidates
    inner join template_options
        on candidates.template_key = template_options.template_key
    inner join donor_concepts
        on candidates.donor_key = donor_concepts.template_key
    inner join kb_links
        on candidates.task = kb_links.task
        and donor_concepts.cui_id = kb_links.scenario_cui_id
        and template_options.cui_id = kb_links.cui_id

),

shuffled_taken as (

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

-- Another donor than the shuffled arm's where there is one: equal prompts would be asked once.
twin_taken as (

    select candidates.*
    from candidates
    anti join showing_an_option
        on candidates.template_key = showing_an_option.template_key
        and candidates.donor_key = showing_an_option.donor_key
    anti join supporting_an_option
        on candidates.template_key = supporting_an_option.template_key
        and candidates.donor_key = supporting_an_option.donor_key
    left join shuffled_taken
        on candidates.template_key = shuffled_taken.template_key
    qualify row_number() over (
        partition by candidates.template_key
        order by candidates.scenario = shuffled_taken.scenario, candidates.step
    ) = 1

),

{% for kind in ['shuffled', 'twin'] -%}
{{ kind }} as (

    select
        shown.template_key,
        {{ kind }}_taken.scenario
    from shown
    left join {{ kind }}_taken
        on shown.template_key = {{ kind }}_taken.template_key

),

{% endfor -%}
united as (

    select
        template_key,
        'hidden' as kind,
        cast(null as varchar) as scenario,
        cast(null as varchar) as reason
    from shown

    {% for kind in ['shuffled', 'twin'] %}
    union all

    select
        template_key,
        '{{ kind }}' as kind,
        scenario,
        case when scenario is null then 'no_donor' end as reason
    from {{ kind }}

    {% endfor -%}
    union all

    -- Without context events the subject alone is the whole scenario.
    select
        template_key,
        'subject' as kind,
        case when context_lines is not null then subject_lines end as scenario,
        case when context_lines is null then 'no_context_events' end as reason
    from parts

    union all

    select
        template_key,
        'context' as kind,
        context_lines as scenario,
        case when context_lines is null then 'no_context_events' end as reason
    from parts

    union all

    select
        context_sizes.template_key,
        concat('context_', sizes.n_context) as kind,
        wide_lines.scenario,
        context_sizes.reason
    from context_sizes
    cross join sizes
    left join wide_lines
        on context_sizes.template_key = wide_lines.template_key
        and sizes.n_context = wide_lines.n_context

)

select * from united
