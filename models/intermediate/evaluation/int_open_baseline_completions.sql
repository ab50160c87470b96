-- The controls of open-ended scoring, answered in SQL: constant_answer names the most frequent
-- answer of its task and type among other persons, list_everything the open_list_answers most
-- frequent ones. What they earn, naming earns without reading the scenario.
with

requests as (

    select * from {{ ref('int_answer_requests') }}
    where engine = 'sql'
        and format = 'oeq'

),

templates as (

    select * from {{ ref('int_templates') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

person_answers as (

    select
        person_group,
        task,
        answer_event_type,
        answer_option_key,
        count(*) as n_answers
    from templates
    group by
        person_group,
        task,
        answer_event_type,
        answer_option_key

),

-- A person can push no more answers down the list than it may have templates.
answers_ranked as (

    select
        task,
        answer_event_type,
        answer_option_key,
        sum(n_answers) as n_answers
    from person_answers
    group by
        task,
        answer_event_type,
        answer_option_key
    qualify row_number() over (
        partition by task, answer_event_type
        order by sum(n_answers) desc, answer_option_key
    ) <= {{ var('open_list_answers') + var('max_templates_per_patient') }}

),

asked_persons as (

    select distinct
        templates.person_group,
        templates.task,
        templates.answer_event_type
    from requests
    inner join templates
        on requests.template_key = templates.template_key

),

of_others as (

    select
        asked_persons.person_group,
        asked_persons.task,
        asked_persons.answer_event_type,
        labels.label,
        row_number() over (
            partition by
                asked_persons.person_group,
                asked_persons.task,
                asked_persons.answer_event_type
            order by
                answers_ranked.n_answers - coalesce(person_answers.n_answers, 0) desc,
                answers_ranked.answer_option_key
        ) as answer_rank
    from asked_persons
    inner join answers_ranked
        on asked_persons.task = answers_ranked.task
        and asked_persons.answer_event_type = answers_ranked.answer_event_type
    inner join labels
        on answers_ranked.answer_option_key = labels.option_key
    left join person_answers
        on asked_persons.person_group = person_answers.person_group
        and answers_ranked.task = person_answers.task
        and answers_ranked.answer_event_type = person_answers.answer_event_type
        and answers_ranked.answer_option_key = person_answers.answer_option_key
    where answers_ranked.n_answers > coalesce(person_answers.n_answers, 0)

),

replies as (

    select
        person_group,
        task,
        answer_event_type,
        min(label) filter (where answer_rank = 1) as constant_answer,
        string_agg(label, '; ' order by answer_rank)
            filter (where answer_rank <= {{ var('open_list_answers') }}) as list_everything
    from of_others
    group by
        person_group,
        task,
        answer_event_type

),

answered as (

    select
        requests.request_key,
        1 as attempt,
        requests.stage,
        requests.model,
        requests.revision,
        requests.engine,
        case requests.model
            when 'constant_answer' then replies.constant_answer
            when 'list_everything' then replies.list_everything
        end as text,
        'stop' as finish_reason,
        cast(null as integer) as prompt_tokens,
        cast(null as integer) as completion_tokens,
        cast(null as varchar) as option_logprobs,
        cast(null as bigint) as latency_ms,
        cast(null as varchar) as error
    from requests
    inner join templates
        on requests.template_key = templates.template_key
    inner join replies
        on templates.person_group = replies.person_group
        and templates.task = replies.task
        and templates.answer_event_type = replies.answer_event_type
    where requests.model in ('constant_answer', 'list_everything')

)

select * from answered
