with definitions as (

    select * from {{ raw('umls', 'mrdef') }}

)

select
    cui,
    sab,
    def as definition,
    coalesce(suppress, 'N') as suppress,
from definitions
