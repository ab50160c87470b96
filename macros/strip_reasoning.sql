{#- Text of a reply without its reasoning: tagged blocks (`<think> … </think>` and the like, also
    when only the closing tag was written because the chat template opened the block) and the
    `## Thinking … ## Final Response` headings. Empty text when the reasoning is never closed:
    what is there then is no reply. Every known marker is looked for, whichever model wrote it. -#}
{% macro strip_reasoning(text) -%}
{%- set tag -%} (?:think|thinking|thought|reasoning) {%- endset -%}
{%- set heading -%} (?:^|\n)[ \t]*#{1,6}[ \t]* {%- endset -%}
{%- set final_heading -%} {{ heading }}(?i:final response)\b[ \t:*]* {%- endset -%}
list_transform(
    [regexp_replace(
        regexp_replace(
            replace({{ text }}, chr(13), ''),
            '(?is)<{{ tag }}>.*?</{{ tag }}\s*>', '', 'g'
        ),
        '(?is)^.*</{{ tag }}\s*>', ''
    )],
    lambda untagged: case
        when regexp_matches(untagged, '(?i)<{{ tag }}>') then ''
        when regexp_matches(untagged, '{{ final_heading }}')
            then regexp_replace(untagged, '(?s)^.*{{ final_heading }}', '')
        when regexp_matches(untagged, '{{ heading }}(?i:thinking)\b') then ''
        else untagged
    end
)[1]
{%- endmacro %}
