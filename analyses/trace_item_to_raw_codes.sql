-- From a question back to the codes of the visit it came from (internal use: it names visits).
-- Run with: dbt show --select trace_item_to_raw_codes --vars '{item: <item_id>}'
with chosen as (
    select i.item_id, i.template_key
    from {{ ref('dim_items') }} as i
    {% if var('item', none) -%}
    where i.item_id = '{{ var('item') | replace("'", "''") }}'
    {%- endif %}
    order by i.item_id
    limit 1
)

select
    chosen.item_id,
    te.role,
    te.position,
    e.visit_key,
    e.code_system,
    e.source_code,
    e.normalized_code,
    e.label,
    b.cui,
    b.mapping_method,
    b.mapping_level
from chosen
inner join {{ ref('fct_templates') }} as t on chosen.template_key = t.template_key
inner join {{ ref('fct_triple_events') }} as te on t.triple_id = te.triple_id
inner join {{ ref('fct_visit_events') }} as e on te.event_key = e.event_key
left join {{ ref('brg_event_concepts') }} as b on e.event_key = b.event_key
order by te.role, te.position, b.rank
