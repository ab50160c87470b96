with

asked as (

    select *
    from concepts
    where number >= getvariable('first') and number < getvariable('beyond')

),

atoms as (

    select cui, 1 as place, 'MTH' as sab, 'PN' as tty, 'NOCODE' as code, name from asked
    union all
    select
        cui,
        2,
        'ICD10CM',
        case kind when 'category' then 'HT' else 'PT' end,
        case kind
            when 'category' then icd10_category(n * 9)
            else icd10_category(n) || '.' || (n % 9 + 1)
        end,
        name
    from asked
    where kind in ('diagnosis', 'category')
    union all
    select cui, 3, 'ICD9CM', 'PT', icd9(n)[1:3] || '.' || icd9(n)[4:5], name
    from asked
    where kind = 'diagnosis'
    union all
    select cui, 2, 'RXNORM', 'IN', cast(900000 + n as varchar), name
    from asked
    where kind = 'drug'
    union all
    select cui, 2, 'MTH', 'SY', 'NOCODE', name || ' of ' || word(n)
    from asked
    where kind = 'other'

)

select
    cui || '|ENG|' || case place when 1 then 'P' else 'S' end || '|L' || right(cui, 7) || place
    || '|PF|S' || right(cui, 7) || place || '|' || case place when 1 then 'Y' else 'N' end
    || '|A' || right(cui, 7) || place || '||||' || sab || '|' || tty || '|' || code || '|' || name
    || '|0|N||' as line
from atoms
order by cui, place
