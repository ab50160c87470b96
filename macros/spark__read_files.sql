{#- Spark reads converted dumps (Parquet) only: many readers cannot number the rows of one packed
    file. `ehrbench run --spark` sees to it that each table has its folder of parts. -#}
{% macro spark__source_files(source_name, meta) -%}
    {%- set parts = [] -%}
    {%- for file in meta['file'] if file.endswith('.parquet') -%}
        {%- do parts.append(source_dir(source_name) ~ '/' ~ file) -%}
    {%- endfor -%}
    {{ return(parts) }}
{%- endmacro %}

{% macro spark__read_files(source_name, table_name, meta, files) -%}
    {%- set given = {'_file': '_metadata.file_name', '_row': '_metadata.row_index + 1'} -%}
    {%- set selected = [] -%}
    {%- for name in meta['columns'] -%}
        {%- do selected.append(given.get(name, name) ~ ' as ' ~ name) -%}
    {%- endfor -%}
    {{ return('(select ' ~ selected | join(', ') ~ ' from parquet.`'
        ~ files[0] | replace('`', '``') ~ '`)') }}
{%- endmacro %}
