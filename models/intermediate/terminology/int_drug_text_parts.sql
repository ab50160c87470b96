-- The parts of an order text that names several drugs (a/b, a-b, a & b, a w/b); brackets are left
-- out first because strengths in them have slashes too.
with drug_texts as (

    select * from {{ ref('int_cohort_drug_texts') }}

),

split as (

    select
        drug_text,
        regexp_split_to_array(
            lower(regexp_replace(drug_text, '[(\[][^)\]]*[)\]]', ' ', 'g')),
            '\s*(/|&|\||\+|-+|\bw/|\bwith\b|\band\b)\s*'
        ) as parts,
    from drug_texts

),

numbered as (

    select
        drug_text,
        generate_subscripts(parts, 1) as part_number,
        unnest(parts) as part_text,
    from split
    where len(parts) > 1

)

select
    drug_text,
    cast(part_number as integer) as part_number,
    trim(part_text) as part_text,
from numbered
where trim(part_text) <> ''
