{{ config(severity='warn') }}
-- Rows of audit_ratings.csv that do not count, with the reason; a later row in place of an earlier
-- one is no mistake.
select
    source_row,
    rater,
    triple_id,
    reason
from {{ ref('int_audit_ratings') }}
where reason is not null
    and reason <> 'replaced_by_a_later_row'
