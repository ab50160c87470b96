{#- struct(ndc11, status) of a drug code. Hyphens say which of the three ten-digit layouts a code
    has; without them ten digits stay undecided, while seven to nine can only be an eleven-digit
    code that lost its leading zeros to a number type (no labeler code is below 00002). Blanks of
    any kind around the code, also no-break spaces and invisible characters, do not count. -#}
{% macro normalize_ndc(ndc) -%}
{%- set blanks = "[\\s\\p{Z}\\p{Cc}\\p{Cf}]+" -%}
{%- set text = "cast(" ~ ndc ~ " as varchar)" -%}
{%- set text = "regexp_replace(" ~ text ~ ", '^" ~ blanks ~ "|" ~ blanks ~ "$', '', 'g')" -%}
case
    when {{ ndc }} is null or {{ text }} = '' or regexp_full_match({{ text }}, '[0-]+')
        then struct_pack(ndc11 := cast(null as varchar), status := 'missing_sentinel')
    when regexp_full_match({{ text }}, '[0-9]{11}')
        then struct_pack(ndc11 := {{ text }}, status := 'mapped_format')
    when regexp_full_match({{ text }}, '[0-9]{4}-[0-9]{4}-[0-9]{2}')
        then struct_pack(ndc11 := '0' || replace({{ text }}, '-', ''), status := 'mapped_format')
    when regexp_full_match({{ text }}, '[0-9]{5}-[0-9]{3}-[0-9]{2}')
        then struct_pack(
            ndc11 := substr({{ text }}, 1, 5) || '0' || replace(substr({{ text }}, 7), '-', ''),
            status := 'mapped_format'
        )
    when regexp_full_match({{ text }}, '[0-9]{5}-[0-9]{4}-[0-9]')
        then struct_pack(
            ndc11 := substr({{ text }}, 1, 5) || substr({{ text }}, 7, 4) || '0'
                || substr({{ text }}, 12),
            status := 'mapped_format'
        )
    when regexp_full_match({{ text }}, '[0-9]{5}-[0-9]{4}-[0-9]{2}')
        then struct_pack(ndc11 := replace({{ text }}, '-', ''), status := 'mapped_format')
    when regexp_full_match({{ text }}, '0[0-9]{11}')
        then struct_pack(ndc11 := substr({{ text }}, 2), status := 'trimmed_12_digit')
    when regexp_full_match({{ text }}, '[0-9]{10}')
        then struct_pack(ndc11 := cast(null as varchar), status := 'ambiguous_10_digit')
    when regexp_full_match({{ text }}, '[0-9]{7,9}')
        then struct_pack(ndc11 := lpad({{ text }}, 11, '0'), status := 'repaired_zero_padding')
    else struct_pack(ndc11 := cast(null as varchar), status := 'invalid_format')
end
{%- endmacro %}
