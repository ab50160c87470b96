{#- DuckDB's way to read the formats that raw() alone cannot: the lines of SemMedDB dumps, and CSV
    files whose header has its own names (meta `header`: column -> name in the file). -#}
{% macro duckdb__read_files(source_name, table_name, meta, files) -%}
    {%- set is_parquet = (files[0] | lower).endswith('.parquet') -%}
    {%- if meta['format'] == 'semmeddb' and not is_parquet -%}
        {{ return(read_semmeddb(source_name, table_name, meta, files)) }}
    {%- elif meta['format'] == 'csv' and meta.get('header') and not is_parquet -%}
        {{ return(read_titled_csv(source_name, table_name, meta, files)) }}
    {%- endif -%}
    {{ return(default__read_files(source_name, table_name, meta, files)) }}
{%- endmacro %}

{#- A select over a SemMedDB dump. Its first lines are looked at before the build starts: a dump of
    another release, or with its columns in another order, stops it with one line. -#}
{% macro read_semmeddb(source_name, table_name, meta, files) -%}
    {%- set path_list = quoted_list(files) -%}
    {%- set pseudo = {'_file': 'parse_filename(_path)', '_row': '_row', '_problem': '_problem'} -%}
    {%- set names = meta['columns'] | reject('in', pseudo) | list -%}
    {%- set lines = semmeddb_lines(path_list, names, meta.get('encoding', 'latin-1')) -%}
    {%- set numbers = names | select('in', meta.get('types') or {}) | list -%}
    {%- set probe -%}
        select
            count(*) as n_lines,
            count(*) filter (where _problem is null) as n_sound
            {%- for name in numbers %},
            count(*) filter (where {{ name }} is not null
                and try_cast({{ name }} as bigint) is null) as not_{{ name }}
            {%- endfor %}
        from ({{ lines }} limit 100)
    {%- endset -%}
    {%- set seen = run_query(probe).rows[0] -%}
    {%- set file = shown_path(quoted_list(files[:1])[1:-1]) -%}
    {%- set release = '; only the dumps of VER43_2024_R are read: fetch that release' -%}
    {%- if seen['n_lines'] > 0 and seen['n_sound'] == 0 -%}
        {{ exceptions.raise_compiler_error(
            source_name ~ '.' ~ table_name ~ ': none of the first lines of ' ~ file ~ ' has '
            ~ names | length ~ ' fields (' ~ names[0] ~ ' ... ' ~ names[-1] ~ ')' ~ release) }}
    {%- endif -%}
    {%- for name in numbers if seen['n_sound'] > 0 and seen['not_' ~ name] >= seen['n_sound'] -%}
        {{ exceptions.raise_compiler_error(
            source_name ~ '.' ~ table_name ~ ': field ' ~ (names.index(name) + 1) ~ ' (' ~ name
            ~ ') is no number in ' ~ file ~ ', so its fields are in another order' ~ release) }}
    {%- endfor -%}
    {%- set selected = [] -%}
    {%- for name in meta['columns'] -%}
        {%- do selected.append(pseudo.get(name, name) ~ ' as ' ~ name) -%}
    {%- endfor -%}
    {{ return('(select ' ~ selected | join(', ') ~ ' from (' ~ lines ~ '))') }}
{%- endmacro %}

{#- A select over CSV files by the names of their own header. A copy that a spreadsheet saved with
    other separators has no such names and stops the build. -#}
{% macro read_titled_csv(source_name, table_name, meta, files) -%}
    {%- set pseudo = {'_file': 'parse_filename(_path)', '_row': 'row_number() over ()'} -%}
    {%- set path = quoted_list(files[:1])[1:-1] -%}
    {%- set titles = [] -%}
    {%- for title in first_text_line(path, 'utf-8').split(',') -%}
        {%- do titles.append(title | trim | trim('"') | trim) -%}
    {%- endfor -%}
    {%- set known = titles | map('lower') | list -%}
    {%- for name, title in meta['header'].items() if title | lower not in known -%}
        {{ exceptions.raise_compiler_error(
            source_name ~ '.' ~ table_name ~ ': column "' ~ title ~ '" is missing in '
            ~ shown_path(path)
            ~ '; fetch the original file (commas between its columns) instead of a re-saved copy'
            ) }}
    {%- endfor -%}
    {%- do check_columns(source_name, table_name, meta, path, known) -%}
    {%- set needed = required_titles(meta) -%}
    {%- set typed = [] -%}
    {%- for title in titles -%}
        {#- A title that nobody asks for may be empty, or there twice. -#}
        {%- set named = title if title | lower in needed else 'column_' ~ loop.index -%}
        {%- do typed.append("'" ~ named | replace("'", "''") ~ "': 'VARCHAR'") -%}
    {%- endfor -%}
    {%- set selected = [] -%}
    {%- for name in meta['columns'] -%}
        {%- if name in pseudo -%}
            {%- do selected.append(pseudo[name] ~ ' as ' ~ name) -%}
        {%- else -%}
            {%- set title = titles[known.index(meta['header'][name] | lower)] -%}
            {%- do selected.append('"' ~ title | replace('"', '""') ~ '" as ' ~ name) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return('(select ' ~ selected | join(', ') ~ ' from read_csv(' ~ quoted_list(files)
        ~ ", header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', "
        ~ "null_padding = true, strict_mode = false, parallel = false, filename = '_path', "
        ~ 'columns = {' ~ typed | join(', ') ~ '}))') }}
{%- endmacro %}
