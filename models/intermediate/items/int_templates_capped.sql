-- One row per candidate without a reason against it; cap_reason names the cap that it fell to.
-- Within a cap the order is that of the template key, which is an md5. What only a model's
-- completions propose comes last, so that it displaces nothing. The cap of a task, which only a
-- large cohort reaches, goes to common scenarios first: others find too few distractors.
with

candidates as (

    select
        found.*,
        coalesce(reaches.is_common, false) as is_common_scenario
    from {{ ref('int_template_candidates') }} as found
    left join {{ ref('int_scenario_reach') }} as reaches
        on found.template_key = reaches.template_key
    where found.reason is null

),

{{ template_caps('capped', 'candidates', first=['needs_completion'],
    first_of_task=['not is_common_scenario']) }}

select * from capped
