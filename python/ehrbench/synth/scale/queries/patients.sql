select
    cast(40000000 + p as varchar) as subject_id,
    case when draw('patient', getvariable('seed'), p) % 2 = 0 then 'F' else 'M' end as gender,
    18 + p * 7 % 73 as anchor_age,
    2110 + cast(floor(part(draw('patient', getvariable('seed'), p), 0) * 29000) as integer) // 365
        as anchor_year,
    ['2008 - 2010', '2011 - 2013', '2014 - 2016', '2017 - 2019', '2020 - 2022'][p % 5 + 1]
        as anchor_year_group,
    cast(null as varchar) as dod
from range(cast(getvariable('first') as bigint), cast(getvariable('beyond') as bigint)) as numbers(p)
