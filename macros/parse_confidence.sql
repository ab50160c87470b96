{#- The confidence that a reply states, as struct(confidence, rest): decimal(4, 3) from 0 to 1 or
    null, and the reply without that statement, for parse_choice. Looked for, reasoning left out:
      the last number after the word confidence ("Confidence: 80", "confidence is 0.8"),
      the last per cent before it ("80% confident", "80 percent sure"),
      a reply that is a letter and a number in either order ("B, 80", "B (80%)", "0.8 - B").
    Numbers are per cent, but fractions where they have a decimal point, no per cent sign and are at
    most 1. A number over 100 or out of something else than 100 is none, and so is a range; a
    confidence interval is no confidence. -#}
{% macro parse_confidence(text) -%}
{%- set percent -%} (?:%|per\s?cent\b) {%- endset -%}
{%- set of_whole -%} \s*(?:/|(?:out\s+)?of\b)\s*[0-9]+ {%- endset -%}
{%- set to_end -%} \s?[–—-]\s?[0-9]+ {%- endset -%}
{%- set digits -%} (?:[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+) {%- endset -%}
{%- set number -%} {{ digits }}(?:{{ of_whole }}|{{ to_end }})?(?:\s*{{ percent }})? {%- endset -%}
{%- set scale -%} (?:\(0[^()\n]{1,20}100[^()\n]*\))? {%- endset -%}
{%- set cue_words -%} (?:[^0-9a-z]{0,12}(?:level|is|of|score|about)\b)* {%- endset -%}
{#- The last gap is as short as can be: the point of ".8" stays with its number. -#}
{%- set cue -%}
\bconfidence[^0-9a-z\n(.,]{0,4}{{ scale }}{{ cue_words }}[^0-9a-z]{0,12}?
{%- endset -%}
{%- set interval -%} \bconfidence\s+(intervals?|limits?)\b {%- endset -%}
{%- set sure -%} (?:confident|confidence|sure|certain|certainty)\b {%- endset -%}
{%- set before_sure -%} [0-9]+(?:[.,][0-9]+)?\s*{{ percent }} {%- endset -%}
{%- set link -%} [,;]?\s*(?:\b(?:and|with|at|an?|my|i\s?am|i[''’]m)\s+)* {%- endset -%}
{%- set lead_in -%} (?:the|my|final|best|correct|answer|option|choice|letter|is) {%- endset -%}
{%- set letter -%} (?:{{ lead_in }}\W{1,4})*([a-z]) {%- endset -%}
{%- set letter_first -%} ^\W*{{ letter }}\W{1,12}({{ number }})\W*$ {%- endset -%}
{%- set number_first -%} ^\W*({{ number }})\W{1,12}{{ letter }}\W*$ {%- endset -%}
list_transform(
    [regexp_replace({{ strip_reasoning(text) }}, '(?i){{ interval }}', '\1', 'g')],
    lambda bare: list_transform(
        [coalesce(
            regexp_extract_all(bare, '(?i){{ cue }}({{ number }})', 1)[-1],
            regexp_extract_all(bare, '(?i)({{ before_sure }})\s*{{ sure }}', 1)[-1],
            nullif(regexp_extract(bare, '(?i){{ letter_first }}', 2), ''),
            nullif(regexp_extract(bare, '(?i){{ number_first }}', 1), '')
        )],
        lambda amount: {
            'confidence': list_transform(
                [struct_pack(
                    share := try_cast(
                        replace(regexp_extract(amount, '^{{ digits }}'), ',', '.') as double
                    ),
                    is_fraction := regexp_matches(amount, '^[01]?[.,][0-9]+$')
                )],
                lambda read: cast(case
                    when regexp_matches(amount, '(?i)(?:/|of)\s*[0-9]')
                        and not regexp_matches(amount, '(?i)(?:/|of)\s*100\b') then null
                    when regexp_matches(amount, '{{ to_end }}') then null
                    when read.is_fraction and read.share <= 1 then read.share
                    when read.share <= 100 then read.share / 100
                end as decimal(4, 3))
            )[1],
            'rest': case
                when regexp_matches(bare, '(?i){{ letter_first }}')
                    then regexp_extract(bare, '(?i){{ letter_first }}', 1)
                when regexp_matches(bare, '(?i){{ number_first }}')
                    then regexp_extract(bare, '(?i){{ number_first }}', 2)
                else coalesce(
                    nullif(trim(regexp_replace(
                        {{ text }},
                        '(?i){{ link }}(?:{{ cue }}{{ number }}|{{ before_sure }}\s*{{ sure }})',
                        '', 'g'
                    )), ''),
                    {{ text }}
                )
            end
        }
    )[1]
)[1]
{%- endmacro %}
