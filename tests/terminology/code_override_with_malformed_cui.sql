-- A CUI is C and seven digits; `none` says that there is no concept.
select
    code_system,
    normalized_code,
    cui,
from {{ ref('code_overrides') }}
where
    cui is null
    or not regexp_matches(cui, '^(C[0-9]{7}|none)$')
