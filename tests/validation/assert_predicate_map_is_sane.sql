-- No predicate both supports and contradicts a relation in the same direction; negation never
-- supports and only negation or a curated relation contradicts; hierarchy and identity say nothing
-- (they would be leaks); every relation has strong support; curated predicates are canonical.
with

predicate_map as (

    select * from {{ ref('predicate_map') }}

),

curated_relations as (

    select distinct canonical_rela from {{ ref('curated_relations') }}

),

relations as (

    select distinct relation from {{ ref('relations') }}

),

two_sided as (

    select
        'supports and contradicts' as problem,
        one.relation,
        one.predicate_or_rela
    from predicate_map as one
    inner join predicate_map as other
        on one.relation = other.relation
        and one.kb = other.kb
        and one.predicate_or_rela = other.predicate_or_rela
    where one.role = 'support'
        and one.strength = 'strong'
        and other.role <> 'support'
        and (one.direction = other.direction or 'either' in (one.direction, other.direction))

),

negations as (

    select
        'negation and role do not fit' as problem,
        relation,
        predicate_or_rela
    from predicate_map
    where kb = 'semmeddb'
        and (substr(predicate_or_rela, 1, 4) = 'NEG_') <> (role = 'contradict')

),

leaks as (

    select
        'says nothing about a relation' as problem,
        relation,
        predicate_or_rela
    from predicate_map
    where replace(predicate_or_rela, 'NEG_', '') in ('ISA', 'SAME_AS', 'PART_OF')

),

unsupported as (

    select
        'relation without strong support' as problem,
        relations.relation,
        '' as predicate_or_rela
    from relations
    left join predicate_map
        on relations.relation = predicate_map.relation
        and predicate_map.role = 'support'
        and predicate_map.strength = 'strong'
    where predicate_map.relation is null

),

not_canonical as (

    select
        'curated relation is not read' as problem,
        predicate_map.relation,
        predicate_map.predicate_or_rela
    from predicate_map
    left join curated_relations
        on predicate_map.predicate_or_rela = curated_relations.canonical_rela
    where predicate_map.kb = 'umls'
        and curated_relations.canonical_rela is null

)

select * from two_sided
union all
select * from negations
union all
select * from leaks
union all
select * from unsupported
union all
select * from not_canonical
