-- The policy whose accepted triples became templates; without templates, the target's.
select coalesce(
    (select min(policy) from fct_templates),
    case when $target = 'full' then 'sound' else 'open' end
) as policy
