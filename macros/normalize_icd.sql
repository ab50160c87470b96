{#- Dotted form of an ICD code; null for an empty code, an unknown version or kind. The version is
    part of the code: E850 is a whole ICD-9-CM code and the ICD-10-CM code E85.0. `code_kind` is
    diagnosis, procedure or an SQL expression that yields one of them. Blanks of any kind, also the
    no-break space, control and invisible characters, are no part of a code. -#}
{% macro normalize_icd(code, icd_version, code_kind) -%}
{%- set text = "cast(" ~ code ~ " as varchar)" -%}
{%- set blanks = "\\s\\p{Z}\\p{Cc}\\p{Cf}" -%}
{%- set bare = "regexp_replace(" ~ text ~ ", '[" ~ blanks ~ ".]+', '', 'g')" -%}
{%- set bare = "nullif(upper(" ~ bare ~ "), '')" -%}
{%- set version = "cast(" ~ icd_version ~ " as varchar)" -%}
{%- set version = "regexp_replace(" ~ version ~ ", '[" ~ blanks ~ "]+', '', 'g')" -%}
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
