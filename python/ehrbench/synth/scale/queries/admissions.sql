select
    cast(40000000 + p as varchar) as subject_id,
    cast(50000000 + h as varchar) as hadm_id,
    strftime(admitted, '%Y-%m-%d %H:%M:%S') as admittime,
    strftime(admitted + stay, '%Y-%m-%d %H:%M:%S') as dischtime,
    cast(null as varchar) as deathtime,
    [
        'EW EMER.', 'EW EMER.', 'EW EMER.', 'URGENT', 'URGENT', 'OBSERVATION ADMIT',
        'EU OBSERVATION', 'ELECTIVE', 'SURGICAL SAME DAY ADMISSION', 'DIRECT EMER.'
    ][cast(m // 4096 % 10 + 1 as integer)] as admission_type,
    'P' || m % 1000 || 'SYN' as admit_provider_id,
    'EMERGENCY ROOM' as admission_location,
    'HOME' as discharge_location,
    'Other' as insurance,
    'English' as language,
    'SINGLE' as marital_status,
    'UNKNOWN' as race,
    cast(null as varchar) as edregtime,
    cast(null as varchar) as edouttime,
    0 as hospital_expire_flag
from admissions_drawn
order by h
