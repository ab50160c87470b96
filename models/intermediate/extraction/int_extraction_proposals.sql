-- Every triple that some generator proposed: one row per generator, request and triple.
{%- set generators = [
    'int_generator_llm',
    'int_generator_kb_rules',
    'int_generator_shuffled_visits',
    'int_generator_all_pairs',
] %}
{%- set columns = [
    'generator', 'request_key', 'source', 'task', 'visit_key', 'target_visit_key',
    'subject_event_key', 'relation', 'object_event_key', 'why', 'donor',
] %}
with

proposals as (

    {%- for generator in generators %}
    select
        {%- for column in columns %}
        {{ column }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ ref(generator) }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}

)

select * from proposals
