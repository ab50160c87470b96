-- One event per concept: a merged visit may hold the same disease under two codes.
{%- set scopes = {'dx': 'is_dx_event', 'tx': 'is_tx_subject', 'px': 'is_px_subject'} %}
with

triples as (

    select * from {{ ref('fct_triples') }}

),

event_roles as (

    select * from {{ ref('int_event_roles') }}

),

pools as (

    select
        task,
        visit_key,
        cast(row_number() over (order by task, visit_key) as integer) as pool_number
    from triples
    group by task, visit_key

),

pool_events as (

    select
        pools.pool_number,
        pools.task,
        pools.visit_key,
        event_roles.event_key,
        event_roles.cui_id,
        event_roles.icd_category
    from pools
    inner join event_roles
        on pools.visit_key = event_roles.visit_key
    where {% for task, column in scopes.items() -%}
        {{ 'or ' if not loop.first -}}
        (pools.task = '{{ task }}' and event_roles.{{ column }})
        {% endfor -%}
    qualify row_number() over (
        partition by
            pools.pool_number,
            coalesce(cast(event_roles.cui_id as varchar), event_roles.event_key)
        order by event_roles.event_key
    ) = 1

)

select * from pool_events
