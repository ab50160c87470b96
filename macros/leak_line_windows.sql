{#- CTEs that cut every line of `lines` (leak_stem_lines) into its runs of words: `windows` has a
    row per line x run with the run in order without blanks (so that hyphens do not matter), its
    words sorted (so that "failure, heart" is found) and the word before it. Names are then found by
    equality. Noise words are left out first. Reads the CTE `noise` (seed leak_noise_words). -#}
{% macro leak_line_windows() -%}
line_words as (

    select
        lines.line_number,
        list_filter(
            {{ leak_folded_words('lines.line') }},
            lambda w: not list_contains(noise.words, w)
        ) as words
    from lines
    cross join noise

),

starts as (

    select
        line_number,
        words,
        unnest(range(1, len(words) + 1)) as first_place
    from line_words

),

spans as (

    select
        line_number,
        words,
        first_place,
        unnest(range(first_place, len(words) + 1)) as last_place
    from starts

),

windows as (

    select
        line_number,
        {{ leak_joined_words('words[first_place:last_place]') }} as words_in_order,
        array_to_string(list_sort(words[first_place:last_place]), ' ') as words_sorted,
        case when first_place > 1 then words[first_place - 1] end as word_before
    from spans

)
{%- endmacro %}
