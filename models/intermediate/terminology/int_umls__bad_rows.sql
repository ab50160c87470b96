{{ config(materialized='view') }}

-- Rows of the Metathesaurus files that could not be read as they stand. What the project leaves out
-- by choice (suppressed, not English, ...) is counted in int_terminology_quarantined instead.
with atoms as (

    select * from {{ ref('stg_umls__atoms') }}

),

semantic_types as (

    select * from {{ ref('stg_umls__semantic_types') }}

),

definitions as (

    select * from {{ ref('stg_umls__definitions') }}

),

relations as (

    select * from {{ ref('stg_umls__relations') }}

),

retired_cuis as (

    select * from {{ ref('stg_umls__retired_cuis') }}

),

attributes as (

    select * from {{ ref('stg_umls__attributes') }}

),

replacements as (

    select distinct cui_id from {{ ref('int_retired_cuis') }}

),

name_ranks as (

    select * from {{ ref('stg_umls__name_ranks') }}

),

problems as (

    {%- for table_name, relation, cui_columns, further in [
        ('mrconso', 'atoms', ['cui'], ''),
        ('mrsty', 'semantic_types', ['cui'], ''),
        ('mrdef', 'definitions', ['cui'], ''),
        ('mrrel', 'relations', ['cui1', 'cui2'], ''),
        ('mrcui', 'retired_cuis', ['cui'], "when rel <> 'DEL' and "
            ~ cui_id('replacement_cui') ~ " is null then 'malformed_cui' when rel = 'SY' and "
            ~ cui_id('cui') ~ " not in (select cui_id from replacements) "
            ~ "then 'replacement_cycle'"),
        ('mrsat', 'attributes', ['cui'], "when attribute_name = 'NDC' then ("
            ~ normalize_ndc('attribute_value') ~ ").status"),
        ('mrrank', 'name_ranks', [], "when name_rank is null then 'unreadable_rank'"),
    ] %}
    select
        'umls.{{ table_name }}' as source_table,
        source_file as file,
        source_row as row,
        case
            when line_problem in ('too_few_fields', 'too_many_fields') then line_problem
            {%- for column in cui_columns %}
            when {{ cui_id(column) }} is null then 'malformed_cui'
            {%- endfor %}
            {{ further }}
            else line_problem
        end as reason
    from {{ relation }}
    {{ 'union all' if not loop.last }}
    {%- endfor %}

)

select
    source_table,
    file,
    row,
    reason,
    case
        when reason in ('no_trailing_pipe', 'trimmed_12_digit', 'repaired_zero_padding')
            then 'repaired'
        else 'set_aside'
    end as action,
from problems
where
    reason is not null
    -- a whole NDC
    and reason <> 'mapped_format'
