-- Of how many templates the case points to one person, by source.
select
    source,
    cast(sum(n_looked_up) as bigint) as n_templates,
    cast(sum(n_unique) as bigint) as n_unique
from rpt_stem_anonymity
group by source
order by source
