-- Order texts, their parts and the names of the knowledge base go through the same treatment.
-- Each name has up to six keys, from the whole name to what is left without salts; a key is the
-- sorted set of its words, so that word order does not matter.
--   1 all words   2 without brackets, numbers and units   3 without forms, routes and noise
--   4 as 3, letters only   5 as 3, without salts   6 what the brackets hold
with drug_words as (

    select * from {{ ref('drug_words') }}

),

drug_word_patterns as (

    select * from {{ ref('drug_word_patterns') }}

),

drug_abbreviations as (

    select * from {{ ref('drug_abbreviations') }}

),

names as (

    select name from {{ ref('int_drug_atoms') }}
    union
    select drug_text as name from {{ ref('int_cohort_drug_texts') }}
    union
    select part_text as name from {{ ref('int_drug_text_parts') }}

),

variants as (

    select
        name,
        'whole' as variant,
        {{ drug_name_text('name') }} as name_text,
    from names
    union all
    select
        name,
        'bare' as variant,
        {{ drug_name_text("regexp_replace(name, '[(\\[][^)\\]]*[)\\]]', ' ', 'g')") }} as name_text,
    from names
    union all
    select
        name,
        'bracket' as variant,
        {{ drug_name_text("regexp_extract(name, '[(\\[]([^)\\]]*)[)\\]]', 1)") }} as name_text,
    from names

),

words as (

    select
        name,
        variant,
        unnest(string_split(name_text, ' ')) as word,
    from variants
    where name_text <> ''

),

pattern_words as (

    select
        words.word,
        min(drug_word_patterns.word_kind) as word_kind,
    from (select distinct word from words) as words
    inner join drug_word_patterns
        on regexp_full_match(words.word, drug_word_patterns.pattern)
    group by all

),

typed_words as (

    select
        words.name,
        words.variant,
        coalesce(drug_abbreviations.replacement, words.word) as word,
        case
            when regexp_full_match(words.word, '[0-9.]+') then 'number'
            else coalesce(drug_words.word_kind, pattern_words.word_kind, 'substance')
        end as word_kind,
    from words
    left join drug_abbreviations
        on words.word = drug_abbreviations.word
    left join drug_words
        on coalesce(drug_abbreviations.replacement, words.word) = drug_words.word
    left join pattern_words
        on words.word = pattern_words.word

),

key_words as (

    select
        name,
        1 as key_rank,
        word,
    from typed_words
    where variant = 'whole'
    union
    select
        name,
        2 as key_rank,
        word,
    from typed_words
    where
        variant = 'bare'
        and word_kind not in ('number', 'unit')
    union
    select
        name,
        3 as key_rank,
        word,
    from typed_words
    where
        variant = 'bare'
        and word_kind in ('substance', 'salt')
    union
    select
        name,
        4 as key_rank,
        regexp_replace(word, '[0-9.]', '', 'g') as word,
    from typed_words
    where
        variant = 'bare'
        and word_kind in ('substance', 'salt')
    union
    select
        name,
        5 as key_rank,
        word,
    from typed_words
    where
        variant = 'bare'
        and word_kind = 'substance'
    union
    select
        name,
        6 as key_rank,
        word,
    from typed_words
    where
        variant = 'bracket'
        and word_kind in ('substance', 'salt')

),

keys as (

    select
        name,
        cast(key_rank as integer) as key_rank,
        string_agg(word, ' ' order by word) as name_key,
    from key_words
    where word <> ''
    group by all

)

select *
from keys
-- what is left must be a word, not a letter or two
where
    key_rank = 1
    or regexp_matches(name_key, '[a-z]{3}')
