{#- CTEs under_0, under_1, … and <name>: the candidates, and in cap_reason the cap that one fell
    to (null where none). A cap counts only what earlier caps left. `by` are columns within
    which all caps count, `first` are columns that go before the template key in the order,
    `first_of_task` more of them for the cap of a task. -#}
{% macro template_caps(name, candidates, by=[], first=[], first_of_task=[]) %}
{%- set caps = [
    ('cap_visit_answer', ['visit_key', 'target_visit_key', 'answer_option_key'],
        var('max_templates_per_visit_answer')),
    ('cap_fact', ['subject_cui', 'relation', 'answer_option_key'], var('max_templates_per_fact')),
    ('cap_visit', ['visit_key'], var('max_templates_per_visit')),
    ('cap_patient', ['person_group'], var('max_templates_per_patient')),
    ('cap_answer', ['answer_option_key'], var('max_templates_per_answer')),
    ('cap_task', [], var('max_templates_per_task')),
] -%}
under_0 as (

    select
        *,
        cast(null as varchar) as cap_reason
    from {{ candidates }}

),

{% for reason, columns, allowance in caps -%}
under_{{ loop.index }} as (

    select
        * replace (
            coalesce(
                cap_reason,
                case
                    when row_number() over (
                        partition by {{ (by + ['source', 'task'] + columns) | join(', ') }},
                            cap_reason is null
                        order by {{ (
                            first + (first_of_task if reason == 'cap_task' else []) + ['template_key']
                        ) | join(', ') }}
                    ) > {{ allowance }} then '{{ reason }}'
                end
            ) as cap_reason
        )
    from under_{{ loop.index0 }}

),

{% endfor -%}
{{ name }} as (

    select * from under_{{ caps | length }}

)
{%- endmacro %}
