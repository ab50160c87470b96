with

templates as (

    select * from {{ ref('int_templates') }}

),

balanced as (

    select * from {{ ref('int_templates_balanced') }}
    where cap_reason is null

),

onset as (

    select * from {{ ref('int_template_onset') }}

),

rationales as (

    select * from {{ ref('int_template_rationales') }}

),

scenarios as (

    select
        template_key,
        string_agg(event_key, ',' order by order_key, event_key) as scenario_event_keys
    from {{ ref('int_template_scenario') }}
    group by all

),

headline as (

    select * from {{ ref('int_headline_templates') }}

),

distractors as (

    select * from {{ ref('int_distractors') }}

),

distractors_counted as (

    select
        template_key,
        count(*) as n_distractors
    from distractors
    group by all

),

final as (

    select
        ---------- ids
        templates.template_key,
        templates.triple_id,
        templates.source,
        templates.task,
        cast('{{ active_policy() }}' as varchar) as policy,
        templates.patient_key,
        templates.subject_event_key,
        scenarios.scenario_event_keys,

        ---------- answer
        templates.answer_event_key,
        templates.answer_event_type,
        {{ cui_text('templates.answer_cui_id') }} as answer_cui,
        onset.onset_class,
        headline.template_key is not null as is_headline,

        ---------- texts and counts
        rationales.rationale,
        cast(coalesce(distractors_counted.n_distractors, 0) as integer) as n_distractors
    from templates
    inner join balanced
        on templates.template_key = balanced.template_key
    left join scenarios
        on templates.template_key = scenarios.template_key
    left join onset
        on templates.template_key = onset.template_key
    left join rationales
        on templates.template_key = rationales.template_key
    left join headline
        on templates.template_key = headline.template_key
    left join distractors_counted
        on templates.template_key = distractors_counted.template_key

)

select * from final
