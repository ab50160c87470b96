{#- Dotted form of an ICD code; null for an empty code, an unknown version or kind. The version is
    part of the code: E850 is a whole ICD-9-CM code and the ICD-10-CM code E85.0. `code_kind` is
    diagnosis, procedure or an SQL expression that yields one of them. -#}
{% macro normalize_icd(code, icd_version, code_kind) -%}
{%- set text = "cast(" ~ code ~ " as varchar)" -%}
{%- set bare = "nullif(upper(regexp_replace(" ~ text ~ ", '[\\s.]+', '', 'g')), '')" -%}
{%- set version = "trim(cast(" ~ icd_version ~ " as varchar))" -%}
{%- set kind = "'" ~ code_kind ~ "'" if code_kind in ('diagnosis', 'procedure') else code_kind -%}
case {{ kind }} || '|' || {{ version }}
    when 'diagnosis|9' then
        regexp_replace({{ bare }}, '^(E[^.]{3}|[^E][^.]{2})([^.]+)$', '\1.\2')
    when 'diagnosis|10' then
        regexp_replace({{ bare }}, '^([^.]{3})([^.]+)$', '\1.\2')
    when 'procedure|9' then
        regexp_replace({{ bare }}, '^([^.]{2})([^.]+)$', '\1.\2')
    when 'procedure|10' then
        {{ bare }}
end
{%- endmacro %}
