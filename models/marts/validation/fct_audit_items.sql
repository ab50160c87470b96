{%- set draw = key(["'" ~ var('audit_seed') ~ "'", 'item_id']) -%}
with

audit_frame as (

    select * from {{ ref('int_audit_item_frame') }}

),

ranked as (

    select
        *,
        row_number() over (
            partition by stratum_key
            order by {{ draw }}, item_id
        ) as place
    from audit_frame

),

drawn as (

    select
        *,
        count(*) over (partition by stratum_key) as n_drawn
    from ranked
    where place <= n_wanted

)

select
    item_id,
    template_key,
    source,
    task,
    n_options,
    stratum_key,
    cast(n_in_stratum as bigint) as n_in_stratum,
    cast(n_drawn as bigint) as n_drawn
from drawn
