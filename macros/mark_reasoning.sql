{#- A reply whose model writes its reasoning between markers of its own (seed models, a JSON list of
    the opening and the closing one): those become the tags that strip_reasoning knows, so that
    everything downstream reads them alike, also when the reasoning is never closed. -#}
{% macro mark_reasoning(text, strip_markers) -%}
case
    when {{ strip_markers }} is null then {{ text }}
    else replace(
        replace({{ text }}, json_extract_string({{ strip_markers }}, '$[0]'), '<think>'),
        json_extract_string({{ strip_markers }}, '$[1]'), '</think>'
    )
end
{%- endmacro %}
