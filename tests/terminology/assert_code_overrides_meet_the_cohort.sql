{{ config(severity='warn') }}
-- A row of the seed code_overrides that no code or order text of the cohort meets changes nothing:
-- it is misspelt, or from another cohort.
select
    code_overrides.code_system,
    code_overrides.override_key
from {{ ref('int_code_overrides') }} as code_overrides
left join {{ ref('int_cohort_codes') }} as cohort_codes
    on code_overrides.code_system = cohort_codes.code_system
    and code_overrides.override_key = upper(cohort_codes.normalized_code)
where code_overrides.code_system <> 'DRUG_TEXT'
    and cohort_codes.code_system is null
union all
select
    code_overrides.code_system,
    code_overrides.override_key
from {{ ref('int_code_overrides') }} as code_overrides
left join {{ ref('int_cohort_drug_texts') }} as drug_texts
    on code_overrides.override_key = {{ norm_label('drug_texts.drug_text') }}
where code_overrides.code_system = 'DRUG_TEXT'
    and drug_texts.drug_text is null
