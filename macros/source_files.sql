{#- Paths of a source table that exist now, as a list (empty when the source is missing).
    A table's meta may name several `file` alternatives and the META parent folder of UMLS. -#}
{% macro source_files(source_name, meta) -%}
    {%- set folder = source_dir(source_name) -%}
    {%- if not folder -%}{{ return([]) }}{%- endif -%}
    {%- set files = meta['file'] if meta['file'] is not string else [meta['file']] -%}
    {%- for file in files -%}
        {%- set found = run_query(
            "select file from glob('" ~ (folder ~ '/' ~ file) | replace("'", "''")
            ~ "') order by file").columns[0].values() -%}
        {%- if found | length > 0 -%}{{ return(found | list) }}{%- endif -%}
    {%- endfor -%}
    {{ return([]) }}
{%- endmacro %}
