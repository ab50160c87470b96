-- One row per candidate without a reason against it; cap_reason names the cap that it fell to.
-- Within a cap the order is that of the template key, which is an md5. What only a model's
-- completions propose comes last, so that it displaces nothing.
with

candidates as (

    select * from {{ ref('int_template_candidates') }}
    where reason is null

),

{{ template_caps('capped', 'candidates', first=['needs_completion']) }}

select * from capped
