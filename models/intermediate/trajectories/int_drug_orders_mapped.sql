-- One row per distinct order (drug text x NDC x route) with the one ingredient or combination it
-- stands for: by its text, else by its NDC. Mapped once per distinct order, not per row.
with

events as (

    select * from {{ ref('int_events_placed') }}

),

drug_text_concepts as (

    select * from {{ ref('int_drug_text_concepts') }}

),

ndc_concepts as (

    select * from {{ ref('int_ndc_concepts') }}

),

routine_drugs as (

    select * from {{ ref('routine_drugs') }}

),

distinct_orders as (

    select distinct
        source_code as drug_text,
        ndc,
        route
    from events
    where event_type = 'medication'
        and set_aside_reason is null

),

orders as (

    select
        *,
        {{ normalize_ndc('ndc') }} as normalized_ndc
    from distinct_orders

),

resolved as (

    -- What the text names as no drug stays one, whatever its NDC says, and so does a text that the
    -- overrides leave without a concept.
    select
        orders.drug_text,
        orders.ndc,
        orders.route,
        coalesce(drug_text_concepts.normalized_text, lower(orders.drug_text)) as normalized_text,
        coalesce(drug_text_concepts.is_non_drug, false) as is_non_drug,
        drug_text_concepts.reason as text_reason,
        drug_text_concepts.cui_id is null and ndc_concepts.cui_id is not null
            and not coalesce(drug_text_concepts.is_non_drug, false)
            and drug_text_concepts.reason is distinct from 'overridden' as is_by_ndc,
        drug_text_concepts.cui_id as text_cui_id,
        drug_text_concepts.label as text_label,
        drug_text_concepts.method as text_method,
        drug_text_concepts.is_combination as text_is_combination,
        ndc_concepts.cui_id as ndc_cui_id,
        ndc_concepts.label as ndc_label,
        ndc_concepts.method as ndc_method,
        ndc_concepts.is_combination as ndc_is_combination
    from orders
    left join drug_text_concepts
        on orders.drug_text = drug_text_concepts.drug_text
    left join ndc_concepts
        on orders.normalized_ndc.ndc11 = ndc_concepts.ndc11

),

decided as (

    select
        drug_text,
        ndc,
        route,
        normalized_text,
        is_non_drug,
        text_reason,
        case when is_by_ndc then ndc_cui_id else text_cui_id end as cui_id,
        case when is_by_ndc then ndc_label else text_label end as label,
        case when is_by_ndc then ndc_method else text_method end as mapping_method,
        case when is_by_ndc then ndc_is_combination else text_is_combination end
            as is_combination
    from resolved

),

labelled as (

    select
        drug_text,
        ndc,
        route,
        case when cui_id is null then 'DRUG_TEXT' else 'INGREDIENT' end as code_system,
        case
            when cui_id is null then normalized_text
            else {{ cui_text('cui_id') }}
        end as normalized_code,
        coalesce(label, normalized_text) as label,
        cui_id,
        coalesce(is_combination, false) as is_combination,
        is_non_drug,
        case when is_non_drug then concat('non_drug_', text_reason) end as set_aside_reason,
        case when cui_id is null then 'none' else mapping_method end as mapping_method,
        case when cui_id is null then coalesce(text_reason, 'no_concept') end as unmapped_reason
    from decided

),

routine_orders as (

    select distinct
        labelled.drug_text,
        labelled.ndc,
        labelled.route
    from labelled
    inner join routine_drugs
        on routine_drugs.ingredient in (lower(labelled.label), '*')
        and lower(labelled.drug_text) like routine_drugs.drug_text
        and routine_drugs.route in (coalesce(labelled.route, ''), '*')

)

select
    labelled.*,
    routine_orders.drug_text is not null as is_routine
from labelled
left join routine_orders
    on labelled.drug_text = routine_orders.drug_text
    and labelled.ndc is not distinct from routine_orders.ndc
    and labelled.route is not distinct from routine_orders.route
