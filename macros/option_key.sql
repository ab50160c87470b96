{#- Key of an option: its concept and event type, whatever role it plays in an item. -#}
{% macro option_key(cui_id, event_type) -%}
{{ key([cui_text(cui_id), event_type]) }}
{%- endmacro %}
