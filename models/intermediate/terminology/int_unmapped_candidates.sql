-- What a person would try first for a code or drug text without a concept: concepts whose name is a
-- part of a joint title ("hyposmolality and/or hyponatremia"), and the parts of an order that were
-- found. Suggestions for rpt_unmapped_codes, never a mapping.
with code_concepts as (

    select * from {{ ref('int_code_concepts') }}

),

titles as (

    select * from {{ ref('int_icd_titles') }}

),

cohort_codes as (

    select * from {{ ref('int_cohort_codes') }}

),

title_joints as (

    select * from {{ ref('title_joints') }}

),

concepts as (

    select * from {{ ref('int_concepts') }}

),

drug_texts as (

    select * from {{ ref('int_drug_text_concepts') }}

),

text_parts as (

    select * from {{ ref('int_drug_text_parts') }}

),

matches as (

    select * from {{ ref('int_drug_name_matches') }}

),

unmapped_codes as (

    select
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        coalesce(titles.title, cohort_codes.label) as title,
    from cohort_codes
    inner join code_concepts
        on
            cohort_codes.code_system = code_concepts.code_system
            and cohort_codes.normalized_code = code_concepts.normalized_code
            and code_concepts.cui_id is null
    left join titles
        on
            cohort_codes.code_system = titles.code_system
            and cohort_codes.normalized_code = titles.normalized_code
    where cohort_codes.is_coded

),

joint_pattern as (

    select string_agg(pattern, '|' order by pattern) as pattern
    from title_joints

),

title_parts as (

    select distinct
        unmapped_codes.code_system,
        unmapped_codes.normalized_code,
        unnest(regexp_split_to_array(lower(unmapped_codes.title), joint_pattern.pattern)) as part,
    from unmapped_codes
    cross join joint_pattern
    where joint_pattern.pattern is not null

),

part_texts as (

    select
        code_system,
        normalized_code,
        {{ norm_label('part') }} as part_text,
    from title_parts

),

concept_texts as (

    select
        cui_id,
        {{ norm_label('name') }} as name_text,
    from concepts
    where semantic_group in ('DISO', 'PROC')

),

code_candidates as (

    select distinct
        part_texts.code_system,
        part_texts.normalized_code,
        concept_texts.cui_id,
    from part_texts
    inner join concept_texts
        on part_texts.part_text = concept_texts.name_text
    where part_texts.part_text <> '  '

),

drug_candidates as (

    select distinct
        'DRUG_TEXT' as code_system,
        coalesce(drug_texts.normalized_text, lower(drug_texts.drug_text)) as normalized_code,
        matches.ingredient_cui_id as cui_id,
    from drug_texts
    left join text_parts
        on drug_texts.drug_text = text_parts.drug_text
    inner join matches
        on matches.name in (drug_texts.drug_text, text_parts.part_text)
    where
        drug_texts.cui_id is null
        and not drug_texts.is_non_drug

),

candidates as (

    select * from code_candidates
    union all
    select * from drug_candidates

)

select
    candidates.code_system,
    candidates.normalized_code,
    candidates.cui_id,
    concepts.name,
from candidates
inner join concepts
    on candidates.cui_id = concepts.cui_id
