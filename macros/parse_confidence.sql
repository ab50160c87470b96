{#- The confidence that a reply states, as decimal(4, 3) from 0 to 1: the last whole number from 0 to
    100 after the word confidence, reasoning left out. Null when there is none. -#}
{% macro parse_confidence(text) -%}
{%- set pattern -%}
(?i)confidence(?:[^0-9a-z]{0,12}(?:level|is|of|score))*[^0-9a-z]{0,12}([0-9]{1,3})(?:[^0-9.,]|[.,](?:[^0-9]|$)|$)
{%- endset -%}
list_transform(
    [try_cast(regexp_extract_all({{ strip_reasoning(text) }}, '{{ pattern }}', 1)[-1] as integer)],
    lambda percent: case
        when percent between 0 and 100 then cast(percent / 100.0 as decimal(4, 3))
    end
)[1]
{%- endmacro %}
