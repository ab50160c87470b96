{#- A drug name as lower-case words: accents off, punctuation to blanks, a number split from the
    unit behind it (15mg -> 15 mg), decimals kept whole. -#}
{% macro drug_name_text(name) -%}
trim(regexp_replace(regexp_replace(regexp_replace(
    lower(strip_accents({{ name }})),
    '\b([0-9][0-9.,]*)([a-z])', '\1 \2', 'g'),
    '[^a-z0-9.,]+|[.,]+([^0-9]|$)', ' \1', 'g'),
    '[^a-z0-9.]+', ' ', 'g'))
{%- endmacro %}
