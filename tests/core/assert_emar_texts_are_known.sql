{{ config(severity='warn') }}
-- Texts of administration records that seed emar_event_texts does not list.
select
    emar.event_txt,
    count(*) as n_records
from {{ ref('stg_mimic_iv__emar') }} as emar
left join {{ ref('emar_event_texts') }} as known_texts
    on emar.event_txt = known_texts.event_txt
where emar.event_txt is not null
    and known_texts.event_txt is null
group by emar.event_txt
