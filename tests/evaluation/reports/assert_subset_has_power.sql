-- The evaluation subset cannot detect the difference of overall that
-- evaluation_detectable_difference declares. Nothing is asked of it while none is declared.
select *
from {{ ref('rpt_power') }}
where scope = 'overall'
    and basis = 'assumed'
    and declared_difference is not null
    and coalesce(detectable_difference > declared_difference, true)
