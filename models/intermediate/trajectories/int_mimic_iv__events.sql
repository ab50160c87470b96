-- Source events of MIMIC-IV, one row per admission x event type x code (drug text x NDC x route).
-- Aggregated before anything is joined: 20 M orders shrink to what differs. Keys are judged before
-- that, where a text stands once per block, and a code is normalised once and not once per row.
with

{%- set key_reason %}
        case
            when is_torn_line then 'torn_line'
            {{- mimic_key_reasons({'subject_id': 'subject_id', 'hadm_id': 'hadm_id'}) }}
        end
{%- endset %}

diagnoses as (

    -- Diagnoses are coded at discharge, so they have no time of their own.
    select
        'diagnosis' as event_type,
        subject_id,
        hadm_id,
        icd_version,
        icd_code,
        seq_num,
        cast(null as timestamp) as chartdate,
        {{- key_reason }} as key_reason
    from {{ ref('stg_mimic_iv__diagnoses_icd') }}

),

procedures as (

    select
        'procedure' as event_type,
        subject_id,
        hadm_id,
        icd_version,
        icd_code,
        cast(null as integer) as seq_num,
        chartdate,
        {{- key_reason }} as key_reason
    from {{ ref('stg_mimic_iv__procedures_icd') }}

),

orders as (

    select
        subject_id,
        hadm_id,
        nullif(trim(drug), '') as drug_text,
        ndc,
        route,
        starttime,
        {{- key_reason }} as key_reason
    from {{ ref('stg_mimic_iv__prescriptions') }}

),

-- The dictionary's key is (code, version): 493 codes exist in both with another meaning.
titles as (

    {%- for event_type, dictionary in [('diagnosis', 'd_icd_diagnoses'),
        ('procedure', 'd_icd_procedures')] %}
    select
        {{ icd_code_system('icd_version', event_type) }} as code_system,
        {{ normalize_icd('icd_code', 'icd_version', event_type) }} as normalized_code,
        min(long_title) as long_title
    from {{ ref('stg_mimic_iv__' ~ dictionary) }}
    group by 1, 2
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

),

codes as (

    {%- for event_type, coded in [('diagnosis', 'diagnoses_icd'),
        ('procedure', 'procedures_icd')] %}
    select
        '{{ event_type }}' as event_type,
        icd_version,
        icd_code,
        {{ icd_code_system('icd_version', event_type) }} as code_system,
        {{ normalize_icd('icd_code', 'icd_version', event_type) }} as normalized_code
    from {{ ref('stg_mimic_iv__' ~ coded) }}
    group by icd_version, icd_code
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

),

codes_titled as (

    select
        codes.*,
        titles.long_title,
        case
            when coalesce(codes.icd_code, '') = '' then 'missing_code'
            when codes.code_system is null then 'unknown_code_version'
            when codes.normalized_code is null then 'missing_code'
        end as code_reason
    from codes
    left join titles
        on codes.code_system = titles.code_system
        and codes.normalized_code = titles.normalized_code

),

coded_aggregated as (

    select
        event_type,
        subject_id,
        hadm_id,
        icd_version,
        icd_code,
        chartdate,
        key_reason,
        min(seq_num) as seq_num,
        count(*) as n_source_rows
    from (select * from diagnoses union all select * from procedures) as coded
    group by event_type, subject_id, hadm_id, icd_version, icd_code, chartdate, key_reason

),

orders_aggregated as (

    select
        subject_id,
        hadm_id,
        drug_text,
        ndc,
        route,
        key_reason,
        min(starttime) as first_at,
        count(*) as n_source_rows
    from orders
    group by subject_id, hadm_id, drug_text, ndc, route, key_reason

)

select
    cast('mimic_iv' as varchar) as source,
    coded_aggregated.subject_id as patient_id,
    coded_aggregated.hadm_id as admission_id,
    coded_aggregated.event_type,
    codes_titled.code_system,
    coded_aggregated.icd_code as source_code,
    codes_titled.normalized_code,
    codes_titled.long_title as source_label,
    cast(null as varchar) as ndc,
    cast(null as varchar) as route,
    coded_aggregated.chartdate as first_at,
    coded_aggregated.seq_num,
    coded_aggregated.n_source_rows,
    coalesce(coded_aggregated.key_reason, codes_titled.code_reason) as set_aside_reason
from coded_aggregated
left join codes_titled
    on coded_aggregated.event_type = codes_titled.event_type
    and coded_aggregated.icd_version is not distinct from codes_titled.icd_version
    and coded_aggregated.icd_code is not distinct from codes_titled.icd_code
union all
select
    cast('mimic_iv' as varchar),
    subject_id,
    hadm_id,
    'medication',
    'DRUG_TEXT',
    drug_text,
    cast(null as varchar),
    cast(null as varchar),
    ndc,
    route,
    first_at,
    cast(null as integer),
    n_source_rows,
    coalesce(key_reason, case when drug_text is null then 'missing_drug_text' end)
from orders_aggregated
