-- The sheet that clinicians rate, without verdict, policy or evidence.
-- Run with: dbt compile --select export_audit_sample, then copy (<compiled sql>) to 'sheet.csv'.
-- One row per triple and one empty column per question; each rater fills a copy and adds the column
-- rater. All copies in one file are audit_ratings.csv in the completion store
-- (EHRBENCH_COMPLETIONS_DIR); then build stg_completions__audit_ratings+. The sheet holds titles of
-- a patient's events: it goes where the data may go, nowhere else.
with drawn as (
    select * from {{ ref('fct_audit_sample') }}
)

select
    triple_id,
    task,
    subject_label,
    relation,
    object_label,
    context_labels,
    cast(null as varchar) as is_right,
    cast(null as varchar) as is_unique,
    cast(null as varchar) as has_other_right,
    cast(null as varchar) as is_answerable,
    cast(null as varchar) as has_leak,
    cast(null as varchar) as comment
from drawn
order by sheet_place
