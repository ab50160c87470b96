-- The seed code_overrides with its CUIs as integers, retired ones replaced; drug texts as a key
-- without regard to case and blanks.
with code_overrides as (

    select * from {{ ref('code_overrides') }}

),

retired_cuis as (

    select * from {{ ref('int_retired_cuis') }}

),

parsed as (

    select
        code_system,
        case
            when code_system = 'DRUG_TEXT' then {{ norm_label('normalized_code') }}
            else upper(trim(normalized_code))
        end as override_key,
        {{ cui_id('cui') }} as cui_id,
        cui = 'none' as is_none,
    from code_overrides

),

resolved as (

    select
        parsed.code_system,
        parsed.override_key,
        coalesce(retired_cuis.replacement_cui_id, parsed.cui_id) as cui_id,
        parsed.is_none,
    from parsed
    left join retired_cuis
        on parsed.cui_id = retired_cuis.cui_id

)

select *
from resolved
-- a malformed CUI fails the test of the seed and changes nothing here
where
    is_none
    or cui_id is not null
