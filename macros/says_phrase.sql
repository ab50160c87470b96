{#- Do folded words (macro leak_words) say a phrase of the seed hedge_lexicon, and not its contrary:
    "not insufficient information", "none of the options is wrong"? -#}
{% macro says_phrase(words, phrase) -%}
{%- set before = [
    '(?:not|never|hardly|isn t|wasn t|aren t|is no|was no|without)(?: (?:an?|the|any|really|at all))?',
    'not (?:true|the case) that(?: [a-z0-9]+){0,4}',
] | join('|') -%}
{%- set after = [
    'wrong', 'incorrect', 'false', 'unlikely', 'implausible', 'unreasonable', 'excluded',
    'ruled out', 'eliminated',
] | join('|') -%}
{%- set verb -%}
(?:is|are|was|were|seems?|looks?|(?:can|could|should) be)(?: (?:clearly|obviously|really))?
{%- endset -%}
(
    contains({{ words }}, concat(' ', {{ phrase }}, ' '))
    and contains(
        regexp_replace(
            {{ words }},
            concat(
                ' (?:(?:{{ before }}) ', {{ phrase }}, '|',
                {{ phrase }}, ' {{ verb }} (?:{{ after }})) '
            ),
            ' ', 'g'
        ),
        concat(' ', {{ phrase }}, ' ')
    )
)
{%- endmacro %}
