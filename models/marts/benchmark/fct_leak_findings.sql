with

wide_forms as (

    select template_key from {{ ref('int_template_forms') }}
    where of_template_key is not null

),

found as (

    {% for model in leak_rule_models('template') + leak_rule_models('option') -%}
    select rule_id, scope, template_key, item_id, option_key, evidence from {{ ref(model) }}
    {% if not loop.last %}union all
    {% endif %}
    {%- endfor %}

),

-- What holds for the wide form of a template alone says nothing about its items.
of_templates as (

    select found.*
    from found
    anti join wide_forms
        on found.template_key = wide_forms.template_key

)

select * from of_templates
