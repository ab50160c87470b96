{#- Branches of a `case`: the reason against a row of MIMIC-IV whose keys are empty or no numbers.
    `keys` maps each key, an expression, to its title in a header: a header that is repeated among
    the rows is told from a damaged key. No regular expression, for 20 M orders pass here. -#}
{% macro mimic_key_reasons(keys) -%}
{%- for key in keys %}
        when coalesce({{ key }}, '') = '' then 'missing_key'
{%- endfor %}
{%- for key, title in keys.items() %}
        when ltrim({{ key }}, '0123456789') <> ''
            then if(lower({{ key }}) = '{{ title }}', 'header_row', 'malformed_key')
{%- endfor %}
{%- endmacro %}
