select
    'MedCheck' as checklist,
    item as number,
    phase as part,
    topic,
    status,
    found_in,
    comment
from reporting_medcheck
union all
select
    'TRIPOD-LLM',
    cast(item as varchar),
    section,
    topic,
    status,
    found_in,
    comment
from reporting_tripod_llm
order by
    checklist,
    try_cast(regexp_extract(number, '^[0-9]+') as integer),
    number,
    part,
    topic
