{#- A glob pattern that matches a file name in upper and lower case. -#}
{% macro any_case(pattern) -%}
    {%- set parts = [] -%}
    {%- for letter in pattern -%}
        {%- do parts.append(
            '[' ~ letter | lower ~ letter | upper ~ ']' if letter | lower != letter | upper
            else letter) -%}
    {%- endfor -%}
    {{ return(parts | join('')) }}
{%- endmacro %}
