-- One row per template: what the record shows, what the proposing model said, what the knowledge
-- base defines and what evidence supports the claim. For the answer key only; never for an item.
with

templates as (

    select * from {{ ref('int_templates') }}

),

texts as (

    select * from {{ ref('rationale_texts') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

concepts as (

    select * from {{ ref('dim_concepts') }}

),

proposals as (

    select * from {{ ref('fct_triple_proposals') }}
    where trim(why) <> ''

),

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

),

claim_evidence as (

    select * from {{ ref('fct_claim_evidence') }}
    where role = 'support'

),

first_why as (

    select
        triple_id,
        why
    from proposals
    qualify row_number() over (
        partition by triple_id
        order by generator, request_key nulls last, why
    ) = 1

),

evidence_ranked as (

    select
        templates.template_key,
        claim_evidence.kb,
        claim_evidence.predicate_or_rela,
        claim_evidence.match_level,
        claim_evidence.pmid,
        claim_evidence.sentence,
        row_number() over (
            partition by templates.template_key
            order by
                triple_claims.claim_key is distinct from templates.claim_key,
                claim_evidence.rank,
                claim_evidence.claim_key
        ) as place
    from templates
    inner join triple_claims
        on templates.triple_id = triple_claims.triple_id
    inner join claim_evidence
        on triple_claims.claim_key = claim_evidence.claim_key

),

evidence_listed as (

    select
        template_key,
        string_agg(
            concat(
                predicate_or_rela, ' (', kb, ', ', match_level,
                case when pmid is not null then concat(', PMID ', pmid) end, ')'),
            '; ' order by place
        ) as evidence
    from evidence_ranked
    where place <= {{ var('evidence_rows') }}
    group by all

),

first_sentence as (

    select
        template_key,
        predicate_or_rela,
        sentence
    from evidence_ranked
    where sentence is not null
    qualify row_number() over (partition by template_key order by place) = 1

),

first_relation as (

    select
        template_key,
        predicate_or_rela
    from evidence_ranked
    where place = 1

),

parts as (

    select
        templates.template_key,
        evidence_listed.evidence,
        replace(
            replace(pattern.text, '{subject}', {{ render_label('subjects.label') }}),
            '{answer}', labels.label
        ) as pattern_text,
        replace(why.text, '{why}', trim(first_why.why)) as why_text,
        replace(
            replace(definition.text, '{answer_name}', concepts.name),
            '{definition}', concepts.definition
        ) as definition_text,
        coalesce(
            replace(
                replace(sentence.text, '{predicate}', first_sentence.predicate_or_rela),
                '{sentence}', trim(first_sentence.sentence)
            ),
            replace(curated.text, '{predicate}', first_relation.predicate_or_rela)
        ) as evidence_text
    from templates
    inner join events as subjects
        on templates.subject_event_key = subjects.event_key
    inner join labels
        on templates.answer_option_key = labels.option_key
    inner join texts as pattern
        on templates.task = pattern.task
        and templates.answer_event_type = pattern.answer_type
        and pattern.part = 'pattern'
    inner join texts as why
        on why.part = 'why'
    inner join texts as definition
        on definition.part = 'definition'
    inner join texts as sentence
        on sentence.part = 'sentence'
    inner join texts as curated
        on curated.part = 'curated'
    left join concepts
        on templates.answer_cui_id = concepts.cui_id
    left join first_why
        on templates.triple_id = first_why.triple_id
    left join evidence_listed
        on templates.template_key = evidence_listed.template_key
    left join first_sentence
        on templates.template_key = first_sentence.template_key
    left join first_relation
        on templates.template_key = first_relation.template_key

),

written as (

    select
        template_key,
        concat_ws(' ', pattern_text, why_text, definition_text, evidence_text) as rationale,
        evidence
    from parts

)

select * from written
