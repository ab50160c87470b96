-- Surface baselines that win: by much, or by less and surely.
select *
from {{ ref('rpt_surface_gates') }}
where status = 'fail'
