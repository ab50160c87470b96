-- The columns that raters fill.
select
    sheet,
    question,
    heading,
    wording,
    answers
from audit_columns
order by
    sheet desc,
    column_order
