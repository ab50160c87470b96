{#- Exponential key of a template's draw of a concept: minus the logarithm of a uniform number made of
    the two keys, as an integer. -#}
{% macro draw_exponential(template_key, cui_id) -%}
cast(round(-100000000 * ln((
    cast({{ md5_integer(key([template_key, cui_id, "'distractor'"])) }} >> 11 as double) + 0.5
) / 9007199254740992)) as bigint)
{%- endmacro %}
