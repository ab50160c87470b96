{#- A list of folded words as one text without blanks, so that hyphens do not matter. Digraphs are
    folded again, since joining makes new ones: gastro-esophageal, gastroesophageal. -#}
{% macro leak_joined_words(words) -%}
regexp_replace(array_to_string({{ words }}, ''), '[ao]e', 'e', 'g')
{%- endmacro %}
