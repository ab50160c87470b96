-- Rows of MIMIC-III that cannot be used (set_aside) or are used without what was wrong (repaired).
-- Decided per row and once: the models of patients, admissions and events take their reasons from
-- here. A row keeps its first reason.
{%- set key_reason = {} %}
{%- for table_name, keys in {'patients': ['subject_id'], 'admissions': ['subject_id', 'hadm_id'],
    'icustays': ['subject_id'], 'events': ['subject_id', 'hadm_id']}.items() %}
    {%- set cases %}
            when is_torn_line then 'torn_line'
            {%- for column in keys %}
            when lower({{ column }}) = '{{ column }}' then 'header_row'
            {%- endfor %}
            {%- for column in keys %}
            when {{ column }} is null then 'missing_key'
            {%- endfor %}
            {%- for column in keys %}
            when not regexp_full_match({{ column }}, '[0-9]+') then 'malformed_key'
            {%- endfor %}
    {%- endset %}
    {%- do key_reason.update({table_name: cases}) %}
{%- endfor %}
with

patients as (

    select * from {{ ref('stg_mimic_iii__patients') }}

),

admissions as (

    select * from {{ ref('stg_mimic_iii__admissions') }}

),

icustays as (

    select * from {{ ref('stg_mimic_iii__icustays') }}

),

diagnoses as (

    select * from {{ ref('stg_mimic_iii__diagnoses_icd') }}

),

procedures as (

    select * from {{ ref('stg_mimic_iii__procedures_icd') }}

),

prescriptions as (

    select * from {{ ref('stg_mimic_iii__prescriptions') }}

),

patients_judged as (

    select
        'patients' as table_name,
        source_file,
        source_row,
        case
            {{- key_reason['patients'] }}
            when row_number() over (
                partition by subject_id
                order by dob, gender, dod, source_row
            ) > 1 then 'duplicate_key'
        end as set_aside_reason,
        case when unreadable_columns is not null then 'unreadable_date' end as repair_reason
    from patients

),

admissions_judged as (

    select
        'admissions' as table_name,
        source_file,
        source_row,
        case
            {{- key_reason['admissions'] }}
            when unreadable_columns like '%admittime%' then 'unreadable_date'
            when admittime is null then 'missing_time'
            when row_number() over (
                partition by hadm_id
                order by admittime, dischtime, subject_id, admission_type, source_row
            ) > 1 then 'duplicate_key'
        end as set_aside_reason,
        -- Such a stay ends where it starts.
        case
            when unreadable_columns is not null then 'unreadable_date'
            when dischtime is null then 'missing_time'
            when dischtime < admittime then 'end_before_start'
        end as repair_reason
    from admissions

),

icustays_judged as (

    select
        'icustays' as table_name,
        source_file,
        source_row,
        case
            {{- key_reason['icustays'] }}
        end as set_aside_reason,
        cast(null as varchar) as repair_reason
    from icustays

),

{%- for table_name, relation in [('diagnoses_icd', 'diagnoses'),
    ('procedures_icd', 'procedures')] %}

{{ relation }}_judged as (

    select
        '{{ table_name }}' as table_name,
        source_file,
        source_row,
        case
            {{- key_reason['events'] }}
            when {{ normalize_icd('icd9_code', 9, 'diagnosis') }} is null then 'missing_code'
            when row_number() over (
                partition by subject_id, hadm_id, seq_num, icd9_code, unreadable_columns
                order by source_row
            ) > 1 then 'duplicate_row'
        end as set_aside_reason,
        case when unreadable_columns is not null then 'unreadable_number' end as repair_reason
    from {{ relation }}

),
{%- endfor %}

prescriptions_judged as (

    select
        'prescriptions' as table_name,
        source_file,
        source_row,
        case
            {{- key_reason['events'] }}
            when drug is null then 'missing_drug_text'
            -- An exact duplicate is no second order: it counts once.
            when row_number() over (partition by row_digest order by source_row) > 1
                then 'duplicate_row'
        end as set_aside_reason,
        -- The order is kept without a start.
        case when unreadable_columns is not null then 'unreadable_date' end as repair_reason
    from prescriptions

),

united as (

    select * from patients_judged
    union all
    select * from admissions_judged
    union all
    select * from icustays_judged
    union all
    select * from diagnoses_judged
    union all
    select * from procedures_judged
    union all
    select * from prescriptions_judged

)

select
    concat('mimic_iii.', table_name) as source_table,
    source_file as file,
    source_row as row,
    coalesce(set_aside_reason, repair_reason) as reason,
    case when set_aside_reason is not null then 'set_aside' else 'repaired' end as action
from united
where coalesce(set_aside_reason, repair_reason) is not null
