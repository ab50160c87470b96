{#- Stops the build where a file lacks a column, has one twice, or is the file of another table.
    `path` is an SQL literal, `found` the titles of the file in lower case. -#}
{% macro check_columns(source_name, table_name, meta, path, found) -%}
    {%- set place = source_name ~ '.' ~ table_name ~ ': ' -%}
    {%- set file = shown_path(path) -%}
    {%- if found == [''] -%}
        {{ exceptions.raise_compiler_error(
            place ~ file ~ ' has no first line: fetch it again') }}
    {%- endif -%}
    {%- set own = required_titles(meta) -%}
    {%- set missing = own | reject('in', found) | list -%}
    {%- set other = other_table(source_name, table_name, meta, found) -%}
    {%- if other -%}
        {{ exceptions.raise_compiler_error(
            place ~ file ~ ' has the columns of ' ~ other ~ ': put each file in its place') }}
    {%- endif -%}
    {%- if missing -%}
        {{ exceptions.raise_compiler_error(
            place ~ 'column ' ~ missing[0] ~ ' is missing in ' ~ file
            ~ ('; convert it again' if (file | lower).endswith('.parquet')
                else '; use the release that README names, or restore the header')) }}
    {%- endif -%}
    {%- for title in own
        if found.count(title) > 1 or meta['format'] == 'csv' and title ~ '_1' in found -%}
        {{ exceptions.raise_compiler_error(
            place ~ 'column ' ~ title ~ ' is there twice in ' ~ file ~ ': take one out') }}
    {%- endfor -%}
{%- endmacro %}

{#- Titles that a file of a table must have, in lower case. -#}
{% macro required_titles(meta) -%}
    {%- set titles = [] -%}
    {%- for name in meta['columns'] | reject('in', ['_file', '_row', '_site', '_problem'])
        if name not in meta.get('optional', []) -%}
        {%- do titles.append((meta.get('header') or {}).get(name, name) | lower) -%}
    {%- endfor -%}
    {{ return(titles) }}
{%- endmacro %}

{#- The table whose file this is, where it is not its own: another one whose columns are all there
    while own ones are missing, or whose columns are more than all the own ones. Empty for none. -#}
{% macro other_table(source_name, table_name, meta, found) -%}
    {%- set own = required_titles(meta) -%}
    {%- set is_whole = own | reject('in', found) | list | length == 0 -%}
    {%- set best = namespace(name='', n=2) -%}
    {%- for node in graph.sources.values() -%}
        {%- set other = node.config.meta or node.meta -%}
        {%- set titles = required_titles(other) if other.get('format') in ('csv', 'parquet')
            and (node.source_name, node.name) != (source_name, table_name)
            and (node.source_name == source_name or not is_whole) else [] -%}
        {%- if titles | length > best.n and titles | reject('in', found) | list | length == 0
            and (not is_whole or titles | length > own | length
                and own | reject('in', titles) | list | length == 0) -%}
            {%- set best.name = node.source_name ~ '.' ~ node.name -%}
            {%- set best.n = titles | length -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(best.name) }}
{%- endmacro %}

{#- Stops the build where the values of a file are not those of its table. `looks` in a table's meta
    names a column, the pattern of its values, the least share of them that match, and the table
    of the same layout (`unless`). The first thousand values are looked at, and no fewer than
    twenty. -#}
{% macro check_looks(source_name, table_name, meta, path, reader) -%}
    {%- set looks = meta.get('looks') -%}
    {%- if looks -%}
        {%- set counts = run_query(
            'select count(*), count(*) filter (where regexp_matches(' ~ looks['column'] ~ ", '"
            ~ looks['pattern'] ~ "')) from (select " ~ looks['column'] ~ ' from ' ~ reader
            ~ ' where trim(' ~ looks['column'] ~ ") <> '' limit 1000)") -%}
        {%- set n = counts.columns[0].values() | first -%}
        {%- set n_like = counts.columns[1].values() | first -%}
        {%- if n >= 20 and n_like < n * looks['share'] -%}
            {{ exceptions.raise_compiler_error(
                source_name ~ '.' ~ table_name ~ ': ' ~ shown_path(path)
                ~ ' does not hold codes of ' ~ table_name ~ ', but perhaps those of ' ~ looks['unless']
                ~ ': put each file in its place') }}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
