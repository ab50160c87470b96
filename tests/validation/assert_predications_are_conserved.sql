-- Lines of PREDICATION = predications kept + predications set aside by reason.
with

staged as (

    select count(*) as n_rows from {{ ref('stg_semmeddb__predications') }}

),

kept as (

    select count(*) as n_rows from {{ ref('int_predications_cleaned') }}

),

set_aside as (

    select coalesce(sum(n_rows), 0) as n_rows from {{ ref('int_predications_quarantined') }}

)

select
    staged.n_rows as n_staged,
    kept.n_rows as n_kept,
    set_aside.n_rows as n_set_aside
from staged
cross join kept
cross join set_aside
where staged.n_rows <> kept.n_rows + set_aside.n_rows
