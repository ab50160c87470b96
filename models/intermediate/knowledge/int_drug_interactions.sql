{{ config(tags=['portable']) }}

-- A salt's entry speaks about its ingredient. Statements are cut down to the cohort's drugs before
-- any text is read: the full list has millions.
with

interactions as (

    select * from {{ ref('stg_drugbank__interactions') }}

),

drugbank_concepts as (

    select * from {{ ref('int_drugbank_concepts') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

cohort_concepts as (

    select * from {{ ref('int_cohort_concepts') }}

),

interaction_effects as (

    select * from {{ ref('interaction_effects') }}

),

entry_ingredients as (

    select distinct
        drugbank_concepts.drugbank_id,
        coalesce(drug_ingredients.ingredient_cui_id, drugbank_concepts.cui_id) as cui_id
    from drugbank_concepts
    left join drug_ingredients
        on drugbank_concepts.cui_id = drug_ingredients.cui_id
    where drugbank_concepts.cui_id is not null

),

entries as (

    select
        entry_ingredients.drugbank_id,
        entry_ingredients.cui_id
    from entry_ingredients
    inner join cohort_concepts
        on entry_ingredients.cui_id = cohort_concepts.cui_id

),

-- A pair is usually stated from both sides, in one wording; here the smaller concept comes first.
statements as (

    select distinct
        case when one.cui_id < other.cui_id then one.cui_id else other.cui_id end as cui_id,
        case when one.cui_id < other.cui_id then other.cui_id else one.cui_id end as other_cui_id,
        lower(coalesce(interactions.description, '')) as statement
    from interactions
    inner join entries as one
        on interactions.drugbank_id = one.drugbank_id
    inner join entries as other
        on interactions.other_drugbank_id = other.drugbank_id
    where one.cui_id <> other.cui_id

),

statement_effects as (

    select
        statements.cui_id,
        statements.other_cui_id,
        statements.statement,
        min(interaction_effects.effect_order) as effect_order
    from statements
    inner join interaction_effects
        on statements.statement like concat('%', coalesce(interaction_effects.effect, ''), '%')
        and (
            coalesce(interaction_effects.unless, '') = ''
            or statements.statement not like concat('%', interaction_effects.unless, '%')
        )
    group by
        statements.cui_id,
        statements.other_cui_id,
        statements.statement

),

judged as (

    select
        statement_effects.cui_id,
        statement_effects.other_cui_id,
        statement_effects.effect_order,
        interaction_effects.severity,
        coalesce(interaction_effects.effect, '') as effect
    from statement_effects
    inner join interaction_effects
        on statement_effects.effect_order = interaction_effects.effect_order

),

-- One severe statement makes the pair severe, whatever else is said about it.
ranked as (

    select
        *,
        row_number() over (
            partition by cui_id, other_cui_id
            order by
                case when severity = 'severe' then 0 else 1 end,
                effect_order
        ) as place,
        count(*) over (partition by cui_id, other_cui_id, severity) as n_rows
    from judged

),

pairs as (

    select
        cui_id,
        other_cui_id,
        severity,
        effect,
        n_rows
    from ranked
    where place = 1

)

select
    cui_id,
    other_cui_id,
    severity,
    effect as pattern,
    cast(n_rows as integer) as n_rows
from pairs

union all

select
    other_cui_id as cui_id,
    cui_id as other_cui_id,
    severity,
    effect as pattern,
    cast(n_rows as integer) as n_rows
from pairs
