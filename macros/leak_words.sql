{#- The words of a text after compatibility forms, accents, case and punctuation are folded, with
    single blanks around each: `contains(stem_words, words)` finds whole words only. -#}
{% macro leak_words(text) -%}
{{ norm_label('strip_accents(' ~ nfkc_ascii(text) ~ ')') }}
{%- endmacro %}
