-- Two in five predications state what is true of coded concepts, well-known facts far more often
-- than others; the rest join any two concepts, one end in twenty coded. One in fifty is negated.
with

drawn as (

    select
        i,
        draw('predication', getvariable('seed'), i) as m
    from range(cast(getvariable('first') as bigint), cast(getvariable('beyond') as bigint))
        as numbers(i)

),

chosen as (

    select
        i,
        m,
        m % 1000 < 400 as is_fact,
        -- A fact's place among all: the cube brings a few to the top.
        common(getvariable('diagnoses_known') * 22, part(m, 0), 3) * 7919
            % (getvariable('diagnoses_known') * 22) as fact,
        any_concept(part(m, 1) + part(m, 3) / 65536) as a,
        any_concept(part(m, 2) + part(m, 0) / 65536) as b
    from drawn

),

numbered as (

    select
        i,
        m,
        fact % 22 as j,
        is_fact,
        cast(case
            when not is_fact then a
            when fact % 22 >= 20
                then getvariable('diagnoses_known') + getvariable('drugs_known')
                    + operation(fact // 22, fact % 22 - 20)
            when fact % 22 >= 14
                then getvariable('diagnoses_known') + remedy(fact // 22, fact % 22 - 14)
            else fact // 22
        end as bigint) as subject_number,
        cast(case
            -- No concept is said of itself.
            when not is_fact then (b + cast(a = b as integer)) % getvariable('concepts')
            when fact % 22 >= 14 then fact // 22
            when fact % 22 >= 8 then complication(fact // 22, fact % 22 - 8)
            else companion(fact // 22, fact % 22)
        end as bigint) as object_number
    from chosen

)

select
    i + 1 || ',' || i * 2 + 1 || ',"' || pmid_of(m) || '","'
    || case when m // 8000 % 50 = 0 then 'NEG_' else '' end
    || case
        when not is_fact then
            ['COEXISTS_WITH', 'AFFECTS', 'CAUSES', 'ASSOCIATED_WITH', 'INTERACTS_WITH',
             'LOCATION_OF', 'PREDISPOSES', 'STIMULATES'][cast(m // 1000 % 8 + 1 as integer)]
        when j < 8 then 'COEXISTS_WITH'
        when j < 14 then 'CAUSES'
        else 'TREATS'
    end
    || '","' || subjects.cui || '","' || subjects.name || '","' || subjects.semtype || '",1,"'
    || objects.cui || '","' || objects.name || '","' || objects.semtype || '",1,\N,\N,\N' as line
from numbered
inner join concepts as subjects
    on numbered.subject_number = subjects.number
inner join concepts as objects
    on numbered.object_number = objects.number
order by i
