select line
from (
    select
        cui || '|A' || right(cui, 7) || '1|AUI|PAR|' || category_cui(n // 9) || '|A'
        || right(category_cui(n // 9), 7) || '1|AUI||R' || right(cui, 7) || '1||ICD10CM|ICD10CM||Y|N||'
        as line
    from concepts
    where kind = 'diagnosis'
    union all
    select
        category_cui(n // 9) || '|A' || right(category_cui(n // 9), 7) || '1|AUI|CHD|' || cui || '|A'
        || right(cui, 7) || '1|AUI||R' || right(cui, 7) || '2||ICD10CM|ICD10CM||Y|N||'
        as line
    from concepts
    where kind = 'diagnosis'
)
order by line
