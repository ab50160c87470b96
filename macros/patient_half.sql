{#- Half of the patients, 0 or 1, that a person falls into: md5 of the person, so that all sources
    of one person share it and no half changes when patients are added. -#}
{% macro patient_half(person_group) -%}
cast({{ md5_integer(key([person_group, "'half'"])) }} % 2 as integer)
{%- endmacro %}
