{#- The one door to files: a relation over a raw file with every column as text, in the order and
    under the names that the source's yml lists; an empty typed relation when the file is missing;
    the fixture in a unit test. Formats: csv (header, by name), csv_positional and semmeddb (no
    header, by position), rrf (UMLS pipes), fixed (one text column `line`), parquet (by name),
    listing (the paths alone). -#}
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
    cast(null as {{ (meta.get('types') or {}).get(column, 'varchar') }}) as {{ column }}
    {{- ',' if not loop.last }}
    {%- endfor %}
where false)
{%- endmacro %}

{% macro default__read_files(source_name, table_name, meta, files) -%}
    {%- set paths = [] -%}
    {%- for file in files -%}
        {%- do paths.append("'" ~ file | replace("'", "''") ~ "'") -%}
    {%- endfor -%}
    {%- set path_list = '[' ~ paths | join(', ') ~ ']' -%}
    {%- if meta['format'] == 'listing' -%}
        {{ return('(select unnest(' ~ path_list ~ ') as ' ~ meta['columns'][0] ~ ')') }}
    {%- endif -%}
    {%- set names = meta['columns'] -%}
    {%- set format = meta['format'] -%}
    {%- set encoding = ", encoding = '" ~ meta.get(
        'encoding', 'latin-1' if format == 'semmeddb' else 'utf-8') ~ "'" -%}
    {%- if format == 'csv' -%}
        {%- set reader = "read_csv(" ~ path_list ~ ", header = true, delim = ',', quote = '\"', "
            ~ "escape = '\"', all_varchar = true, union_by_name = true"
            ~ encoding ~ ")" -%}
    {%- elif format == 'parquet' -%}
        {%- set reader = "read_parquet(" ~ path_list ~ ", union_by_name = true)" -%}
    {%- else -%}
        {%- set options = {
            'csv_positional': "delim = ',', quote = '\"', escape = '\"'",
            'semmeddb': "delim = ',', quote = '\"', escape = '\\', null_padding = true, "
                ~ "parallel = false",
            'rrf': "delim = '|', quote = '', escape = '', null_padding = true",
            'fixed': "delim = '\x01', quote = '', escape = ''",
        } -%}
        {%- set typed = [] -%}
        {%- for name in names + (['_end'] if format == 'rrf' else []) -%}
            {%- do typed.append("'" ~ name ~ "': 'VARCHAR'") -%}
        {%- endfor -%}
        {%- set reader = "read_csv(" ~ path_list ~ ", header = false, auto_detect = false, "
            ~ options[format] ~ encoding ~ ", columns = {" ~ typed | join(', ') ~ "})" -%}
    {%- endif -%}
    {%- if format in ('csv', 'parquet') -%}
        {%- set found = run_query('describe select * from ' ~ reader).columns[0].values()
            | map('lower') | list -%}
        {%- for name in names if name | lower not in found and name not in meta.get('optional', []) -%}
            {{ exceptions.raise_compiler_error(
                source_name ~ '.' ~ table_name ~ ': column ' ~ name ~ ' is missing in ' ~ files[0]
                ~ '; use the release that README names, or restore the header') }}
        {%- endfor -%}
    {%- endif -%}
(select
    {%- for name in names %}
    {%- if format in ('csv', 'parquet') and name | lower not in found %}
    cast(null as {{ (meta.get('types') or {}).get(name, 'varchar') }}) as {{ name }}
    {%- elif format == 'semmeddb' %}
    nullif({{ name }}, '\N') as {{ name }}
    {%- else %}
    {{ name }}
    {%- endif %}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ reader }})
{%- endmacro %}
