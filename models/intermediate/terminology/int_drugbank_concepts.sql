-- DrugBank's drugs and their concepts: by the code of the Metathesaurus' DrugBank atoms, else by
-- UNII, else by a name that belongs to one substance only.
with entries as (

    select * from {{ ref('int_drugbank_entries') }}

),

atoms as (

    select * from {{ ref('int_terminology_atoms') }}

),

retired_cuis as (

    select * from {{ ref('int_retired_cuis') }}

),

semantic_types as (

    select * from {{ ref('stg_umls__semantic_types') }}

),

semantic_type_groups as (

    select * from {{ ref('semantic_type_groups') }}

),

drugbank_link_sources as (

    select * from {{ ref('drugbank_link_sources') }}

),

code_hits as (

    select
        entries.drugbank_id,
        atoms.cui_id,
        drugbank_link_sources.link_rank as step,
        drugbank_link_sources.method,
    from entries
    cross join drugbank_link_sources
    inner join atoms
        on
            drugbank_link_sources.sab = atoms.sab
            and case drugbank_link_sources.method
                when 'code' then entries.drugbank_id
                else entries.unii
            end = atoms.code

),

names as (

    select distinct
        drugbank_id,
        {{ norm_label('name') }} as name_text,
    from entries
    where name is not null

),

name_texts as (

    select distinct name_text
    from names

),

substances as (

    select distinct {{ cui_id('semantic_types.cui') }} as cui_id
    from semantic_types
    inner join semantic_type_groups
        on
            semantic_types.tui = semantic_type_groups.tui
            and semantic_type_groups.semantic_group = 'CHEM'

),

-- only names of substances are normalised: materialized, else the planner does it to all names
substance_names as materialized (

    select
        atoms.cui_id,
        atoms.name,
    from atoms
    inner join substances
        on atoms.cui_id = substances.cui_id

),

named_atoms as (

    select distinct
        name_texts.name_text,
        substance_names.cui_id,
    from substance_names
    inner join name_texts
        on {{ norm_label('substance_names.name') }} = name_texts.name_text

),

name_hits as (

    select
        names.drugbank_id,
        named_atoms.cui_id,
        100 as step,
        'name' as method,
    from names
    inner join named_atoms
        on names.name_text = named_atoms.name_text

),

hits as (

    select * from code_hits
    union all
    select * from name_hits

),

current_hits as (

    select distinct
        hits.drugbank_id,
        coalesce(retired_cuis.replacement_cui_id, hits.cui_id) as cui_id,
        hits.step,
        hits.method,
    from hits
    left join retired_cuis
        on hits.cui_id = retired_cuis.cui_id

),

best_hits as (

    select *
    from current_hits
    qualify step = min(step) over (partition by drugbank_id)

)

-- several concepts at one step say nothing
select
    drugbank_id,
    min(cui_id) as cui_id,
    min(method) as method,
from best_hits
group by all
having count(*) = 1
