-- The null of rpt_enrichment must not become a question: what only the null generator proposed
-- has its object in another patient's visit.
with

only_null as (

    select triple_id
    from {{ ref('fct_triple_proposals') }}
    group by triple_id
    having count(*) = sum(case when generator = '{{ var("null_generator") }}' then 1 else 0 end)

)

select
    verdicts.triple_id,
    verdicts.policy
from only_null
inner join {{ ref('fct_triple_verdicts') }} as verdicts
    on only_null.triple_id = verdicts.triple_id
where verdicts.verdict = 'accepted'
