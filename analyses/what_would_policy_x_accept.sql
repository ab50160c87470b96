-- What would another policy accept that the active one rejects, and the other way round?
select
    t.task,
    other.policy as other_policy,
    active.verdict as active_verdict,
    other.verdict as other_verdict,
    count(*) as n_triples
from {{ ref('fct_triple_verdicts') }} as active
inner join {{ ref('fct_triple_verdicts') }} as other
    on active.triple_id = other.triple_id and active.policy <> other.policy
inner join {{ ref('fct_triples') }} as t on active.triple_id = t.triple_id
where active.policy = '{{ active_policy() }}'
group by all
order by all
