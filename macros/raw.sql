{#- The one door to files: a relation over a raw file with every column as text, in the order and
    under the names that the source's yml lists; an empty typed relation when the file is missing;
    the fixture in a unit test. Formats: csv (header, by name), semmeddb (no header, by
    position), fixed (one text column `line`), parquet (by name), listing (the paths alone). A file
    named .parquet is read as such whatever the format says.
    Columns are text, or of the type that `types` names; `native_types` leaves Parquet's own.
    `torn_lines` reads a line that is too short or too long instead of stopping at it: fields that
    are not there are null, and a line with more fields than the header keeps its place and loses
    them all (`marked`: but for a line break in the first, by which swallowed_lines() tells it).
    `delim: auto` takes tabs where the header has them. `looks` tells two files of one layout apart:
    the share of a column's values that match a pattern (macro check_looks).
    Three columns come from the reading and not from the file, when the yml lists them: _file (its
    name), _row (its row, from 1, headers not counted) and _site (the folder it lies in, as a
    name). -#}
{% macro raw(source_name, table_name) -%}
    {%- set relation = source(source_name, table_name) -%}
    {%- if not execute or relation.is_cte -%}{{ return(relation) }}{%- endif -%}
    {%- set node = graph.sources.values()
        | selectattr('source_name', 'equalto', source_name)
        | selectattr('name', 'equalto', table_name) | first -%}
    {%- set meta = node.config.meta or node.meta -%}
    {%- set files = source_files(source_name, meta) -%}
    {%- if files | length == 0 -%}{{ return(empty_relation(meta)) }}{%- endif -%}
    {{ return(adapter.dispatch('read_files')(source_name, table_name, meta, files)) }}
{%- endmacro %}

{% macro empty_relation(meta) -%}
(select
    {%- for column in meta['columns'] %}
    cast(null as {{ 'bigint' if column == '_row'
        else (meta.get('types') or {}).get(column, 'varchar') }}) as {{ column }}
    {{- ',' if not loop.last }}
    {%- endfor %}
where false)
{%- endmacro %}

{% macro default__read_files(source_name, table_name, meta, files) -%}
    {%- set paths = [] -%}
    {%- for file in files -%}
        {%- do paths.append("'" ~ file | replace("'", "''") ~ "'") -%}
    {%- endfor -%}
    {%- if meta['format'] == 'listing' -%}
        {{ return('(select unnest([' ~ paths | join(', ') ~ ']) as ' ~ meta['columns'][0] ~ ')') }}
    {%- endif -%}
    {#- Sites may differ in their formats and columns, and what a torn line lacks is told by the
        header, so each file is read by itself. -#}
    {%- set alone = meta.get('sites') or meta.get('torn_lines') -%}
    {%- set groups = paths | batch(1) | list if alone else [paths] -%}
    {%- set selects = [] -%}
    {%- for group in groups -%}
        {%- do selects.append(read_group(source_name, table_name, meta, group)) -%}
    {%- endfor -%}
    {{ return('(' ~ selects | join('\nunion all\n') ~ ')') }}
{%- endmacro %}

{#- How files of one layout are read: `reader`, an SQL expression; `format`; `titles` of the header,
    where they are told by the first line alone (torn_lines). -#}
{% macro file_reader(meta, paths) -%}
    {%- set path_list = '[' ~ paths | join(', ') ~ ']' -%}
    {%- set names = meta['columns'] | reject('in', ['_file', '_row', '_site']) | list -%}
    {%- set format = 'parquet' if (paths[0] | lower).endswith(".parquet'")
        else meta['format'] -%}
    {%- set encoding = ", encoding = '" ~ meta.get('encoding', 'utf-8') ~ "'" -%}
    {%- set filename = ", filename = '_path'" -%}
    {%- set titles = [] -%}
    {%- if format == 'csv' and meta.get('torn_lines') -%}
        {%- set header = first_text_line(paths[0], meta.get('encoding', 'utf-8')) -%}
        {#- Vocabularies from Athena are named .csv and hold tabs and no quoting. -#}
        {%- set tabs = meta.get('delim') == 'auto' and '\t' in header -%}
        {%- set typed = [] -%}
        {%- for title in header.split('\t' if tabs else ',') -%}
            {%- do titles.append(title | trim | trim('"') | trim | lower) -%}
            {#- A title that nobody asks for may be empty, or there twice. -#}
            {%- do typed.append("'" ~ (titles[-1] if titles[-1] in names
                else 'column_' ~ loop.index) ~ "': 'VARCHAR'") -%}
        {%- endfor -%}
        {#- Nothing is guessed: a guess takes a first `#` for a comment and drops the row. -#}
        {%- set reader = "read_csv(" ~ paths[0] ~ ", header = true, auto_detect = false, "
            ~ ("delim = '\t', quote = '', escape = ''" if tabs
                else "delim = ',', quote = '\"', escape = '\"'")
            ~ ', null_padding = true, strict_mode = false, parallel = false'
            ~ ', max_line_size = 65536' ~ encoding ~ filename
            ~ ", columns = {" ~ typed | join(', ') ~ ", '_surplus': 'VARCHAR'})" -%}
    {%- elif format == 'csv' -%}
        {%- set reader = "read_csv(" ~ path_list ~ ", header = true, delim = ',', quote = '\"', "
            ~ "escape = '\"', all_varchar = true, union_by_name = true, comment = ''"
            ~ encoding ~ filename ~ ")" -%}
    {%- elif format == 'parquet' -%}
        {%- set reader = "read_parquet(" ~ path_list ~ ", union_by_name = true" ~ filename
            ~ (', file_row_number = true' if '_row' in meta['columns'] else '') ~ ")" -%}
    {%- else -%}
        {#- Not strict: line ends of two kinds in one file are no reason to stop. -#}
        {%- set reader = "read_csv(" ~ path_list ~ ", header = false, auto_detect = false, "
            ~ "delim = '\x01', quote = '', escape = '', strict_mode = false"
            ~ encoding ~ filename ~ ", columns = {'line': 'VARCHAR'})" -%}
    {%- endif -%}
    {{ return({'reader': reader, 'format': format, 'titles': titles}) }}
{%- endmacro %}

{% macro read_group(source_name, table_name, meta, paths) -%}
    {%- set how = file_reader(meta, paths) -%}
    {%- set reader, format, titles = how['reader'], how['format'], how['titles'] -%}
    {%- set names = meta['columns'] | reject('in', ['_file', '_row', '_site']) | list -%}
    {%- set found = titles -%}
    {%- if format in ('csv', 'parquet') -%}
        {%- set found = titles or run_query('describe select * from ' ~ reader).columns[0].values()
            | map('lower') | list -%}
        {%- do check_columns(source_name, table_name, meta, paths[0], found) -%}
    {%- endif -%}
    {%- do check_looks(source_name, table_name, meta, paths[0], reader) -%}
    {%- set given = {
        '_file': 'parse_filename(_path)',
        '_site': "regexp_replace(lower(parse_path(_path)[-2]), '[^a-z0-9]+', '_', 'g')",
        '_row': 'file_row_number + 1' if format == 'parquet' else 'row_number() over ()',
    } -%}
select
    {%- for name in meta['columns'] %}
    {%- if name in given %}
    {{ given[name] }} as {{ name }}
    {%- elif format == 'parquet' and name | lower in found and not meta.get('native_types') %}
    cast({{ name }} as {{ (meta.get('types') or {}).get(name, 'varchar') }}) as {{ name }}
    {%- elif format in ('csv', 'parquet') and name | lower not in found %}
    cast(null as {{ (meta.get('types') or {}).get(name, 'varchar') }}) as {{ name }}
    {%- elif titles %}
    case
        when coalesce(_surplus, '') = '' then {{ name }}
        {%- if meta['torn_lines'] == 'marked' and name == names[0] %}
        else chr(10)
        {%- endif %}
    end as {{ name }}
    {%- else %}
    {{ name }}
    {%- endif %}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ reader }}
{%- endmacro %}
