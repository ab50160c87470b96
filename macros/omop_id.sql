{#- An id of OMOP as text: blanks off, and the ".0" that a table with empty cells gets when a tool
    made numbers of its ids. Text, because ids are signed 64-bit numbers that no float holds. -#}
{% macro omop_id(column) -%}
nullif(regexp_replace(trim({{ column }}), '\.0+$', ''), '')
{%- endmacro %}

{#- A concept id of OMOP as text; 0 stands for "no concept" and becomes null. -#}
{% macro omop_concept_id(column) -%}
nullif({{ omop_id(column) }}, '0')
{%- endmacro %}

{#- Whether an id went through a float and lost digits: it has a fraction or an exponent. -#}
{% macro omop_id_is_torn(id) -%}
coalesce(regexp_full_match({{ id }}, '[-+]?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?'), false)
{%- endmacro %}

{#- Text of a file's cell with the blanks around it gone; an empty one is null. -#}
{% macro omop_text(column) -%}
nullif(trim({{ column }}), '')
{%- endmacro %}

{#- A date, or date and time, as a timestamp; null when it cannot be read. -#}
{% macro omop_time(column) -%}
try_cast({{ omop_text(column) }} as timestamp)
{%- endmacro %}
