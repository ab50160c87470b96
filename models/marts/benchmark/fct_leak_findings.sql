with

found as (

    {% for model in leak_rule_models('template') + leak_rule_models('option') -%}
    select rule_id, scope, template_key, item_id, option_key, evidence from {{ ref(model) }}
    {% if not loop.last %}union all
    {% endif %}
    {%- endfor %}

)

select * from found
