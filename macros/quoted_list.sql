{#- Texts as a SQL list of string literals. -#}
{% macro quoted_list(texts) -%}
    {%- set quoted = [] -%}
    {%- for text in texts -%}
        {%- do quoted.append("'" ~ text | replace("'", "''") ~ "'") -%}
    {%- endfor -%}
    {{ return('[' ~ quoted | join(', ') ~ ']') }}
{%- endmacro %}
