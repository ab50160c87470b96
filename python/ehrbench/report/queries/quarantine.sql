select
    source_table,
    reason,
    n_rows
from rpt_quarantine
where n_rows > 0
order by
    source_table,
    reason
