-- How many stems point to one person, by source.
select
    source,
    cast(sum(n_looked_up) as bigint) as n_stems,
    cast(sum(n_unique) as bigint) as n_unique
from rpt_stem_anonymity
group by source
order by source
