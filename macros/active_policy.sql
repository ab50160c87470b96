{#- The evidence policy whose accepted triples become templates. -#}
{% macro active_policy() -%}
{{ return(var('active_policy', 'sound' if target.name == 'full' else 'open')) }}
{%- endmacro %}
