-- Every triple under every check, once, and nothing else. `is distinct from` sees a row that only
-- one side has, where `<>` would see nothing.
with

check_index as (

    select
        triple_id,
        check_name,
        count(*) as n_rows
    from {{ ref('int_check_index') }}
    group by
        triple_id,
        check_name

),

triple_checks as (

    select
        triple_id,
        check_name,
        count(*) as n_rows
    from {{ ref('fct_triple_checks') }}
    group by
        triple_id,
        check_name

)

select
    coalesce(check_index.triple_id, triple_checks.triple_id) as triple_id,
    coalesce(check_index.check_name, triple_checks.check_name) as check_name,
    check_index.n_rows as n_indexed,
    triple_checks.n_rows as n_checked
from check_index
full outer join triple_checks
    on check_index.triple_id = triple_checks.triple_id
    and check_index.check_name = triple_checks.check_name
where check_index.n_rows is distinct from triple_checks.n_rows
