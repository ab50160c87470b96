-- One row per template x concept that answers some template of its pool, whose label shares a rare
-- word with the template's scenario or question. Words count by their first letters, so that
-- "diabetes" meets "diabetic"; a longer beginning counts within a word of the other side too, so
-- that "hemorrhage" meets "posthemorrhagic". Rare is what few titles of the cohort have.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

texts as (

    select * from {{ ref('int_template_texts') }}

),

questions as (

    select * from {{ ref('int_question_texts') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

type_words as (

    select * from {{ ref('event_type_words') }}

),

noise as (

    select list(word order by word) as words from {{ ref('leak_noise_words') }}

),

vocabulary as (

    select distinct
        templates.pool_number,
        templates.answer_cui_id as cui_id,
        labels.label
    from templates
    inner join labels
        on templates.answer_option_key = labels.option_key

),

{{ leak_stem_lines() }},

titles as (

    select distinct label as title from events

),

-- Every line names its type; that word is in no way the answer's.
words_cut as (

    select
        'title' as kind,
        title as text,
        {{ leak_folded_words('title') }} as words
    from titles

    union all

    select
        'label' as kind,
        label as text,
        {{ leak_folded_words('label') }} as words
    from (select distinct label from vocabulary) as vocabulary_labels

    union all

    select
        'line' as kind,
        line as text,
        {{ leak_folded_words('line') }} as words
    from lines

    union all

    select
        'type' as kind,
        word as text,
        {{ leak_folded_words('word') }} as words
    from type_words

),

words_listed as (

    select
        words_cut.kind,
        words_cut.text,
        unnest(words_cut.words) as word
    from words_cut

),

text_words as (

    select distinct
        words_listed.kind,
        words_listed.text,
        words_listed.word
    from words_listed
    cross join noise
    where length(words_listed.word) >= {{ var('rare_word_letters') }}
        and not list_contains(noise.words, words_listed.word)

),

words as (

    select distinct word from text_words

),

pieces as (

    select
        word,
        unnest(range(1, length(word) - {{ var('rare_word_infix') }} + 2)) as place
    from words
    where length(word) >= {{ var('rare_word_infix') }}

),

beginnings as (

    select distinct substr(word, 1, {{ var('rare_word_infix') }}) as stem
    from pieces

),

-- What a word shares with others: its first letters, and the longer beginnings of words that it
-- holds anywhere.
word_stems as (

    select
        word,
        substr(word, 1, {{ var('rare_word_stem') }}) as stem,
        true as is_beginning
    from words

    union all

    select
        pieces.word,
        beginnings.stem,
        pieces.place = 1 as is_beginning
    from pieces
    inner join beginnings
        on substr(pieces.word, pieces.place, {{ var('rare_word_infix') }}) = beginnings.stem

),

stemmed as (

    select
        text_words.kind,
        text_words.text,
        word_stems.stem,
        bool_or(word_stems.is_beginning) as is_beginning
    from text_words
    inner join word_stems
        on text_words.word = word_stems.word
    group by
        text_words.kind,
        text_words.text,
        word_stems.stem

),

-- Numbered in the order of the stems, so that the first stem is the least number.
rare_words as (

    select
        cast(row_number() over (order by stem) as integer) as word_number,
        stem as word
    from stemmed
    group by stem
    having count(*) filter (where kind = 'title')
        <= {{ var('rare_word_share') }} * (select count(*) from titles)
        and count(*) filter (where kind = 'type') = 0

),

rare as (

    select
        stemmed.kind,
        stemmed.text,
        rare_words.word_number,
        stemmed.is_beginning
    from stemmed
    inner join rare_words
        on stemmed.stem = rare_words.word
    where stemmed.kind in ('label', 'line')

),

vocabulary_words as (

    select
        vocabulary.pool_number,
        vocabulary.cui_id,
        rare.word_number,
        rare.is_beginning
    from vocabulary
    inner join rare
        on rare.kind = 'label'
        and vocabulary.label = rare.text

),

line_words as (

    select
        lines.line_number,
        rare.word_number,
        rare.is_beginning
    from lines
    inner join rare
        on rare.kind = 'line'
        and lines.line = rare.text

),

-- Only words of some answer of the pool go on: a template repeats few of them.
template_words as (

    select
        templates.template_number,
        templates.pool_number,
        line_words.word_number,
        bool_or(line_words.is_beginning) as is_beginning
    from templates
    inner join stem_lines
        on templates.template_number = stem_lines.template_number
    inner join line_words
        on stem_lines.line_number = line_words.line_number
    where exists (
        select 1 from vocabulary_words
        where vocabulary_words.word_number = line_words.word_number
    )
    group by
        templates.template_number,
        templates.pool_number,
        line_words.word_number

),

shared as (

    select
        template_words.template_number,
        vocabulary_words.cui_id,
        min(template_words.word_number) as word_number
    from template_words
    inner join vocabulary_words
        on template_words.pool_number = vocabulary_words.pool_number
        and template_words.word_number = vocabulary_words.word_number
        and (template_words.is_beginning or vocabulary_words.is_beginning)
    group by
        template_words.template_number,
        vocabulary_words.cui_id

),

worded as (

    select
        shared.template_number,
        shared.cui_id,
        rare_words.word
    from shared
    inner join rare_words
        on shared.word_number = rare_words.word_number

)

select * from worded
