{#- A line of a SemMedDB dump as the inside of a JSON array: NULL becomes null, and of the
    backslashes only those of \" and \\ stay. -#}
{% macro semmeddb_json(line) -%}
case
    when not contains({{ line }}, '\') then {{ line }}
    when not contains(replace({{ line }}, ',\N', ',null'), '\')
        then replace({{ line }}, ',\N', ',null')
    else regexp_replace(
        replace({{ line }}, ',\N', ',null'), '(\\\\|\\")|\\(.)', '\1\2', 'g')
end
{%- endmacro %}

{#- Fields of such a text as a list; null when it is no well-formed line. -#}
{% macro semmeddb_fields(text) -%}
try(from_json(concat('[', {{ text }}, ']'), '["VARCHAR"]'))
{%- endmacro %}

{#- The lines of a SemMedDB dump as columns, with _path, _row (from 1, blank lines not counted) and
    _problem (null for nearly all). Read line by line, so that a broken one never swallows its
    neighbours as it would in a CSV reader; a line is almost a JSON array, and a JSON parser is
    about as fast. Pure Jinja, since `ehrbench convert semmeddb` renders it too.
    torn_line: fields are missing at the end, only the first (the key) is kept. too_many_fields,
    unreadable_line: no field can be trusted, all are null. line_break, stray_quote: mended. -#}
{% macro semmeddb_lines(path_list, names, encoding) -%}
with

pieces as (

    select
        line,
        _path,
        row_number() over () as _row,
        lag(line) over () as line_before,
        lead(line) over () as line_after
    from read_csv(
        {{ path_list }}, header = false, auto_detect = false, delim = '{{ "\x01" }}', quote = '',
        escape = '', new_line = '\n', strict_mode = false,
        encoding = '{{ encoding }}', filename = '_path', columns = {'line': 'VARCHAR'}
    )
    where line is not null

),

texts as (

    select
        *,
        {{ semmeddb_json('line') }} as text
    from pieces

),

parsed as (

    select
        *,
        {{ semmeddb_fields('text') }} as whole
    from texts

),

-- What follows is computed for the few lines that are not well-formed. Tabs are no problem.
cleaned as (

    select
        *,
        case when whole is null then
            {{ semmeddb_fields(
                "regexp_replace(replace(text, chr(9), '\\t'), '[[:cntrl:]]', ' ', 'g')") }}
        end as plain,
        -- A text that holds a line end lies on two lines, neither of them whole.
        case when whole is null and {{ semmeddb_fields(semmeddb_json('line_after')) }} is null then
            {{ semmeddb_fields(
                "concat(" ~ semmeddb_json("rtrim(line, '\\')") ~ ", '\\n', "
                ~ semmeddb_json('line_after') ~ ")") }}
        end as joined,
        case when whole is null and {{ semmeddb_fields(semmeddb_json('line_before')) }} is null then
            {{ semmeddb_fields(
                "concat(" ~ semmeddb_json("rtrim(line_before, '\\')") ~ ", '\\n', "
                ~ semmeddb_json('line') ~ ")") }}
        end as joined_before
    from parsed

),

mended as (

    select
        *,
        -- A quote that is no neighbour of a comma does not close a field.
        case when whole is null and plain is null then
            {{ semmeddb_fields(
                "regexp_replace(regexp_replace(text, '([^,\\\\])\"([^,])', '\\1\\\\\"\\2', 'g'), "
                ~ "'([^,\\\\])\"([^,])', '\\1\\\\\"\\2', 'g')") }}
        end as requoted,
        case when whole is null and plain is null then
            {{ semmeddb_fields("concat(rtrim(text, '\\'), '\"')") }}
        end as cut_off
    from cleaned
    where joined_before is null or len(joined_before) <> {{ names | length }}

),

judged as (

    select
        _path,
        _row,
        case
            when len(coalesce(whole, plain)) = {{ names | length }} then null
            when len(coalesce(whole, plain)) < {{ names | length }} then 'torn_line'
            when len(coalesce(whole, plain)) > {{ names | length }} then 'too_many_fields'
            when len(joined) = {{ names | length }} then 'line_break'
            when len(requoted) = {{ names | length }} then 'stray_quote'
            when len(cut_off) < {{ names | length }} then 'torn_line'
            else 'unreadable_line'
        end as _problem,
        coalesce(whole, plain) as sound,
        joined,
        requoted,
        cut_off
    from mended

),

chosen as (

    select
        _path,
        _row,
        _problem,
        case
            when _problem is null then sound
            when _problem = 'torn_line' then coalesce(sound, cut_off)[:1]
            when _problem = 'line_break' then joined
            when _problem = 'stray_quote' then requoted
        end as fields
    from judged

)

select
    {%- for name in names %}
    nullif(fields[{{ loop.index }}], '') as {{ name }},
    {%- endfor %}
    _path,
    _row,
    _problem
from chosen
{%- endmacro %}
