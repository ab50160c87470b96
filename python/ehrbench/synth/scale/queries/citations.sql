select
    '"' || 90000001 + n || '","0000-0000","' || 1975 + n % 50 || ' Jun","' || 1975 + n % 50
    || '-06-01",' || 1975 + n % 50 as line
from range(cast(getvariable('first') as bigint), cast(getvariable('beyond') as bigint)) as numbers(n)
