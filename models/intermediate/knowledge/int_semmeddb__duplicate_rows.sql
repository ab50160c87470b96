{{ config(tags=['portable']) }}

{%- set keys = {
    'predication': ('stg_semmeddb__predications', 'predication_id'),
    'predication_aux': ('stg_semmeddb__predication_aux', 'predication_aux_id'),
    'sentence': ('stg_semmeddb__sentences', 'sentence_id'),
    'citations': ('stg_semmeddb__citations', 'pmid'),
    'generic_concept': ('stg_semmeddb__generic_concepts', 'cui'),
} %}

with

{%- for table, (model, key) in keys.items() %}

{{ table }} as (

    select
        {{ key }} as row_key,
        source_row
    from {{ ref(model) }}
    where line_problem is null

),

-- Nearly always empty, so that the join after it costs nothing.
{{ table }}_repeated as (

    select
        row_key,
        min(source_row) as first_row
    from {{ table }}
    where row_key is not null
    group by row_key
    having count(*) > 1

),
{%- endfor %}

united as (
{% for table in keys %}
    select
        'semmeddb.{{ table }}' as source_table,
        {{ table }}.source_row
    from {{ table }}
    inner join {{ table }}_repeated
        on {{ table }}.row_key = {{ table }}_repeated.row_key
    where {{ table }}.source_row > {{ table }}_repeated.first_row
    {%- if not loop.last %}

    union all
{% endif %}
{%- endfor %}

)

select
    source_table,
    source_row
from united
