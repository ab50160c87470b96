-- Concepts that a reply names. A sentence is cut into its runs of words, which are looked up among
-- the folded names by equality; where one name lies within a longer one, the longer one counts.
-- What is denied ("no sign of sepsis") is named all the same. Grain: reply × place × concept.
{%- set start_letters = var('open_start_letters') %}

with

replies as (

    select
        reply_key,
        min(reply) as reply
    from {{ ref('int_open_replies') }}
    group by reply_key

),

names as (

    select * from {{ ref('int_open_names') }}

),

noise as (

    select list(word order by word) as words from {{ ref('leak_noise_words') }}

),

longest as (

    select max(n_words) as n_words from names

),

-- A run can only be a name in order if its first word begins one, blanks aside ...
name_starts as (

    select distinct left(words_in_order, n) as word
    from (
        select
            words_in_order,
            unnest(range(1, {{ start_letters }} + 1)) as n
        from names
    )

),

-- ... and one that is turned round if each of its words is in one.
name_words as (

    select distinct unnest(string_split(words_sorted, ' ')) as word
    from names
    where n_words > 1

),

sentences as (

    select
        reply_key,
        unnest(range(1, len(parts) + 1)) as sentence,
        unnest(parts) as text
    from (
        select
            reply_key,
            string_split_regex(reply, '[;:!?\n]+|\.(?:\s|$)') as parts
        from replies
    )

),

sentence_words as (

    select
        sentences.reply_key,
        sentences.sentence,
        list_filter(
            {{ leak_folded_words('sentences.text') }},
            lambda w: w <> '' and not list_contains(noise.words, w)
        ) as words
    from sentences
    cross join noise

),

placed_words as (

    select
        reply_key,
        sentence,
        unnest(range(1, len(words) + 1)) as place,
        unnest(words) as word
    from sentence_words

),

looked_up as (

    select
        placed_words.reply_key,
        placed_words.sentence,
        placed_words.place,
        name_starts.word is not null as may_start,
        name_words.word is not null as is_name_word
    from placed_words
    left join name_starts
        -- A digraph may have lost the last letter of a name's first word: gastro-esophageal.
        on left(regexp_replace(placed_words.word, '(.)[ao]$', '\1'), {{ start_letters }})
            = name_starts.word
    left join name_words
        on placed_words.word = name_words.word

),

runs as (

    select
        *,
        count(*) filter (where not is_name_word) over (
            partition by reply_key, sentence
            order by place
        ) as run
    from looked_up

),

starts as (

    select
        reply_key,
        sentence,
        place as first_place,
        may_start,
        is_name_word,
        max(place) over (partition by reply_key, sentence, run) as run_end,
        max(place) over (partition by reply_key, sentence) as sentence_end
    from runs

),

spans_in_order as (

    select
        starts.reply_key,
        starts.sentence,
        starts.first_place,
        unnest(range(
            starts.first_place,
            least(starts.sentence_end, starts.first_place + longest.n_words - 1) + 1
        )) as last_place
    from starts
    cross join longest
    where starts.may_start

),

spans_turned as (

    select
        starts.reply_key,
        starts.sentence,
        starts.first_place,
        unnest(range(
            starts.first_place + 1,
            least(starts.run_end, starts.first_place + longest.n_words - 1) + 1
        )) as last_place
    from starts
    cross join longest
    where starts.is_name_word

),

windows_in_order as (

    select
        spans.reply_key,
        spans.sentence,
        spans.first_place,
        spans.last_place,
        {{ leak_joined_words('sentence_words.words[spans.first_place:spans.last_place]') }} as words
    from spans_in_order as spans
    inner join sentence_words
        on spans.reply_key = sentence_words.reply_key
        and spans.sentence = sentence_words.sentence

),

windows_turned as (

    select
        spans.reply_key,
        spans.sentence,
        spans.first_place,
        spans.last_place,
        array_to_string(
            list_sort(sentence_words.words[spans.first_place:spans.last_place]), ' '
        ) as words
    from spans_turned as spans
    inner join sentence_words
        on spans.reply_key = sentence_words.reply_key
        and spans.sentence = sentence_words.sentence

),

found as (

    select
        windows.reply_key,
        windows.sentence,
        windows.first_place,
        windows.last_place,
        names.cui_id,
        names.name_kind
    from windows_in_order as windows
    inner join names
        on windows.words = names.words_in_order

    union

    select
        windows.reply_key,
        windows.sentence,
        windows.first_place,
        windows.last_place,
        names.cui_id,
        names.name_kind
    from windows_turned as windows
    inner join names
        on windows.words = names.words_sorted

),

places as (

    select distinct
        reply_key,
        sentence,
        first_place,
        last_place
    from found

),

within_longer as (

    select distinct
        places.reply_key,
        places.sentence,
        places.first_place,
        places.last_place
    from places
    inner join places as longer
        on places.reply_key = longer.reply_key
        and places.sentence = longer.sentence
        and longer.first_place <= places.first_place
        and longer.last_place >= places.last_place
        and longer.last_place - longer.first_place > places.last_place - places.first_place

),

mentions as (

    select
        found.reply_key,
        cast(found.sentence as integer) as sentence,
        cast(found.first_place as integer) as first_place,
        cast(found.last_place as integer) as last_place,
        found.cui_id,
        max(found.name_kind) as name_kind
    from found
    anti join within_longer
        on found.reply_key = within_longer.reply_key
        and found.sentence = within_longer.sentence
        and found.first_place = within_longer.first_place
        and found.last_place = within_longer.last_place
    group by
        found.reply_key,
        found.sentence,
        found.first_place,
        found.last_place,
        found.cui_id

)

select * from mentions
