{{ config(tags=['portable']) }}

-- Articles are summed over predicates: one that states two of them counts twice.
with

curated_edges as (

    select * from {{ ref('int_curated_edges') }}

),

edges as (

    select * from {{ ref('int_edges') }}

),

conflict_predicates as (

    select * from {{ ref('conflict_predicates') }}

),

treatment_edges as (

    select
        'umls' as kb,
        rela as predicate_or_rela,
        subject_cui_id,
        object_cui_id,
        n_rows,
        0 as n_pmids
    from curated_edges

    union all

    select
        'semmeddb' as kb,
        predicate as predicate_or_rela,
        subject_cui_id,
        object_cui_id,
        n_pmids as n_rows,
        n_pmids
    from edges
    where not is_negated

),

effects as (

    select
        conflict_predicates.rule,
        treatment_edges.subject_cui_id as treatment_cui_id,
        treatment_edges.object_cui_id as disease_cui_id,
        sum(case when conflict_predicates.effect = 'harm' then treatment_edges.n_rows else 0 end)
            as n_harm,
        sum(case when conflict_predicates.effect = 'benefit' then treatment_edges.n_rows else 0 end)
            as n_benefit,
        sum(case when conflict_predicates.effect = 'harm' then treatment_edges.n_pmids else 0 end)
            as n_harm_pmids
    from treatment_edges
    inner join conflict_predicates
        on treatment_edges.kb = conflict_predicates.kb
        and treatment_edges.predicate_or_rela = conflict_predicates.predicate_or_rela
    group by
        conflict_predicates.rule,
        treatment_edges.subject_cui_id,
        treatment_edges.object_cui_id

)

select
    rule,
    treatment_cui_id,
    disease_cui_id,
    cast(n_harm as integer) as n_rows,
    cast(n_harm_pmids as integer) as n_pmids
from effects
where n_harm > n_benefit
