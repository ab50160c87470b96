-- One row per template x leak rule that keeps all its items from release, decided before distractors
-- are drawn: such templates calibrate nothing and take no room from others. Wide forms come under
-- their own keys.
with

rules as (

    select * from {{ ref('leak_rules') }}
    where policy in ('fail', 'quarantine')

),

found as (

    {% for model in leak_rule_models('template') -%}
    select template_key, rule_id from {{ ref(model) }}
    {% if not loop.last %}union all
    {% endif %}
    {%- endfor %}

),

leaking as (

    select distinct
        found.template_key,
        found.rule_id
    from found
    inner join rules
        on found.rule_id = rules.rule_id

)

select * from leaking
