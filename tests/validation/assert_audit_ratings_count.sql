{{ config(severity='warn') }}
-- Rows of audit_ratings.csv and audit_item_ratings.csv that do not count, with the reason; a later
-- row in place of an earlier one and a rater who is unsure are no mistakes.
select
    'audit_ratings' as file,
    source_row,
    rater,
    triple_id as audited_id,
    reason
from {{ ref('int_audit_ratings') }}
where reason is not null
    and reason not in ('replaced_by_a_later_row', 'unsure')
union all
select
    'audit_item_ratings' as file,
    source_row,
    rater,
    item_id as audited_id,
    reason
from {{ ref('int_audit_item_ratings') }}
where reason is not null
    and reason <> 'replaced_by_a_later_row'
