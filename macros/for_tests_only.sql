{#- Whether a generator belongs to tests (var test_generators): what it alone proposed is no
    template and counts in no report of yields. -#}
{% macro for_tests_only(generator) -%}
{{ generator }} in ('{{ var("test_generators") | join("', '") }}')
{%- endmacro %}
