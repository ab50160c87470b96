-- Every concept of the knowledge base with its kind and name, numbered.
create or replace temp table concepts as
with

kinds as (

    select
        'diagnosis' as kind,
        d as n,
        diagnosis_cui(d) as cui,
        diagnosis_name(d) as name,
        'dsyn' as semtype
    from range(getvariable('diagnoses_known')) as numbers(d)
    union all
    select
        'drug' as kind,
        r as n,
        drug_cui(r) as cui,
        drug_name(r) as name,
        'phsu' as semtype
    from range(getvariable('drugs_known')) as numbers(r)
    union all
    select
        'procedure' as kind,
        p as n,
        procedure_cui(p) as cui,
        procedure_name(p) as name,
        'topp' as semtype
    from range(getvariable('procedures_known')) as numbers(p)
    union all
    select
        'category' as kind,
        c as n,
        category_cui(c) as cui,
        'Diseases like ' || lower(diagnosis_name(c * 9)) as name,
        'dsyn' as semtype
    from range((getvariable('diagnoses_known') + 8) // 9) as numbers(c)
    union all
    select
        'other' as kind,
        x as n,
        other_cui(x) as cui,
        word(160000 + x) || ' factor' as name,
        ['aapp', 'gngm', 'dsyn', 'phsu', 'celf', 'orch'][x % 6 + 1] as semtype
    from range(
        getvariable('concepts') - getvariable('diagnoses_known') - getvariable('drugs_known')
        - getvariable('procedures_known') - (getvariable('diagnoses_known') + 8) // 9
    ) as numbers(x)

)

-- Coded concepts come first: 0 to 11,999 are the diagnoses, then drugs, procedures and the rest.
select
    row_number() over (
        order by
            list_position(['diagnosis', 'drug', 'procedure', 'other', 'category'], kind), n
    ) - 1 as number,
    *
from kinds
order by number
