{{ config(tags=['portable']) }}

{%- set steps = 4 %}
-- The concept of a code and that of the nearest code above it in the classification's own tree
-- that has one: what MRREL's PAR says too, for a Metathesaurus subset that left it out. A code
-- has at most seven characters, so four steps up pass every gap.
with

icd_atoms as (

    select * from {{ ref('int_icd_atoms') }}

),

icd10cm_tree as (

    select * from {{ ref('stg_icd__icd10cm_tree') }}

),

icd9cm_tree as (

    select * from {{ ref('stg_icd__icd9cm_tree') }}

),

tree as (

    select
        'ICD10CM' as code_system,
        replace(code, '.', '') as bare_code,
        replace(parent_code, '.', '') as parent_code
    from icd10cm_tree
    where parent_code is not null

    union all

    select
        'ICD9CM' as code_system,
        replace(code, '.', '') as bare_code,
        replace(parent_code, '.', '') as parent_code
    from icd9cm_tree
    where parent_code is not null

),

titles as (

    select
        code_system,
        bare_code,
        cui_id
    from icd_atoms
    where mapping_method = 'exact_atom'

),

step_1 as (

    select distinct
        titles.code_system,
        titles.cui_id,
        tree.parent_code as above_code
    from titles
    inner join tree
        on titles.code_system = tree.code_system
        and titles.bare_code = tree.bare_code

),
{% for step in range(2, steps + 1) %}
step_{{ step }} as (

    select distinct
        step_{{ step - 1 }}.code_system,
        step_{{ step - 1 }}.cui_id,
        tree.parent_code as above_code
    from step_{{ step - 1 }}
    inner join tree
        on step_{{ step - 1 }}.code_system = tree.code_system
        and step_{{ step - 1 }}.above_code = tree.bare_code
    left join titles
        on step_{{ step - 1 }}.code_system = titles.code_system
        and step_{{ step - 1 }}.above_code = titles.bare_code
    where titles.cui_id is null

),
{% endfor %}
above as (
    {% for step in range(1, steps + 1) %}
    select * from step_{{ step }}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

)

select distinct
    above.cui_id,
    titles.cui_id as parent_cui_id
from above
inner join titles
    on above.code_system = titles.code_system
    and above.above_code = titles.bare_code
where above.cui_id <> titles.cui_id
