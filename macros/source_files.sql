{#- Paths of a source table that exist now, as a list (empty when the source is missing). A table's
    meta names alternatives in `file`; the first that matches wins. Upper and lower case of names
    do not count. `leave_out` names folders: files two levels below them are not read.
    With `sites: true` the folder may also hold one folder per site, and each folder
    gives its own first match. -#}
{% macro source_files(source_name, meta) -%}
    {{ return(adapter.dispatch('source_files')(source_name, meta)) }}
{%- endmacro %}

{% macro default__source_files(source_name, meta) -%}
    {%- set folder = source_dir(source_name) -%}
    {%- if not folder -%}{{ return([]) }}{%- endif -%}
    {%- set files = meta['file'] if meta['file'] is not string else [meta['file']] -%}
    {%- set searches = [] -%}
    {%- for file in files -%}
        {%- for prefix in ['', '*/'] if prefix == '' or meta.get('sites') -%}
            {%- set pattern = glob_literal(folder) ~ '/' ~ prefix ~ any_case(file) -%}
            {%- do searches.append(
                'select file, ' ~ loop.index0 ~ ' as is_site, ' ~ files.index(file)
                ~ " as choice, false as is_below from glob('" ~ pattern | replace("'", "''") ~ "')")
            -%}
            {#- DuckDB finds files only: what a folder of that name holds tells of it. -#}
            {%- if '*' not in file -%}
                {%- do searches.append(
                    'select file, ' ~ loop.index0 ~ ' as is_site, ' ~ files.index(file)
                    ~ " as choice, true as is_below from glob('"
                    ~ pattern | replace("'", "''") ~ "/*')") -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set sql -%}
        with found as (
            {{ searches | join(' union all ') }}
        ),
        placed as (
            select
                file,
                choice,
                is_below,
                case when is_site = 1 then parse_path(file)[if(is_below, -3, -2)] else '' end
                    as site
            from found
            where true
                {%- for left_out in meta.get('leave_out', []) %}
                and parse_path(file)[-3] is distinct from '{{ left_out }}'
                {%- endfor %}
        )
        select
            file,
            is_below
        from placed
        -- Archives leave folders like __MACOSX beside the sites.
        where not regexp_matches(site, '^[_.]')
        qualify choice = min(choice) over (partition by site)
        order by file
    {%- endset -%}
    {%- set listed = run_query(sql) -%}
    {%- set found = listed.columns[0].values() -%}
    {%- if found | length == 0 and '\\' in folder -%}
        {{ exceptions.raise_compiler_error(
            source_name ~ ': DuckDB finds nothing in a folder whose name holds a backslash: '
            ~ 'rename it in ' ~ folder) }}
    {%- endif -%}
    {%- for is_below in listed.columns[1].values() if is_below -%}
        {{ exceptions.raise_compiler_error(
            source_name ~ ': ' ~ found[loop.index0].split('/')[:-1] | join('/')
            ~ ' is a folder: put the file in its place') }}
    {%- endfor -%}
    {#- The readers take a name for a pattern too; a listing gives the name itself. -#}
    {%- set names = [] -%}
    {%- for file in found -%}
        {%- if '?' in file and meta['format'] != 'listing' -%}
            {{ exceptions.raise_compiler_error(
                source_name ~ ': DuckDB takes what follows a question mark for no part of a name: '
                ~ 'rename it in ' ~ file) }}
        {%- endif -%}
        {%- do names.append(file if meta['format'] == 'listing' else glob_literal(file)) -%}
    {%- endfor -%}
    {{ return(names) }}
{%- endmacro %}
