{#- CTEs that walk links from a set of concepts, one step at a time; the last one is called `name`
    with the columns cui_id, reached_cui_id, depth (shortest way, 1..depth). Only what was new in
    one step is followed in the next, so a loop ends and nothing but the ways out of `start` is
    ever read: the cost grows with the start set, not with the vocabulary. Unrolled and not
    recursive, for engines without recursive queries. Relations given by CTE name: `start`
    (cui_id), `links` (`from_column`, `to_column`, distinct pairs). -#}
{% macro hierarchy_steps(name, start, links, from_column, to_column, depth) -%}
{{ name }}_1 as (

    select
        {{ start }}.cui_id,
        {{ links }}.{{ to_column }} as reached_cui_id,
        1 as depth
    from {{ start }}
    inner join {{ links }}
        on {{ start }}.cui_id = {{ links }}.{{ from_column }}
    where {{ start }}.cui_id <> {{ links }}.{{ to_column }}

),

{% for step in range(2, depth + 1) -%}
{{ name }}_{{ step }}_ends as (

    select distinct
        {{ name }}_{{ step - 1 }}.cui_id,
        {{ links }}.{{ to_column }} as reached_cui_id
    from {{ name }}_{{ step - 1 }}
    inner join {{ links }}
        on {{ name }}_{{ step - 1 }}.reached_cui_id = {{ links }}.{{ from_column }}
    where {{ name }}_{{ step - 1 }}.cui_id <> {{ links }}.{{ to_column }}

),

{{ name }}_{{ step }} as (

    select
        ends.cui_id,
        ends.reached_cui_id,
        {{ step }} as depth
    from {{ name }}_{{ step }}_ends as ends
    {%- for before in range(1, step) %}
    left join {{ name }}_{{ before }} as step_{{ before }}
        on ends.cui_id = step_{{ before }}.cui_id
        and ends.reached_cui_id = step_{{ before }}.reached_cui_id
    {%- endfor %}
    where step_1.cui_id is null
    {%- for before in range(2, step) %}
        and step_{{ before }}.cui_id is null
    {%- endfor %}

),

{% endfor -%}
{{ name }} as (
    {% for step in range(1, depth + 1) %}
    select * from {{ name }}_{{ step }}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

)
{%- endmacro %}
