-- What a recorded code may stand for, best kind first: a code of the site's own billing vocabulary,
-- an ICD code that a dictionary knows (in one version or in both: the visit decides later), a code
-- that its form gives away, a standard concept, and at last the text. One row per candidate.
with coded_rows as (

    select distinct
        source,
        row_type,
        source_value,
        source_concept_id,
        concept_id,
    from {{ ref('int_omop__coded_rows') }}
    where set_aside_reason is null

),

concepts as (

    select * from {{ ref('int_omop__concepts') }}

),

dictionary as (

    select * from {{ ref('int_omop__icd_dictionary') }}

),

code_patterns as (

    select * from {{ ref('omop_code_patterns') }}

),

looked_up as (

    select
        coded_rows.*,
        upper(regexp_replace(coded_rows.source_value, '[\s.]+', '', 'g')) as bare_code,
        source_concepts.code_system as source_code_system,
        source_concepts.normalized_code as source_normalized_code,
        source_concepts.concept_code as source_concept_code,
        source_concepts.concept_name as source_concept_name,
        coalesce(source_concepts.is_source_vocabulary, false) as is_source_vocabulary,
        standard_concepts.code_system as standard_code_system,
        standard_concepts.normalized_code as standard_normalized_code,
        standard_concepts.concept_code as standard_concept_code,
        standard_concepts.concept_name as standard_concept_name,
    from coded_rows
    left join concepts as source_concepts
        on
            coded_rows.source = source_concepts.source
            and coded_rows.source_concept_id = source_concepts.concept_id
    left join concepts as standard_concepts
        on
            coded_rows.source = standard_concepts.source
            and coded_rows.concept_id = standard_concepts.concept_id

),

from_vocabulary as (

    select
        source,
        row_type,
        source_value,
        source_concept_id,
        concept_id,
        1 as choice_rank,
        'source_vocabulary' as choice_method,
        source_code_system as code_system,
        source_concept_code as source_code,
        source_normalized_code as normalized_code,
        source_concept_name as label,
        1 as version_rank,
    from looked_up
    where
        is_source_vocabulary
        and source_normalized_code is not null

),

from_dictionary as (

    select
        looked_up.source,
        looked_up.row_type,
        looked_up.source_value,
        looked_up.source_concept_id,
        looked_up.concept_id,
        2 as choice_rank,
        'icd_dictionary' as choice_method,
        dictionary.code_system,
        looked_up.source_value as source_code,
        dictionary.normalized_code,
        cast(null as varchar) as label,
        dictionary.version_rank,
    from looked_up
    inner join dictionary
        on
            looked_up.row_type = dictionary.code_kind
            and looked_up.bare_code = dictionary.bare_code
    where looked_up.source_code_system is null

),

from_pattern as (

    select
        looked_up.source,
        looked_up.row_type,
        looked_up.source_value,
        looked_up.source_concept_id,
        looked_up.concept_id,
        3 as choice_rank,
        'code_pattern' as choice_method,
        code_patterns.code_system,
        looked_up.source_value as source_code,
        looked_up.bare_code as normalized_code,
        coalesce(looked_up.source_concept_name, looked_up.standard_concept_name) as label,
        code_patterns.pattern_rank as version_rank,
    from looked_up
    inner join code_patterns
        on
            looked_up.row_type = code_patterns.row_type
            and regexp_full_match(looked_up.bare_code, code_patterns.pattern)
    where
        looked_up.source_code_system is null
        and looked_up.source_concept_id = looked_up.concept_id
    qualify row_number() over (
        partition by
            looked_up.source, looked_up.row_type, looked_up.source_value,
            looked_up.source_concept_id
        order by code_patterns.pattern_rank, code_patterns.pattern
    ) = 1

),

from_standard as (

    select
        source,
        row_type,
        source_value,
        source_concept_id,
        concept_id,
        4 as choice_rank,
        'standard_concept' as choice_method,
        standard_code_system as code_system,
        standard_concept_code as source_code,
        standard_normalized_code as normalized_code,
        standard_concept_name as label,
        1 as version_rank,
    from looked_up
    where standard_normalized_code is not null

),

from_source_concept as (

    select
        source,
        row_type,
        source_value,
        source_concept_id,
        concept_id,
        5 as choice_rank,
        'source_concept' as choice_method,
        source_code_system as code_system,
        source_concept_code as source_code,
        source_normalized_code as normalized_code,
        source_concept_name as label,
        1 as version_rank,
    from looked_up
    where source_normalized_code is not null

),

from_text as (

    select
        source,
        row_type,
        source_value,
        source_concept_id,
        concept_id,
        6 as choice_rank,
        'text' as choice_method,
        'SOURCE_TEXT' as code_system,
        coalesce(source_value, standard_concept_name, source_concept_name) as source_code,
        lower(regexp_replace(
            coalesce(source_concept_name, source_value, standard_concept_name),
            '\s+', ' ', 'g'
        )) as normalized_code,
        coalesce(source_concept_name, source_value, standard_concept_name) as label,
        1 as version_rank,
    from looked_up
    where coalesce(source_concept_name, source_value, standard_concept_name) is not null

),

candidates as (

    select * from from_vocabulary
    union all
    select * from from_dictionary
    union all
    select * from from_pattern
    union all
    select * from from_standard
    union all
    select * from from_source_concept
    union all
    select * from from_text

),

best as (

    select *
    from candidates
    qualify choice_rank = min(choice_rank) over (
        partition by source, row_type, source_value, source_concept_id, concept_id
    )

)

select
    *,
    count(*) over (
        partition by source, row_type, source_value, source_concept_id, concept_id
    ) as n_candidates,
from best
