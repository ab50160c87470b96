-- Findings on a template that its wide form, which shows the same lines and more, does not have.
-- What passes with all context events may be asked with fewer only as long as there are none. L35
-- says what is missing and is no such rule.
with

leaking as (

    select template_key, rule_id from {{ ref('int_leaking_templates') }}
    where rule_id in (
        'L01', 'L02', 'L03', 'L04', 'L05', 'L08', 'L09', 'L10', 'L11', 'L14', 'L15', 'L30'
    )

    union all

    -- A tag: it holds no item back, and takes the template out of the subset.
    select template_key, rule_id from {{ ref('int_leak__l06_code_conventions') }}

),

wide_forms as (

    select * from {{ ref('int_template_forms') }}
    where of_template_key is not null

)

select
    leaking.template_key,
    leaking.rule_id
from leaking
inner join wide_forms
    on leaking.template_key = wide_forms.of_template_key
left join leaking as leaking_wide
    on wide_forms.template_key = leaking_wide.template_key
    and leaking.rule_id = leaking_wide.rule_id
where leaking_wide.template_key is null
