{#- A path as a glob pattern that matches this path only: folders may hold [ ] * ? in a name. -#}
{% macro glob_literal(path) -%}
    {{ return(path | replace('[', '[[]') | replace('*', '[*]') | replace('?', '[?]')) }}
{%- endmacro %}
