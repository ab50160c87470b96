-- The name of a site's folder is its name: no other source has it, no second folder, and it is not
-- `all`, as reports name their totals.
with

persons as (

    select * from {{ ref('stg_omop__person') }}

),

other_sources as (

    select source from {{ ref('int_mimic_iv__patients') }}
    union
    select source from {{ ref('int_mimic_iii__patients') }}
    union
    select 'all' as source

)

select distinct
    source,
    'is the name of another source' as problem
from persons
where source in (select source from other_sources)
union all
select distinct
    source,
    'two folders have this name' as problem
from persons
group by source, source_file, source_row
having count(*) > 1
