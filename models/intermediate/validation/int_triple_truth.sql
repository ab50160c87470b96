{%- set counts = ['n_supporting_pmids', 'n_supporting_pmids_exact', 'n_supporting_curated',
    'n_supporting_curated_exact', 'n_contradicting_pmids', 'n_hazard_pmids', 'n_reverse_pmids'] -%}
with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

),

visit_events as (

    select * from {{ ref('fct_visit_events') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

conflict_rules as (

    select * from {{ ref('conflict_rules') }}

),

truth_conflicts as (

    select * from {{ ref('int_triple_truth_conflicts') }}

),

truth_claims as (

    select * from {{ ref('stg_truth__claims') }}

),

truth_evidence as (

    select * from {{ ref('stg_truth__evidence') }}

),

truth_codes as (

    select * from {{ ref('stg_truth__codes') }}

),

own_concepts as (

    select
        event_key,
        cui
    from event_concepts
    where cui_id is not null
        and mapping_level not in ('part', 'none')

),

donor_truth as (

    select
        triple_id,
        max(case when generator = '{{ var("null_generator") }}' then 1 else 0 end) as is_donor
    from triple_proposals
    group by triple_id

),

-- As in the checks, the best supported claim supports and the worst one speaks against.
claim_truth as (

    select
        triple_claims.triple_id,
        max(coalesce(truth_claims.supported, 0)) as is_supported,
        max(coalesce(truth_claims.contradicted, 0)) as is_contradicted,
        max(coalesce(truth_claims.ambiguous, 0)) as is_ambiguous,
        {%- for column in counts %}
        max(coalesce(truth_evidence.{{ column }}, 0)) as {{ column }}{{ ',' if not loop.last }}
        {%- endfor %}
    from triple_claims
    left join truth_claims
        on {{ cui_text('triple_claims.subject_cui_id') }} = truth_claims.subject_cui
        and triple_claims.relation = truth_claims.relation
        and {{ cui_text('triple_claims.object_cui_id') }} = truth_claims.object_cui
    left join truth_evidence
        on {{ cui_text('triple_claims.subject_cui_id') }} = truth_evidence.subject_cui
        and triple_claims.relation = truth_evidence.relation
        and {{ cui_text('triple_claims.object_cui_id') }} = truth_evidence.object_cui
    group by triple_claims.triple_id

),

-- What a code or an order text should reach.
code_truth as (

    select
        code_system,
        trim(code) as code,
        max(case when level <> 'none' then cui end) as cui
    from truth_codes
    group by
        code_system,
        trim(code)

),

-- A drug is judged by its order text: its code is the concept that the mapping chose, so that a
-- wrong one would confirm itself. Of several texts the event keeps one.
coded_events as (

    select
        event_key,
        case when event_type = 'medication' then 'DRUG_TEXT' else code_system end as code_system,
        case when event_type = 'medication' then trim(source_code) else normalized_code end
            as code
    from visit_events

),

-- A text that its NDC alone can explain should still reach its concept: where the order has no
-- NDC, it is a miss.
event_truth as (

    select
        coded_events.event_key,
        max(
            case
                when code_truth.cui is null then 0
                when own_concepts.event_key is null then 1
                when own_concepts.cui = code_truth.cui then 1
                else 0
            end
        ) as should_map
    from coded_events
    left join code_truth
        on coded_events.code_system = code_truth.code_system
        and coded_events.code = code_truth.code
    left join own_concepts
        on coded_events.event_key = own_concepts.event_key
    group by coded_events.event_key

),

fixed_conflicts as (

    select distinct truth_conflicts.triple_id
    from truth_conflicts
    inner join conflict_rules
        on truth_conflicts.rule = conflict_rules.rule
    where conflict_rules.policy = 'fixed'
        and conflict_rules.is_enabled

),

flagged as (

    select
        triples.triple_id,
        coalesce(donor_truth.is_donor, 0) = 1 as is_donor,
        subjects.should_map = 1 and objects.should_map = 1 as is_mapped,
        coalesce(claim_truth.is_supported, 0) = 1 as is_supported,
        coalesce(claim_truth.is_contradicted, 0) = 1 as is_contradicted,
        coalesce(claim_truth.is_ambiguous, 0) = 1 as is_ambiguous,
        fixed_conflicts.triple_id is not null as is_conflicting,
        {%- for column in counts %}
        cast(coalesce(claim_truth.{{ column }}, 0) as integer) as {{ column }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from triples
    left join donor_truth
        on triples.triple_id = donor_truth.triple_id
    left join event_truth as subjects
        on triples.subject_event_key = subjects.event_key
    left join event_truth as objects
        on triples.object_event_key = objects.event_key
    left join claim_truth
        on triples.triple_id = claim_truth.triple_id
    left join fixed_conflicts
        on triples.triple_id = fixed_conflicts.triple_id
    where exists (select 1 from truth_claims)

)

select
    *,
    is_mapped
    and is_supported
    and not (is_donor or is_contradicted or is_ambiguous or is_conflicting) as is_right
from flagged
