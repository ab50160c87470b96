select 1 as place, 'patients' as what, count(*) as n from dim_patients
union all
select 2, 'visits', count(*) from dim_visits
union all
select 3, 'events', count(*) from fct_visit_events
union all
select 4, 'triples', count(*) from fct_triples
union all
select 5, 'accepted', count(*) from fct_triple_verdicts
where policy = $policy
    and verdict = 'accepted'
union all
select 6, 'templates', count(*) from fct_templates
union all
select 7, 'items', count(*) from dim_items
union all
select 8, 'released', count(*) from dim_items
where released
union all
select 9, 'answers', count(*) from fct_responses
order by place
