-- What went into the build.
select
    source,
    table_name,
    n_rows,
    content_digest
from rpt_run_manifest
order by
    source,
    table_name
