-- What the terminology sets aside, counted: input of rpt_quarantine.
with atoms as (

    select * from {{ ref('stg_umls__atoms') }}

),

relations as (

    select * from {{ ref('stg_umls__relations') }}

),

definitions as (

    select * from {{ ref('stg_umls__definitions') }}

),

attributes as (

    select * from {{ ref('stg_umls__attributes') }}

),

retired_cuis as (

    select * from {{ ref('stg_umls__retired_cuis') }}

),

i9_gems as (

    select * from {{ ref('stg_icd__i9_gems') }}

),

i10_gems as (

    select * from {{ ref('stg_icd__i10_gems') }}

),

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}

),

drug_texts as (

    select * from {{ ref('int_drug_text_concepts') }}

),

set_aside as (

    select
        'umls.mrconso' as source_table,
        case
            when {{ cui_id('cui') }} is null then 'invalid_cui'
            when language <> 'ENG' then 'not_english'
            when suppress <> 'N' then 'suppressed'
            when name is null then 'no_name'
        end as reason,
    from atoms
    union all
    select
        'umls.mrrel' as source_table,
        case when suppress <> 'N' then 'suppressed' end as reason,
    from relations
    union all
    select
        'umls.mrdef' as source_table,
        case when suppress <> 'N' then 'suppressed' end as reason,
    from definitions
    union all
    select
        'umls.mrsat' as source_table,
        case
            when {{ cui_id('cui') }} is null then 'invalid_cui'
            when suppress <> 'N' then 'suppressed'
            when attribute_name = 'NDC' and ({{ normalize_ndc('attribute_value') }}).ndc11 is null
                then ({{ normalize_ndc('attribute_value') }}).status
        end as reason,
    from attributes
    union all
    select
        'umls.mrcui' as source_table,
        case when rel <> 'SY' then 'not_a_synonym' end as reason,
    from retired_cuis
    union all
    select
        'icd.i9_gems' as source_table,
        case when is_no_map then 'no_map' end as reason,
    from i9_gems
    union all
    select
        'icd.i10_gems' as source_table,
        case when is_no_map then 'no_map' end as reason,
    from i10_gems
    union all
    select
        'int_icd_code_concepts' as source_table,
        case when reason = 'too_many_concepts' then reason end as reason,
    from code_concepts
    union all
    select
        'int_drug_text_concepts' as source_table,
        case when is_non_drug or reason = 'several_ingredients' then reason end as reason,
    from drug_texts

),

counted as (

    select
        source_table,
        reason,
        count(*) as n_rows,
    from set_aside
    where reason is not null
    group by all

)

select * from counted
