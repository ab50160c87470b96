-- What the terminology sets aside, counted: damaged rows (as in fct_quarantine) and rows that are
-- whole and left out by a rule. Input of rpt_quarantine.
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

    select * from {{ ref('int_code_concepts') }}

),

drug_texts as (

    select * from {{ ref('int_drug_text_concepts') }}

),

bad_rows as (

    select source_table, reason from {{ ref('int_umls__bad_rows') }}
    where action = 'set_aside'
    union all
    select source_table, reason from {{ ref('int_icd__bad_rows') }}
    where action = 'set_aside'

),

set_aside as (

    select
        source_table,
        reason,
    from bad_rows
    union all
    select
        'umls.mrconso' as source_table,
        case
            when {{ cui_id('cui') }} is null then null
            when language <> 'ENG' then 'not_english'
            when suppress <> 'N' then 'suppressed'
            when name is null then 'no_name'
        end as reason,
    from atoms
    union all
    select
        'umls.mrrel' as source_table,
        case
            when {{ cui_id('cui1') }} is null or {{ cui_id('cui2') }} is null then null
            when suppress <> 'N' then 'suppressed'
        end as reason,
    from relations
    union all
    select
        'umls.mrdef' as source_table,
        case
            when {{ cui_id('cui') }} is null then null
            when suppress <> 'N' then 'suppressed'
        end as reason,
    from definitions
    union all
    select
        'umls.mrsat' as source_table,
        case
            when {{ cui_id('cui') }} is null then null
            when suppress <> 'N' then 'suppressed'
        end as reason,
    from attributes
    union all
    select
        'umls.mrcui' as source_table,
        case
            when {{ cui_id('cui') }} is null then null
            when rel = 'DEL' then 'deleted'
            when {{ cui_id('replacement_cui') }} is null then null
            when rel <> 'SY' then 'not_a_synonym'
        end as reason,
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
        'int_code_concepts' as source_table,
        case when reason in ('too_many_concepts', 'ambiguous_name') then reason end as reason,
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
