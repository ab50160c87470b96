-- Two sentences per predication: the one it was found in and the one after.
select
    s + 1 || ',"' || pmid_of(draw('predication', getvariable('seed'), s // 2)) || '","ab",'
    || s % 12 + 1 || ',' || s % 1400 + 15 || ',"Synthetic: '
    || case s % 2
        when 0 then 'statement ' || s // 2 + 1 || ' was studied in ' || s % 900 + 20 || ' patients.'
        else 'the group was followed for ' || s % 90 + 5 || ' months.'
    end
    || '",' || s % 1400 + 115 || ',"",""' as line
from range(cast(getvariable('first') as bigint), cast(getvariable('beyond') as bigint))
    as numbers(s)
