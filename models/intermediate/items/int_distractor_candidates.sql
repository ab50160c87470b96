-- One row per template x concept that may stand beside its answer. The exponential is minus the
-- logarithm of a uniform number made of the two keys, as an integer.
with

templates as (

    select * from {{ ref('int_templates') }}

),

vocabulary as (

    select * from {{ ref('int_answer_vocabulary') }}

),

scenario_concepts as (

    select * from {{ ref('int_scenario_concepts') }}

),

cooccurrence as (

    select * from {{ ref('int_concept_cooccurrence') }}

),

linked as (

    select * from {{ ref('int_kb_linked_pairs') }}

),

excluded as (

    select * from {{ ref('int_person_excluded_concepts') }}

),

conflicts as (

    select * from {{ ref('int_option_conflicts') }}

),

critical as (

    select * from {{ ref('int_context_critical_pairs') }}

),

absurd as (

    select * from {{ ref('int_absurd_answers') }}

),

sharing_words as (

    select * from {{ ref('int_leak_shared_words') }}

),

plausible as (

    select distinct
        scenario_concepts.template_number,
        vocabulary.pool_number,
        vocabulary.task,
        vocabulary.cui_id
    from scenario_concepts
    inner join cooccurrence
        on scenario_concepts.cui_id = cooccurrence.scenario_cui_id
    inner join vocabulary
        on scenario_concepts.pool_number = vocabulary.pool_number
        and cooccurrence.cui_id = vocabulary.cui_id
        and cooccurrence.event_type = vocabulary.event_type

),

templates_linked as (

    select distinct
        scenario_concepts.template_number,
        linked.cui_id
    from scenario_concepts
    inner join linked
        on scenario_concepts.task = linked.task
        and scenario_concepts.cui_id = linked.scenario_cui_id

),

-- What the knowledge base links to the scenario could be right, unless the context rules it out.
not_linked as (

    select
        plausible.*,
        templates_linked.cui_id is not null as is_critical
    from plausible
    left join templates_linked
        on plausible.template_number = templates_linked.template_number
        and plausible.cui_id = templates_linked.cui_id
    left join critical
        on plausible.template_number = critical.template_number
        and plausible.cui_id = critical.cui_id
    where templates_linked.cui_id is null
        or critical.cui_id is not null

),

not_in_record as (

    select
        not_linked.*,
        templates.template_key,
        templates.answer_cui_id
    from not_linked
    inner join templates
        on not_linked.template_number = templates.template_number
    anti join excluded
        on templates.person_group = excluded.person_group
        and not_linked.cui_id = excluded.cui_id

),

-- A rare word of the scenario rules out an answer (L11), so it rules out a distractor too.
not_telling as (

    select not_in_record.*
    from not_in_record
    anti join absurd
        on not_in_record.template_number = absurd.template_number
        and not_in_record.cui_id = absurd.cui_id
    anti join sharing_words
        on not_in_record.template_number = sharing_words.template_number
        and not_in_record.cui_id = sharing_words.cui_id

),

not_like_answer as (

    select not_telling.*
    from not_telling
    anti join conflicts
        on not_telling.pool_number = conflicts.pool_number
        and not_telling.answer_cui_id = conflicts.cui_id
        and not_telling.cui_id = conflicts.other_cui_id
    where not_telling.cui_id <> not_telling.answer_cui_id

),

with_exponential as (

    select
        template_number,
        pool_number,
        cui_id,
        is_critical,
        cast(round(-100000000 * ln((
            cast(md5_number_lower({{ key(['template_key', 'cui_id', "'distractor'"]) }}) >> 11
                as double) + 0.5
        ) / 9007199254740992)) as bigint) as exponential
    from not_like_answer

),

candidates as (

    select
        template_number,
        pool_number,
        cui_id,
        exponential
    from with_exponential
    qualify not is_critical
        or row_number() over (
            partition by template_number, is_critical
            order by exponential, cui_id
        ) <= {{ var('max_context_critical') }}

)

select * from candidates
