{#- True when a dotted code lies in a range of code prefixes: its first length(code_from)
    characters are between code_from and code_to. -#}
{% macro code_in_range(code, code_from, code_to) -%}
substr({{ code }}, 1, length({{ code_from }})) between {{ code_from }} and {{ code_to }}
{%- endmacro %}
