{#- First line of a text file that is not blank; empty when there is none. `path` is an SQL
    literal. Read by one thread: of a large file, two would race for which line comes first. -#}
{% macro first_text_line(path, encoding) -%}
    {%- set found = run_query("select line from read_csv(" ~ path
        ~ ", header = false, auto_detect = false, delim = '\x01', quote = '', escape = '', "
        ~ "new_line = '\\n', strict_mode = false, encoding = '" ~ encoding
        ~ "', parallel = false, columns = {'line': 'VARCHAR'}) where line is not null limit 1"
        ).columns[0].values() -%}
    {{ return((found | first) or '') }}
{%- endmacro %}

{#- A path that is an SQL literal and a glob pattern, as a user wrote it. -#}
{% macro shown_path(path) -%}
    {{ return(path[1:-1] | replace("''", "'") | replace('[*]', '*') | replace('[?]', '?')
        | replace('[[]', '[')) }}
{%- endmacro %}
