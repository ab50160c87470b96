{{ config(tags=['portable']) }}

with

claims as (

    select * from {{ ref('int_claims') }}

),

concept_expansions as (

    select * from {{ ref('int_concept_expansions') }}

),

edge_roles as (

    select * from {{ ref('int_edge_roles') }}

),

match_levels as (

    select * from {{ ref('match_levels') }}

),

-- The wider of the two ends names the level; both ends together take one step at most.
claim_terms as (

    select
        claims.claim_key,
        claims.relation,
        subjects.matched_cui_id as subject_cui_id,
        objects.matched_cui_id as object_cui_id,
        case
            when subjects.level_rank > objects.level_rank then subjects.level_rank
            else objects.level_rank
        end as level_rank
    from claims
    inner join concept_expansions as subjects
        on claims.subject_cui_id = subjects.cui_id
    inner join concept_expansions as objects
        on claims.object_cui_id = objects.cui_id
    where subjects.n_steps + objects.n_steps <= 1
        and subjects.matched_cui_id <> objects.matched_cui_id

),

-- Support is inherited, what speaks against a claim is read at the concepts themselves and their
-- equivalents only. A relation read either way can meet
-- one edge twice: the narrower meeting stays.
hits as (

    select
        claim_terms.claim_key,
        edge_roles.role,
        edge_roles.strength,
        edge_roles.kb,
        edge_roles.predicate_or_rela,
        edge_roles.edge_subject_cui_id,
        edge_roles.edge_object_cui_id,
        edge_roles.n_pmids,
        edge_roles.n_rows,
        min(claim_terms.level_rank) as level_rank
    from claim_terms
    inner join edge_roles
        on claim_terms.relation = edge_roles.relation
        and claim_terms.subject_cui_id = edge_roles.subject_cui_id
        and claim_terms.object_cui_id = edge_roles.object_cui_id
    group by
        claim_terms.claim_key,
        edge_roles.role,
        edge_roles.strength,
        edge_roles.kb,
        edge_roles.predicate_or_rela,
        edge_roles.edge_subject_cui_id,
        edge_roles.edge_object_cui_id,
        edge_roles.n_pmids,
        edge_roles.n_rows

)

select
    hits.claim_key,
    hits.role,
    hits.kb,
    hits.predicate_or_rela,
    hits.edge_subject_cui_id,
    hits.edge_object_cui_id,
    match_levels.match_level,
    hits.level_rank,
    match_levels.is_inherited,
    hits.strength,
    hits.n_pmids,
    hits.n_rows
from hits
inner join match_levels
    on hits.level_rank = match_levels.level_rank
where hits.role = 'support'
    or not match_levels.is_inherited
