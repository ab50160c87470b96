{#- Names of seed match_levels, narrowest first, for columns that stand one per level; a test
    compares them with the seed. -#}
{% macro match_level_names() -%}
{{ return(['exact', 'equivalent', 'descendant', 'ancestor']) }}
{%- endmacro %}
