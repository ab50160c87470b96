{#- Paths of a source table that exist now, as a list (empty when the source is missing). A table's
    meta names alternatives in `file`; the first that matches wins. Upper and lower case of names
    do not count. `leave_out` names folders: files two levels below them are not read.
    With `sites: true` the folder may also hold one folder per site, and each folder
    gives its own first match. -#}
{% macro source_files(source_name, meta) -%}
    {%- set folder = source_dir(source_name) -%}
    {%- if not folder -%}{{ return([]) }}{%- endif -%}
    {%- set files = meta['file'] if meta['file'] is not string else [meta['file']] -%}
    {%- set searches = [] -%}
    {%- for file in files -%}
        {%- for prefix in ['', '*/'] if prefix == '' or meta.get('sites') -%}
            {%- set pattern = glob_literal(folder) ~ '/' ~ prefix ~ any_case(file) -%}
            {%- do searches.append(
                'select file, ' ~ loop.index0 ~ ' as is_site, ' ~ files.index(file)
                ~ " as choice from glob('" ~ pattern | replace("'", "''") ~ "')") -%}
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
                case when is_site = 1 then parse_path(file)[-2] else '' end as site
            from found
            -- Archives leave folders like __MACOSX beside the sites.
            where (is_site = 0 or not regexp_matches(parse_path(file)[-2], '^[_.]'))
                {%- for left_out in meta.get('leave_out', []) %}
                and parse_path(file)[-3] is distinct from '{{ left_out }}'
                {%- endfor %}
        )
        select file from placed
        qualify choice = min(choice) over (partition by site)
        order by file
    {%- endset -%}
    {%- set found = run_query(sql).columns[0].values() -%}
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
