select
    cui || '|||A' || right(cui, 7) || '2|AUI||AT' || right(cui, 7) || v || '||NDC|RXNORM|'
    || ndc(n, v) || '|N||' as line
from concepts
cross join range(4) as variants(v)
where kind = 'drug'
order by line
