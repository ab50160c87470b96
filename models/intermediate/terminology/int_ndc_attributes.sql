with attributes as (

    select * from {{ ref('stg_umls__attributes') }}

),

normalized as (

    select
        {{ cui_id('cui') }} as cui_id,
        {{ normalize_ndc('attribute_value') }} as ndc,
    from attributes
    where
        attribute_name = 'NDC'
        and suppress = 'N'

)

select distinct
    ndc.ndc11 as ndc11,
    cui_id,
from normalized
where
    ndc.ndc11 is not null
    and cui_id is not null
