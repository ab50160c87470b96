{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

pair_lift as (

    select * from {{ ref('int_pair_lift') }}

),

own_pair_weights as (

    select * from {{ ref('int_own_pair_weights') }}

),

located as (

    select
        triples.triple_id,
        triples.source,
        case when triples.target_visit_key is null then 'same_visit' else 'next_visit' end
            as pair_window,
        visits.person_group,
        triple_claims.subject_cui_id,
        triple_claims.object_cui_id
    from triples
    inner join triple_claims
        on triples.triple_id = triple_claims.triple_id
    inner join visits
        on triples.visit_key = visits.visit_key

),

-- The triple's own person is taken out of every count: else each triple would prove itself.
others as (

    select
        located.triple_id,
        pair_lift.n_persons - 1 as n_persons,
        pair_lift.subject_weight - own_pair_weights.subject_weight as subject_weight,
        pair_lift.object_weight - own_pair_weights.object_weight as object_weight,
        pair_lift.pair_weight - own_pair_weights.pair_weight as pair_weight
    from located
    inner join pair_lift
        on located.source = pair_lift.source
        and located.pair_window = pair_lift.pair_window
        and located.subject_cui_id = pair_lift.subject_cui_id
        and located.object_cui_id = pair_lift.object_cui_id
    inner join own_pair_weights
        on located.source = own_pair_weights.source
        and located.pair_window = own_pair_weights.pair_window
        and located.person_group = own_pair_weights.person_group
        and located.subject_cui_id = own_pair_weights.subject_cui_id
        and located.object_cui_id = own_pair_weights.object_cui_id

),

counted as (

    select
        *,
        pair_weight / 1000000.0 as n_pair_persons,
        cast(subject_weight as double) * object_weight / nullif(n_persons, 0) / 1000000000000.0
            as n_expected_persons
    from others

),

-- Two rare concepts that never meet say nothing: some persons must have both, or be expected to.
measured as (

    select
        triple_id,
        pair_weight,
        case
            when n_pair_persons >= {{ var('ehr_lift_min_persons') }}
                or n_expected_persons >= {{ var('ehr_lift_min_persons') }}
                then {{ pair_lift('pair_weight', 'subject_weight', 'object_weight', 'n_persons') }}
        end as lift
    from counted

)

-- The best claim speaks for the triple, as it does for its support.
select
    triple_id,
    max(lift) as ehr_lift,
    max(pair_weight) as other_pair_weight
from measured
group by triple_id
