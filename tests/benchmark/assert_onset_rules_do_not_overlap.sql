-- Two rules of one specificity that match the same code, or a range whose ends differ in length.
with

rules as (

    select * from {{ ref('onset_classes') }}

)

select
    one.code_system,
    one.code_from,
    other.code_from as other_code_from
from rules as one
inner join rules as other
    on one.code_system = other.code_system
    and one.specificity = other.specificity
    and one.code_from < other.code_from
    and substr(other.code_from, 1, length(one.code_from))
        between one.code_from and one.code_to

union all

select
    code_system,
    code_from,
    code_to as other_code_from
from rules
where length(code_from) <> length(code_to)
    or code_from > code_to
