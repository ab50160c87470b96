{#- Caps in the order in which they apply: name, what shares one allowance, how many. -#}
{%- set caps = [
    ('cap_visit_answer', 'source, task, visit_key, target_visit_key, answer_option_key',
        var('max_templates_per_visit_answer')),
    ('cap_fact', 'source, task, subject_cui, relation, answer_option_key',
        var('max_templates_per_fact')),
    ('cap_visit', 'source, task, visit_key', var('max_templates_per_visit')),
    ('cap_patient', 'source, task, person_group', var('max_templates_per_patient')),
    ('cap_answer', 'source, task, answer_option_key', var('max_templates_per_answer')),
] -%}
-- One row per candidate without a reason against it; cap_reason names the cap that it fell to.
-- A cap counts only what earlier caps left, in the order of the template key, which is an md5.
-- What only a model's completions propose comes last, so that it displaces nothing.
with

candidates as (

    select * from {{ ref('int_template_candidates') }}
    where reason is null

),

under_0 as (

    select
        *,
        cast(null as varchar) as cap_reason
    from candidates

),

{% for name, columns, allowance in caps -%}
under_{{ loop.index }} as (

    select
        * replace (
            coalesce(
                cap_reason,
                case
                    when row_number() over (
                        partition by {{ columns }}, cap_reason is null
                        order by needs_completion, template_key
                    ) > {{ allowance }} then '{{ name }}'
                end
            ) as cap_reason
        )
    from under_{{ loop.index0 }}

),

{% endfor -%}
capped as (

    select * from under_{{ caps | length }}

)

select * from capped
