-- The inputs of this build. release_id changes with them and with nothing else: no clock, no
-- completions, no truth tables. Of the largest tables only the ids are read. The project's own
-- inputs are its seeds (but for which models are asked, and those that only reports read), the active
-- policy, and the weights that the draw of distractors was calibrated to.
{%- set seed_digests = [] %}
{%- if execute %}
    {%- for node in graph.nodes.values() | selectattr('resource_type', 'equalto', 'seed')
        | rejectattr('name', 'in', ['models', 'run_plan']) | sort(attribute='name') %}
        {%- if 'report_only' not in node.config.tags %}
            {%- do seed_digests.append(node.name ~ '=' ~ node.checksum.checksum) %}
        {%- endif %}
    {%- endfor %}
{%- endif %}
{%- set inputs = [
    ('mimic_iv', 'patients', none), ('mimic_iv', 'admissions', none),
    ('mimic_iv', 'diagnoses_icd', none), ('mimic_iv', 'procedures_icd', none),
    ('mimic_iv', 'prescriptions', none), ('mimic_iv', 'emar', none),
    ('mimic_iv', 'd_icd_diagnoses', none), ('mimic_iv', 'd_icd_procedures', none),
    ('mimic_iii', 'patients', none), ('mimic_iii', 'admissions', none),
    ('mimic_iii', 'icustays', none), ('mimic_iii', 'diagnoses_icd', none),
    ('mimic_iii', 'procedures_icd', none), ('mimic_iii', 'prescriptions', none),
    ('mimic_iii', 'd_icd_diagnoses', none), ('mimic_iii', 'd_icd_procedures', none),
    ('omop', 'person', none), ('omop', 'visit_occurrence', none),
    ('omop', 'condition_occurrence', none), ('omop', 'procedure_occurrence', none),
    ('omop', 'drug_exposure', none), ('omop', 'concept', none), ('omop', 'site_concept', none),
    ('umls', 'atoms', none), ('umls', 'semantic_types', none), ('umls', 'definitions', none),
    ('umls', 'relations', none), ('umls', 'retired_cuis', none), ('umls', 'attributes', none),
    ('umls', 'name_ranks', none),
    ('semmeddb', 'predications', none), ('semmeddb', 'sentences', ['sentence_id', 'pmid']),
    ('semmeddb', 'predication_aux', ['predication_id']),
    ('semmeddb', 'citations', none), ('semmeddb', 'generic_concepts', none),
    ('icd', 'tabular_notes', none), ('icd', 'procedure_concepts', none),
    ('icd', 'i9_gems', none), ('icd', 'i10_gems', none),
    ('icd', 'icd9cm_titles', none), ('icd', 'icd9proc_titles', none),
    ('icd', 'icd10cm_titles', none), ('icd', 'icd10pcs_titles', none),
    ('icd', 'icd9cm_tree', none), ('icd', 'icd10cm_tree', none),
    ('atc', 'codes', none), ('atc', 'ingredients', none),
    ('drugbank', 'vocabulary', none), ('drugbank', 'drugs', none),
    ('drugbank', 'synonyms', none), ('drugbank', 'atc_codes', none),
    ('drugbank', 'interactions', none), ('drugbank', 'external_identifiers', none),
    ('pubmed', 'articles', none),
] %}
with

inputs as (

    {%- for source_name, table_name, columns in inputs %}
    {%- set relation = ref('stg_' ~ source_name ~ '__' ~ table_name) %}
    select
        '{{ source_name }}' as source,
        '{{ table_name }}' as table_name,
        count(*) as n_rows,
        {{ content_digest(relation, columns) }} as content_digest
    from {{ relation }}
    union all
    {%- endfor %}
    select
        'project' as source,
        'calibration' as table_name,
        count(*) as n_rows,
        {{ content_digest(ref('int_distractor_weights'), ['cui_id', 'weight']) }} as content_digest
    from {{ ref('int_distractor_weights') }}
    union all
    select
        'project' as source,
        'seeds' as table_name,
        {{ seed_digests | length }} as n_rows,
        '{{ local_md5((seed_digests + [active_policy()]) | join(';')) }}' as content_digest

),

data_classes as (

    select * from {{ ref('int_source_data_classes') }}

),

class_ranks as (

    select *
    from (values ('synthetic', 1), ('demo', 2), ('credentialed', 3))
        as listed (data_class, class_rank)

),

overall as (

    -- The most protected class among the loaded sources of patients.
    select coalesce(
        (
            select data_classes.data_class
            from data_classes
            inner join class_ranks
                on data_classes.data_class = class_ranks.data_class
            order by class_ranks.class_rank desc, data_classes.source
            limit 1
        ),
        'none'
    ) as data_class

),

source_classes as (

    -- The sites of an OMOP folder are read as one source.
    select
        families.source,
        max_by(families.data_class, class_ranks.class_rank) as data_class
    from (
        select
            case when source in ('mimic_iv', 'mimic_iii') then source else 'omop' end as source,
            data_class
        from data_classes
    ) as families
    inner join class_ranks
        on families.data_class = class_ranks.data_class
    group by families.source

),

releases as (

    select
        md5(string_agg(
            concat_ws('|', source, table_name, n_rows, content_digest), ';'
            order by source, table_name
        )) as release_id
    from inputs

)

select
    inputs.source,
    inputs.table_name,
    inputs.n_rows,
    inputs.content_digest,
    source_classes.data_class as source_data_class,
    overall.data_class,
    releases.release_id
from inputs
left join source_classes
    on inputs.source = source_classes.source
cross join overall
cross join releases
