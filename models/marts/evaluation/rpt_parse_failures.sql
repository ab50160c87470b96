-- Every status for every cell that was asked, also where it never happened.
with

responses as (

    select * from {{ ref('fct_responses') }}

),

scores as (

    select * from {{ ref('fct_scores') }}

),

requests as (

    select * from {{ ref('int_pooled_requests') }}

),

statuses as (

    select * from {{ ref('parse_statuses') }}

),

cells as (

    select
        requests.model,
        requests.mode,
        requests.arm,
        count(*) as n_asked,
        row_number() over (order by requests.model, requests.mode, requests.arm) as cell
    from requests
    group by
        requests.model,
        requests.mode,
        requests.arm

),

answered as (

    select
        cells.cell,
        responses.parse_status,
        scores.template_key,
        scores.person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id
    from scores
    inner join responses
        on scores.request_key = responses.request_key
    semi join requests
        on scores.request_key = requests.request_key
    inner join cells
        on scores.model = cells.model
        and scores.mode = cells.mode
        and scores.arm = cells.arm

),

templates_counted as (

    select
        cell,
        count(distinct template_key) as n_templates
    from answered
    group by cell

),

clusters as (

    select
        cell,
        person_group,
        answer_cui_id,
        count(*) as n
    from answered
    group by
        cell,
        person_group,
        answer_cui_id

),

hits as (

    select
        cell,
        parse_status,
        person_group,
        answer_cui_id,
        count(*) as n_hits
    from answered
    group by
        cell,
        parse_status,
        person_group,
        answer_cui_id

),

numbered as (

    select
        clusters.cell,
        statuses.status_rank,
        clusters.person_group,
        clusters.answer_cui_id,
        clusters.n,
        coalesce(hits.n_hits, 0) * 1000000 as value
    from clusters
    cross join statuses
    left join hits
        on clusters.cell = hits.cell
        and clusters.person_group = hits.person_group
        and clusters.answer_cui_id = hits.answer_cui_id
        and statuses.parse_status = hits.parse_status

),

{{ two_way_error('rates', 'numbered', ['cell', 'status_rank']) }},

totals as (

    select
        cell,
        parse_status,
        sum(n_hits) as n_hits
    from hits
    group by
        cell,
        parse_status

),

failures as (

    select
        ---------- ids
        cells.model,
        cells.mode,
        cells.arm,
        statuses.parse_status,
        statuses.is_failure,

        ---------- counts
        cast(coalesce(totals.n_hits, 0) as integer) as n_with_status,
        cast(coalesce(rates.n, 0) as integer) as n,
        cast(cells.n_asked as integer) as n_asked,
        cast(coalesce(templates_counted.n_templates, 0) as integer) as n_templates,
        cast(coalesce(rates.n_persons, 0) as integer) as n_clusters,

        ---------- figures
        case when {{ estimate_status('templates_counted.n_templates') }} = 'estimable' then
            {{ rounded_share('rates.mean') }}
        end as rate,
        {%- for side in ['low', 'high'] %}
        case when {{ estimate_status('templates_counted.n_templates') }} = 'estimable' then
            {{ rounded_share(clustered_interval(
                'rates.mean', 'rates.standard_error', 'rates.n_persons', side
            )) }}
        end as rate_{{ side }},
        {%- endfor %}
        {{ estimate_status('templates_counted.n_templates') }} as status
    from cells
    cross join statuses
    left join totals
        on cells.cell = totals.cell
        and statuses.parse_status = totals.parse_status
    left join rates
        on cells.cell = rates.cell
        and statuses.status_rank = rates.status_rank
    left join templates_counted
        on cells.cell = templates_counted.cell

)

select * from failures
