{%- set parts = ['valid', 'rated'] -%}
with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1
        and is_headline

),

audit_items as (

    select * from {{ ref('fct_audit_items') }}

),

answers as (

    select * from {{ ref('int_audit_answers') }}
    where question = 'is_valid'

),

-- Several raters of an item give one weight, the share of them who find it valid.
rated as (

    select
        audit_items.template_key,
        audit_items.task,
        audit_items.stratum_key,
        audit_items.n_in_stratum,
        audit_items.n_stands_for,
        count(*) filter (where answers.answer) / cast(count(*) as double) as share_valid
    from audit_items
    inner join answers
        on audit_items.item_id = answers.audited_id
    group by
        audit_items.template_key,
        audit_items.task,
        audit_items.stratum_key,
        audit_items.n_in_stratum,
        audit_items.n_stands_for

),

-- The rated ones stand for those of their stratum that nobody rated, too.
shared as (

    select
        *,
        n_in_stratum * cast(n_stands_for as double)
        / cast(sum(n_stands_for) over (partition by stratum_key) as double) as weight
    from rated

),

-- Whole thousandths of the templates that a rated one stands for.
weighted as (

    select
        template_key,
        task,
        cast(round(1000 * weight) as bigint) as weight_rated,
        cast(round(1000 * weight * share_valid) as bigint) as weight_valid
    from shared

),

{%- set spans = ['task', "'all'"] %}

asked as (
    {% for task in spans %}
    select
        requests.model,
        requests.mode,
        {{ 'requests.' if task == 'task' }}{{ task }} as task,
        count(weighted.template_key) as n_asked
    from requests
    left join weighted
        on requests.template_key = weighted.template_key
    group by all
    {{- '\n\n    union all\n' if not loop.last }}
    {%- endfor %}

),

answered as (

    select
        scores.model,
        scores.mode,
        scores.task,
        scores.template_key,
        scores.person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        weighted.weight_rated,
        weighted.weight_valid,
        count(*) as n,
        cast(sum(scores.correct) as bigint) as n_correct
    from scores
    inner join weighted
        on scores.template_key = weighted.template_key
    group by all

),

spanned as (
    {% for task in spans %}
    select
        * replace ({{ task }} as task)
    from answered
    {{- '\n\n    union all\n' if not loop.last }}
    {%- endfor %}

),

counted as (

    select
        model,
        mode,
        task,
        sum(n) as n,
        count(*) as n_templates,
        count(*) filter (where weight_valid > 0) as n_templates_valid,
        count(distinct person_group) as n_clusters
    from spanned
    group by
        model,
        mode,
        task

),

{% for part in parts -%}
{{ part }}_sums as (

    select
        model,
        mode,
        task,
        person_group,
        answer_cui_id,
        n * weight_{{ part }} as n,
        n_correct * weight_{{ part }} * 1000000 as value
    from spanned
    where weight_{{ part }} > 0

),

{{ two_way_error(part ~ '_means', part ~ '_sums', ['model', 'mode', 'task']) }},

{% endfor -%}
judged as (

    select
        asked.model,
        asked.mode,
        asked.task,
        asked.n_asked,
        coalesce(counted.n, 0) as n,
        coalesce(counted.n_templates, 0) as n_templates,
        coalesce(counted.n_templates_valid, 0) as n_templates_valid,
        coalesce(counted.n_clusters, 0) as n_clusters,
        case
            when asked.n_asked = 0 then 'not_assessed'
            else {{ estimate_status('coalesce(counted.n_templates_valid, 0)') }}
        end as status
    from asked
    left join counted
        on asked.model = counted.model
        and asked.mode = counted.mode
        and asked.task = counted.task

),

accuracies as (

    select
        ---------- ids
        judged.model,
        judged.mode,
        judged.task,

        ---------- counts
        cast(judged.n as integer) as n,
        cast(judged.n_asked as integer) as n_asked,
        cast(judged.n_templates as integer) as n_templates,
        cast(judged.n_templates_valid as integer) as n_templates_valid,
        cast(judged.n_clusters as integer) as n_clusters,

        ---------- figures
        {%- for part in parts %}
        {%- set name = 'accuracy' ~ ('_rated' if part == 'rated') %}
        case when judged.status = 'estimable' then {{ rounded_share(part ~ '_means.mean') }} end
            as {{ name }},
        {%- for side in ['low', 'high'] %}
        case when judged.status = 'estimable' then {{ rounded_share(clustered_interval(
            part ~ '_means.mean', part ~ '_means.standard_error', part ~ '_means.n_persons', side
        )) }} end as {{ name }}_{{ side }},
        {%- endfor %}
        {%- endfor %}
        judged.status
    from judged
    {%- for part in parts %}
    left join {{ part }}_means
        on judged.model = {{ part }}_means.model
        and judged.mode = {{ part }}_means.mode
        and judged.task = {{ part }}_means.task
    {%- endfor %}

)

select * from accuracies
