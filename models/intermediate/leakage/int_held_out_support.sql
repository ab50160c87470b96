-- One row per sampled template x source of knowledge held out: how many concepts could stand
-- beside its answer if the exclusion had not read that source (by the number of their own answers,
-- which is how often a concept is shown), and how many of them that source supports for a scenario
-- event. What only the held out source links would come back as a distractor; what another links
-- too would not. `all` holds out every source at once. The sample is by md5, so the cost does not
-- grow with the benchmark.
with

templates as (

    select * from {{ ref('int_templates') }}
    qualify row_number() over (
        partition by source, task
        order by {{ key(['template_key', "'held out'"]) }}, template_key
    ) <= {{ var('held_out_templates') }}

),

vocabulary as (

    select * from {{ ref('int_answer_vocabulary') }}

),

scenario_concepts as (

    select scenario_found.*
    from {{ ref('int_scenario_concepts') }} as scenario_found
    inner join templates
        on scenario_found.template_number = templates.template_number

),

cooccurrence as (

    select * from {{ ref('int_concept_cooccurrence') }}

),

excluded as (

    select * from {{ ref('int_person_excluded_concepts') }}

),

conflicts as (

    select * from {{ ref('int_option_conflicts') }}

),

absurd as (

    select * from {{ ref('int_absurd_answers') }}

),

sharing_words as (

    select * from {{ ref('int_leak_shared_words') }}

),

relatives as (

    select * from {{ ref('int_concept_relatives') }}

),

edge_roles as (

    select * from {{ ref('int_edge_roles') }}
    where role in ('support', 'reverse_support')

),

curated_edges as (

    select * from {{ ref('int_curated_edges') }}

),

relations as (

    select distinct
        relation,
        task
    from {{ ref('relations') }}

),

-- Everything that the exclusion asks but for the knowledge base.
open_concepts as (

    select distinct
        templates.template_number,
        vocabulary.cui_id,
        vocabulary.n_answers
    from templates
    inner join scenario_concepts
        on templates.template_number = scenario_concepts.template_number
    inner join cooccurrence
        on scenario_concepts.cui_id = cooccurrence.scenario_cui_id
    inner join vocabulary
        on templates.pool_number = vocabulary.pool_number
        and cooccurrence.cui_id = vocabulary.cui_id
        and cooccurrence.event_type = vocabulary.event_type
    anti join excluded
        on templates.person_group = excluded.person_group
        and vocabulary.cui_id = excluded.cui_id
    anti join conflicts
        on templates.pool_number = conflicts.pool_number
        and templates.answer_cui_id = conflicts.cui_id
        and vocabulary.cui_id = conflicts.other_cui_id
    anti join absurd
        on templates.template_number = absurd.template_number
        and vocabulary.cui_id = absurd.cui_id
    anti join sharing_words
        on templates.template_number = sharing_words.template_number
        and vocabulary.cui_id = sharing_words.cui_id
    where vocabulary.cui_id <> templates.answer_cui_id

),

ends as (

    select cui_id from scenario_concepts
    union
    select cui_id from open_concepts

),

-- An equivalent is no step away, any other relative one.
near as (

    select
        cui_id,
        near_cui_id,
        min(steps) as steps,
        min(narrow_steps) as narrow_steps
    from (
        select
            ends.cui_id,
            relatives.relative_cui_id as near_cui_id,
            case when relatives.relation in ('self', 'equivalent') then 0 else 1 end as steps,
            case
                when relatives.relation in ('self', 'equivalent') then 0
                when relatives.relation in ('ancestor', 'descendant') then 1
                else 2
            end as narrow_steps
        from ends
        inner join relatives
            on ends.cui_id = relatives.cui_id

        union all

        select
            ends.cui_id,
            relatives.cui_id as near_cui_id,
            case when relatives.relation in ('self', 'equivalent') then 0 else 1 end as steps,
            case
                when relatives.relation in ('self', 'equivalent') then 0
                when relatives.relation in ('ancestor', 'descendant') then 1
                else 2
            end as narrow_steps
        from ends
        inner join relatives
            on ends.cui_id = relatives.relative_cui_id

        union all

        select
            cui_id,
            cui_id as near_cui_id,
            0 as steps,
            0 as narrow_steps
        from ends
    )
    group by
        cui_id,
        near_cui_id

),

-- Who states it: SemMedDB, or the vocabulary of the Metathesaurus. A link holds in either
-- direction, support in its own.
statements as (

    select
        relations.task,
        coalesce(curated_edges.sab, edge_roles.kb) as held_out,
        edge_roles.subject_cui_id,
        edge_roles.object_cui_id,
        bool_or(edge_roles.role = 'support') as supports
    from edge_roles
    inner join relations
        on edge_roles.relation = relations.relation
    left join curated_edges
        on edge_roles.kb = 'umls'
        and edge_roles.predicate_or_rela = curated_edges.rela
        and edge_roles.edge_subject_cui_id = curated_edges.subject_cui_id
        and edge_roles.edge_object_cui_id = curated_edges.object_cui_id
    group by
        relations.task,
        coalesce(curated_edges.sab, edge_roles.kb),
        edge_roles.subject_cui_id,
        edge_roles.object_cui_id

),

directed as (

    select
        task,
        held_out,
        subject_cui_id as one_cui_id,
        object_cui_id as other_cui_id,
        supports
    from statements

    union all

    select
        task,
        held_out,
        object_cui_id as one_cui_id,
        subject_cui_id as other_cui_id,
        false as supports
    from statements

),

pairs_asked as (

    select distinct
        scenario_concepts.task,
        scenario_concepts.cui_id as scenario_cui_id,
        open_concepts.cui_id
    from scenario_concepts
    inner join open_concepts
        on scenario_concepts.template_number = open_concepts.template_number

),

-- From the scenario's end first: what a source states about a concept or its relatives is less
-- than all pairs of relatives of both ends.
reached as (

    select
        directed.task,
        directed.held_out,
        near.cui_id as scenario_cui_id,
        directed.other_cui_id,
        min(near.steps) as steps,
        min(near.narrow_steps) filter (where directed.supports) as narrow_steps
    from directed
    inner join near
        on directed.one_cui_id = near.near_cui_id
    semi join pairs_asked
        on directed.task = pairs_asked.task
        and near.cui_id = pairs_asked.scenario_cui_id
    group by
        directed.task,
        directed.held_out,
        near.cui_id,
        directed.other_cui_id

),

-- At most one end may be a step away: `stepping` names which, so that the join of both ends never
-- meets two that are.
reached_stepping as (

    select
        *,
        'one' as stepping
    from reached

    union all

    select
        *,
        'other' as stepping
    from reached
    where steps = 0

),

near_stepping as (

    select
        *,
        'other' as stepping
    from near

    union all

    select
        *,
        'one' as stepping
    from near
    where steps = 0

),

-- Apart from pairs_asked, which the planner would join to one end alone.
met as materialized (

    select
        reached_stepping.task,
        reached_stepping.held_out,
        reached_stepping.scenario_cui_id,
        near_stepping.cui_id,
        coalesce(bool_or(reached_stepping.narrow_steps + near_stepping.narrow_steps <= 1), false)
            as supports
    from reached_stepping
    inner join near_stepping
        on reached_stepping.other_cui_id = near_stepping.near_cui_id
        and reached_stepping.stepping = near_stepping.stepping
    group by
        reached_stepping.task,
        reached_stepping.held_out,
        reached_stepping.scenario_cui_id,
        near_stepping.cui_id

),

pairs_linked as (

    select met.*
    from met
    semi join pairs_asked
        on met.task = pairs_asked.task
        and met.scenario_cui_id = pairs_asked.scenario_cui_id
        and met.cui_id = pairs_asked.cui_id

),

concepts_linked as (

    select
        open_concepts.template_number,
        open_concepts.cui_id,
        open_concepts.n_answers,
        pairs_linked.held_out,
        bool_or(pairs_linked.supports) as supports
    from open_concepts
    inner join scenario_concepts
        on open_concepts.template_number = scenario_concepts.template_number
    inner join pairs_linked
        on scenario_concepts.task = pairs_linked.task
        and scenario_concepts.cui_id = pairs_linked.scenario_cui_id
        and open_concepts.cui_id = pairs_linked.cui_id
    group by
        open_concepts.template_number,
        open_concepts.cui_id,
        open_concepts.n_answers,
        pairs_linked.held_out

),

concepts_freed as (

    select *
    from concepts_linked
    qualify count(*) over (partition by template_number, cui_id) = 1

    union all

    select
        template_number,
        cui_id,
        n_answers,
        'all' as held_out,
        bool_or(supports) as supports
    from concepts_linked
    group by
        template_number,
        cui_id,
        n_answers

),

free_counted as (

    select
        open_concepts.template_number,
        cast(sum(open_concepts.n_answers) filter (where concepts_linked.cui_id is null) as bigint)
            as n_free
    from open_concepts
    left join (select distinct template_number, cui_id from concepts_linked) as concepts_linked
        on open_concepts.template_number = concepts_linked.template_number
        and open_concepts.cui_id = concepts_linked.cui_id
    group by open_concepts.template_number

),

freed_counted as (

    select
        template_number,
        held_out,
        cast(sum(n_answers) as bigint) as n_freed,
        cast(coalesce(sum(n_answers) filter (where supports), 0) as bigint) as n_supported
    from concepts_freed
    group by
        template_number,
        held_out

),

sources_held_out as (

    select distinct
        task,
        held_out
    from statements

    union

    select distinct
        task,
        'all' as held_out
    from statements

),

counted as (

    select
        templates.template_key,
        templates.source,
        templates.task,
        sources_held_out.held_out,
        coalesce(free_counted.n_free, 0) as n_free,
        coalesce(freed_counted.n_freed, 0) as n_freed,
        coalesce(freed_counted.n_supported, 0) as n_supported
    from templates
    inner join sources_held_out
        on templates.task = sources_held_out.task
    inner join free_counted
        on templates.template_number = free_counted.template_number
    left join freed_counted
        on templates.template_number = freed_counted.template_number
        and sources_held_out.held_out = freed_counted.held_out

)

select * from counted
where n_free + n_freed > 0
