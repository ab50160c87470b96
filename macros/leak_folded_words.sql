{#- Words of a text as a list, folded so that two ways to write one name give the same words: what
    leak_words folds, British digraphs (ae, oe, our, sulph) and the plural s of longer words. -#}
{% macro leak_folded_words(text) -%}
{%- set words = leak_words(text) -%}
{%- set spelled -%}
replace(replace(regexp_replace({{ words }}, '[ao]e', 'e', 'g'), 'sulph', 'sulf'), 'our ', 'or ')
{%- endset -%}
{%- set singular -%}
regexp_replace(regexp_replace(
    {{ spelled }}, '([a-z]{3})ies ', '\1y ', 'g'), '([a-z]{3}[a-hj-rtv-z])s ', '\1 ', 'g')
{%- endset -%}
string_split(trim({{ singular }}), ' ')
{%- endmacro %}
