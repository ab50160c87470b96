select
    source,
    table_name,
    n_rows,
    source_data_class,
    content_digest
from rpt_run_manifest
order by
    source_data_class is null,
    source,
    table_name
