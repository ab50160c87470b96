-- Administration records of MIMIC-IV by admission and drug text. A record's text is that of the
-- order it belongs to (an order may have several components); without an order, its own.
with

emar as (

    select * from {{ ref('stg_mimic_iv__emar') }}

),

prescriptions as (

    select * from {{ ref('stg_mimic_iv__prescriptions') }}

),

administered_texts as (

    select event_txt
    from {{ ref('emar_event_texts') }}
    where is_administered

),

records_aggregated as (

    select
        emar.hadm_id,
        emar.pharmacy_id,
        nullif(trim(emar.medication), '') as medication,
        count(*) as n_source_rows,
        count(administered_texts.event_txt) as n_administered
    from emar
    left join administered_texts
        on emar.event_txt = administered_texts.event_txt
    where emar.hadm_id is not null
    group by emar.hadm_id, emar.pharmacy_id, nullif(trim(emar.medication), '')

),

order_texts as (

    select distinct
        pharmacy_id,
        trim(drug) as drug_text
    from prescriptions
    where pharmacy_id is not null
        and trim(drug) <> ''

),

texts_found as (

    select
        records_aggregated.hadm_id,
        coalesce(order_texts.drug_text, records_aggregated.medication) as drug_text,
        records_aggregated.n_source_rows,
        records_aggregated.n_administered
    from records_aggregated
    left join order_texts
        on records_aggregated.pharmacy_id = order_texts.pharmacy_id

)

select
    cast('mimic_iv' as varchar) as source,
    hadm_id as admission_id,
    drug_text,
    cast(null as varchar) as ndc,
    cast(sum(n_source_rows) as bigint) as n_records,
    cast(sum(n_administered) as bigint) as n_administered
from texts_found
group by hadm_id, drug_text
