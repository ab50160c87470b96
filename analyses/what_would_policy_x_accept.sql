-- What would another evidence policy accept that the active one rejects, and the other way round?
-- Triples per source and task by the two verdicts, with the reasons of the policy that rejects.
-- Run with: dbt show --select what_would_policy_x_accept --limit -1 --vars "{policy: paper}"
-- Without the variable it compares every other policy with the active one. Triples of the null
-- generator are left out: no policy accepts them.
with verdicts as (
    select
        v.policy,
        v.triple_id,
        v.verdict,
        v.failed_reason_codes
    from {{ ref('fct_triple_verdicts') }} as v
    where v.triple_id not in (
        select p.triple_id
        from {{ ref('fct_triple_proposals') }} as p
        group by p.triple_id
        having count(*) = count(*) filter (where p.generator = '{{ var('null_generator') }}')
    )
)

select
    t.source,
    t.task,
    active.policy as active_policy,
    other.policy as other_policy,
    case
        when active.verdict = 'accepted' and other.verdict = 'accepted' then 'both accept'
        when other.verdict = 'accepted' then 'only ' || other.policy || ' accepts'
        when active.verdict = 'accepted' then 'only ' || active.policy || ' accepts'
        else 'neither accepts'
    end as outcome,
    case
        when active.verdict <> 'accepted' and other.verdict = 'accepted'
            then active.failed_reason_codes
        when active.verdict = 'accepted' and other.verdict <> 'accepted'
            then other.failed_reason_codes
    end as rejected_for,
    count(*) as n_triples,
    min(t.triple_id) as example_triple_id
from verdicts as active
inner join verdicts as other
    on active.triple_id = other.triple_id
    and active.policy <> other.policy
inner join {{ ref('fct_triples') }} as t on active.triple_id = t.triple_id
where active.policy = '{{ active_policy() }}'
    {% if var('policy', none) -%}
    and other.policy = '{{ var('policy') | replace("'", "''") }}'
    {%- endif %}
group by all
order by all
