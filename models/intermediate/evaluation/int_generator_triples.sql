-- Triples of generators at equal numbers. Per task only visits in which every generator has
-- proposed something count, and of each generator as many triples as the one with fewest has there,
-- by one md5 order for all: what two generators share stays shared. A generator with next to no
-- triples takes no part, since it would leave none of the others. Context events do not depend on
-- the generator. The caps on templates act here on each generator alone, in one md5 order: in the
-- benchmark they act on all together, and what only a model proposes comes last there. A template
-- that fell to them there has no items, so nobody answers it. Grain: triple × generator.
with

generated as (

    select * from {{ ref('int_triple_generators') }}

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

triples as (

    select
        triple_id,
        visit_key,
        object_cui
    from {{ ref('fct_triples') }}

),

verdicts as (

    select
        triple_id,
        verdict,
        kb_verdict
    from {{ ref('fct_triple_verdicts') }}
    where policy = '{{ active_policy() }}'

),

candidates as (

    select * from {{ ref('int_template_candidates') }}
    where reason is null

),

proposed as (

    select
        generated.triple_id,
        generated.generator,
        generated.task,
        generated.person_group,
        triples.visit_key,
        {{ cui_id('triples.object_cui') }} as object_cui_id
    from generated
    semi join pooled_sources
        on generated.source = pooled_sources.source
    inner join triples
        on generated.triple_id = triples.triple_id

),

compared as (

    select
        task,
        generator
    from proposed
    group by
        task,
        generator
    having count(*) >= {{ var('enrichment_min_triples') }}

),

generators as (

    select
        task,
        count(*) as n_generators
    from compared
    group by task

),

visits_counted as (

    select
        proposed.task,
        proposed.visit_key,
        proposed.generator,
        count(*) as n
    from proposed
    semi join compared
        on proposed.task = compared.task
        and proposed.generator = compared.generator
    group by
        proposed.task,
        proposed.visit_key,
        proposed.generator

),

common_visits as (

    select
        visits_counted.task,
        visits_counted.visit_key,
        min(visits_counted.n) as n_wanted
    from visits_counted
    inner join generators
        on visits_counted.task = generators.task
    group by
        visits_counted.task,
        visits_counted.visit_key,
        generators.n_generators
    having count(*) = generators.n_generators

),

ordered as (

    select
        proposed.*,
        common_visits.n_wanted,
        row_number() over (
            partition by proposed.task, proposed.visit_key, proposed.generator
            order by
                {{ key(["'" ~ var('generator_seed') ~ "'", 'proposed.triple_id']) }},
                proposed.triple_id
        ) as place
    from proposed
    semi join compared
        on proposed.task = compared.task
        and proposed.generator = compared.generator
    inner join common_visits
        on proposed.task = common_visits.task
        and proposed.visit_key = common_visits.visit_key

),

chosen as (

    select * from ordered
    where place <= n_wanted

),

chosen_candidates as (

    select
        chosen.generator,
        candidates.*
    from chosen
    inner join candidates
        on chosen.triple_id = candidates.triple_id

),

{{ template_caps('capped', 'chosen_candidates', by=['generator']) }},

generator_triples as (

    select
        chosen.triple_id,
        chosen.generator,
        chosen.task,
        chosen.person_group,
        coalesce(chosen.object_cui_id, 0) as object_cui_id,
        cast(coalesce(verdicts.verdict = 'accepted', false) as integer) as is_accepted,
        cast(coalesce(verdicts.kb_verdict = 'accepted', false) as integer) as is_kb_accepted,
        capped.template_key,
        coalesce(capped.answer_cui_id, 0) as answer_cui_id
    from chosen
    left join verdicts
        on chosen.triple_id = verdicts.triple_id
    left join capped
        on chosen.triple_id = capped.triple_id
        and chosen.generator = capped.generator
        and capped.cap_reason is null

)

select * from generator_triples
