{#- CTE `options`: the options of every form of a template. Its wide form shows the template's own,
    under its own key. Reads the CTEs `leak_options` and `forms` (int_leak_options,
    int_template_forms). -#}
{% macro leak_form_options() -%}
options as (

    select
        template_key,
        person_group,
        rank,
        option_key,
        cui_id
    from leak_options

    union all

    select
        forms.template_key,
        leak_options.person_group,
        leak_options.rank,
        leak_options.option_key,
        leak_options.cui_id
    from leak_options
    inner join forms
        on leak_options.template_key = forms.of_template_key

)
{%- endmacro %}
