with

responses as (

    select * from {{ ref('fct_responses') }}

),

requests as (

    select * from {{ ref('fct_requests') }}

),

items as (

    select * from {{ ref('dim_items') }}

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

templates as (

    select * from {{ ref('fct_templates') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

scored as (

    select
        ---------- ids
        responses.request_key,
        responses.model,
        responses.mode,
        responses.repetition,
        responses.item_id,
        items.template_key,

        ---------- form
        requests.arm,
        items.task,
        items.source,
        items.n_options,

        ---------- score
        case when responses.parsed_letter = answer_keys.gold_letter then 1 else 0 end as correct,
        case when responses.parse_status = 'parsed' then 1 else 0 end as parsed,

        ---------- clusters
        templates.patient_key,
        coalesce(patients.person_group, templates.patient_key) as person_group,
        templates.answer_cui
    from responses
    inner join requests
        on responses.request_key = requests.request_key
    inner join items
        on responses.item_id = items.item_id
    inner join answer_keys
        on responses.item_id = answer_keys.item_id
    left join templates
        on items.template_key = templates.template_key
    left join patients
        on templates.patient_key = patients.patient_key

)

select * from scored
