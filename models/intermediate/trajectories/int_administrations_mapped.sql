-- Administration records by visit and drug code. A row with a null code counts the records whose
-- drug is not known: they still show that the visit was recorded. A record with an NDC is the drug
-- of the order with this text and NDC.
with

administrations as (

    select * from {{ ref('int_source_administrations') }}

),

admissions as (

    select * from {{ ref('int_admissions_merged') }}

),

drug_text_concepts as (

    select * from {{ ref('int_drug_text_concepts') }}

),

ndc_orders as (

    select distinct
        drug_text,
        ndc,
        normalized_code
    from {{ ref('int_drug_orders_mapped') }}
    where ndc is not null

)

select
    admissions.visit_key,
    case
        when ndc_orders.normalized_code is not null then ndc_orders.normalized_code
        when drug_text_concepts.cui_id is not null
            then {{ cui_text('drug_text_concepts.cui_id') }}
        else coalesce(drug_text_concepts.normalized_text, lower(administrations.drug_text))
    end as normalized_code,
    cast(sum(administrations.n_records) as bigint) as n_records,
    cast(sum(administrations.n_administered) as bigint) as n_administered
from administrations
inner join admissions
    on administrations.source = admissions.source
    and administrations.admission_id = admissions.admission_id
left join drug_text_concepts
    on administrations.drug_text = drug_text_concepts.drug_text
left join ndc_orders
    on administrations.drug_text = ndc_orders.drug_text
    and administrations.ndc = ndc_orders.ndc
group by 1, 2
