{#- CTEs of one weighted draw without replacement; the last one is called `name` with the columns
    template_number, pool_number, cui_id, draw_rank (1..n). Exponential keys: the candidate with
    the smallest exponential / weight comes first, which picks with odds in proportion to weight.
    The walk goes down the shortlist and skips what is related to an option already picked.
    Needs `with recursive`. Relations given by CTE name: `candidates` (template_number,
    pool_number, cui_id, exponential), `weights` (pool_number, cui_id, weight), `related`
    (pool_number, cui_id, related_cui_ids). -#}
{% macro draw_distractors(name, candidates, weights, related, n, shortlist) -%}
{{ name }}_shortlist as materialized (

    select
        {{ candidates }}.template_number,
        {{ candidates }}.pool_number,
        {{ candidates }}.cui_id,
        row_number() over (
            partition by {{ candidates }}.template_number
            order by
                ({{ candidates }}.exponential * 1000000000) // {{ weights }}.weight,
                {{ candidates }}.exponential,
                {{ candidates }}.cui_id
        ) as short_rank
    from {{ candidates }}
    inner join {{ weights }}
        on {{ candidates }}.pool_number = {{ weights }}.pool_number
        and {{ candidates }}.cui_id = {{ weights }}.cui_id
    qualify short_rank <= {{ shortlist }}

),

{{ name }}_walk as (

    select
        template_number,
        pool_number,
        cast(0 as bigint) as position,
        cast([] as integer[]) as picked
    from {{ name }}_shortlist
    where short_rank = 1

    union all

    select
        {{ name }}_walk.template_number,
        {{ name }}_walk.pool_number,
        {{ name }}_shortlist.short_rank as position,
        case
            when list_has_any({{ name }}_walk.picked, {{ related }}.related_cui_ids)
                then {{ name }}_walk.picked
            else list_append({{ name }}_walk.picked, {{ name }}_shortlist.cui_id)
        end as picked
    from {{ name }}_walk
    inner join {{ name }}_shortlist
        on {{ name }}_walk.template_number = {{ name }}_shortlist.template_number
        and {{ name }}_walk.position + 1 = {{ name }}_shortlist.short_rank
    left join {{ related }}
        on {{ name }}_shortlist.pool_number = {{ related }}.pool_number
        and {{ name }}_shortlist.cui_id = {{ related }}.cui_id
    where len({{ name }}_walk.picked) < {{ n }}

),

{{ name }}_last as (

    select
        template_number,
        pool_number,
        picked
    from {{ name }}_walk
    qualify row_number() over (partition by template_number order by position desc) = 1

),

{{ name }} as materialized (

    select
        template_number,
        pool_number,
        unnest(picked) as cui_id,
        generate_subscripts(picked, 1) as draw_rank
    from {{ name }}_last

)
{%- endmacro %}
