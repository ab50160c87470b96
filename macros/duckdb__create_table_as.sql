{#- How DuckDB takes over what Spark made. Where EHRBENCH_SPARK_TABLES names the folder of Spark's
    tables, a model tagged portable is read from there, in place of its own SQL; a contract checks
    names and types as ever. Everything else is left to the adapter. -#}
{% macro duckdb__create_table_as(temporary, relation, compiled_code) -%}
    {{ return(dbt.duckdb__create_table_as(
        temporary, relation, compiled_code if temporary else made_by_spark(compiled_code),
        *varargs, **kwargs)) }}
{%- endmacro %}

{#- The dumps' tables are views of Spark's files then (dbt_project.yml): they are never copied.
    Other views are DuckDB's own on either way. -#}
{% macro duckdb__create_view_as(relation, sql) -%}
    {{ return(dbt.duckdb__create_view_as(
        relation, made_by_spark(sql) if 'staging' in model.tags else sql)) }}
{%- endmacro %}

{#- SQL of a model, or what reads its table of Spark. -#}
{% macro made_by_spark(compiled_code) -%}
    {%- set folder = env_var('EHRBENCH_SPARK_TABLES', '') -%}
    {%- if not folder or 'portable' not in model.get('tags', []) -%}
        {{ return(compiled_code) }}
    {%- endif -%}
    {{ return("select * from read_parquet('"
        ~ (glob_literal(folder) ~ '/' ~ model.name ~ '/*.parquet') | replace("'", "''")
        ~ "', hive_partitioning = false)") }}
{%- endmacro %}
