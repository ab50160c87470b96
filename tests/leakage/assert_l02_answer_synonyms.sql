-- Released items with a line of scenario or question that holds a name of the answer's concept as
-- whole words. Written apart from the rule: names of the Metathesaurus alone, searched as they are.
with

items as (

    select * from {{ ref('dim_items') }}
    where released

),

answer_keys as (

    select
        item_id,
        {{ cui_id('gold_cui') }} as cui_id
    from {{ ref('fct_answer_keys') }}

),

atoms as (

    select * from {{ ref('int_terminology_atoms') }}

),

noise as (

    select list(word order by word) as words from {{ ref('leak_noise_words') }}

),

ambiguous as (

    select {{ leak_joined_words(leak_folded_words('name')) }} as name_core
    from {{ ref('ambiguous_abbreviations') }}

),

texts as (

    select
        answer_keys.cui_id,
        items.scenario as text,
        min(items.item_id) as item_id
    from items
    inner join answer_keys
        on items.item_id = answer_keys.item_id
    group by all

    union all

    select
        answer_keys.cui_id,
        items.question as text,
        min(items.item_id) as item_id
    from items
    inner join answer_keys
        on items.item_id = answer_keys.item_id
    group by all

),

cut as (

    select
        cui_id,
        item_id,
        unnest(string_split(text, chr(10))) as line
    from texts

),

lines as (

    select
        cui_id,
        {{ leak_words('line') }} as line_words,
        min(item_id) as item_id
    from cut
    group by all

),

names as (

    select distinct
        cui_id,
        name
    from atoms
    where exists (
        select 1 from answer_keys
        where answer_keys.cui_id = atoms.cui_id
    )

),

names_folded as (

    select
        names.cui_id,
        {{ leak_words('names.name') }} as name_words,
        {{ leak_joined_words(
            'list_filter(' ~ leak_folded_words('names.name')
            ~ ', lambda w: not list_contains(noise.words, w))'
        ) }} as name_core
    from names
    cross join noise

)

select
    lines.item_id,
    names_folded.name_words
from lines
inner join names_folded
    on lines.cui_id = names_folded.cui_id
    and contains(lines.line_words, names_folded.name_words)
anti join ambiguous
    on names_folded.name_core = ambiguous.name_core
where length(names_folded.name_core) >= {{ var('leak_min_name_letters') }}
