{#- The one door to files: a relation over a raw file with every column as text, in the order and
    under the names that the source's yml lists; an empty typed relation when the file is missing;
    the fixture in a unit test. Formats: csv (header, by name), semmeddb (no header, by
    position), fixed (one text column `line`), parquet (by name), listing (the paths alone). A file named .parquet is read as such whatever the format says.
    Columns are text, or of the type that `types` names; `native_types` leaves Parquet's own.
    `torn_lines` reads a line that is too short or too long instead of stopping at it; `delim: auto`
    takes tabs where the header has them.
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
    {#- Sites may differ in their formats and columns, so each file is read by itself. -#}
    {%- set groups = [paths] if not meta.get('sites') else paths | batch(1) | list -%}
    {%- set selects = [] -%}
    {%- for group in groups -%}
        {%- do selects.append(read_group(source_name, table_name, meta, group)) -%}
    {%- endfor -%}
    {{ return('(' ~ selects | join('\nunion all\n') ~ ')') }}
{%- endmacro %}

{% macro read_group(source_name, table_name, meta, paths) -%}
    {%- set path_list = '[' ~ paths | join(', ') ~ ']' -%}
    {%- set names = meta['columns'] | reject('in', ['_file', '_row', '_site']) | list -%}
    {%- set format = 'parquet' if (paths[0] | lower).endswith(".parquet'")
        else meta['format'] -%}
    {%- set encoding = ", encoding = '" ~ meta.get('encoding', 'utf-8') ~ "'" -%}
    {%- set filename = ", filename = '_path'" -%}
    {%- if format == 'csv' -%}
        {#- Vocabularies from Athena are named .csv and hold tabs and no quoting. -#}
        {%- set tabs = meta.get('delim') == 'auto' and run_query(
            "select contains(line, '\t') from read_csv(" ~ paths[0] ~ ", header = false, "
            ~ "auto_detect = false, delim = '\x01', quote = '', escape = '', "
            ~ "columns = {'line': 'VARCHAR'}) limit 1").columns[0].values() | first -%}
        {%- set dialect = "delim = '\t', quote = '', escape = ''" if tabs
            else "delim = ',', quote = '\"', escape = '\"'" -%}
        {%- set reader = "read_csv(" ~ path_list ~ ", header = true, " ~ dialect
            ~ ", all_varchar = true, union_by_name = true"
            ~ (', null_padding = true, strict_mode = false, parallel = false, max_line_size = 65536'
                if meta.get('torn_lines') else '')
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
    {%- if format in ('csv', 'parquet') -%}
        {%- set found = run_query('describe select * from ' ~ reader).columns[0].values()
            | map('lower') | list -%}
        {%- for name in names
            if name | lower not in found and name not in meta.get('optional', []) -%}
            {{ exceptions.raise_compiler_error(
                source_name ~ '.' ~ table_name ~ ': column ' ~ name ~ ' is missing in '
                ~ paths[0] | replace("'", '')
                ~ '; use the release that README names, or restore the header') }}
        {%- endfor -%}
    {%- endif -%}
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
    {%- else %}
    {{ name }}
    {%- endif %}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ reader }}
{%- endmacro %}
