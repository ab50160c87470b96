{#- Integer form of the first piece of a piped argument (`C0039667|1719`) that is a CUI; null when
    none is. Three pieces are looked at: gene identifiers follow the concept. -#}
{% macro first_cui_id(column) -%}
coalesce(
    {{ cui_id("split_part(" ~ column ~ ", '|', 1)") }},
    {{ cui_id("split_part(" ~ column ~ ", '|', 2)") }},
    {{ cui_id("split_part(" ~ column ~ ", '|', 3)") }}
)
{%- endmacro %}
