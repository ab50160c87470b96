-- No predicate both supports and contradicts a relation in the same direction; negation never
-- supports and only negation or a curated relation contradicts; hierarchy and identity say nothing
-- (they would be leaks); every relation has strong support; what supports it is denied in the same
-- direction; curated predicates are canonical, and every canonical one has a role somewhere.
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

not_denied as (

    select
        'support without its denial' as problem,
        supports.relation,
        supports.predicate_or_rela
    from predicate_map as supports
    left join predicate_map as denials
        on supports.relation = denials.relation
        and concat('NEG_', supports.predicate_or_rela) = denials.predicate_or_rela
        and supports.direction = denials.direction
        and denials.kb = 'semmeddb'
        and denials.role = 'contradict'
        and denials.strength = 'strong'
    where supports.kb = 'semmeddb'
        and supports.role = 'support'
        and supports.strength = 'strong'
        and denials.relation is null

),

without_role as (

    select
        'curated relation without a role' as problem,
        '' as relation,
        curated_relations.canonical_rela as predicate_or_rela
    from curated_relations
    left join predicate_map
        on curated_relations.canonical_rela = predicate_map.predicate_or_rela
        and predicate_map.kb = 'umls'
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
union all
select * from not_denied
union all
select * from without_role
