{#- Name of the code system of a MIMIC code; null for a version that is neither 9 nor 10. -#}
{% macro icd_code_system(icd_version, code_kind) -%}
case {{ icd_version }}
    when 9 then '{{ "ICD9CM" if code_kind == "diagnosis" else "ICD9PROC" }}'
    when 10 then '{{ "ICD10CM" if code_kind == "diagnosis" else "ICD10PCS" }}'
end
{%- endmacro %}
