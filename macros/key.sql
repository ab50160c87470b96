{#- md5 of the parts with a separator and a null token, so ('1','23') and ('12','3') differ. -#}
{% macro key(parts) -%}
md5(concat_ws('|'
    {%- for part in parts %}, coalesce(cast({{ part }} as string), '∅'){% endfor %}))
{%- endmacro %}
