{#- On Spark, before the models: registers what they read and this call does not make, under the
    names that ref() gives. Tables of DuckDB were handed over to `in` of EHRBENCH_SPARK_DIR, Spark's
    own of an earlier call lie in `out`. Nothing on DuckDB. -#}
{% macro spark_inputs() -%}
    {%- if execute and target.type == 'spark' -%}
        {%- set folder = env_var('EHRBENCH_SPARK_DIR') -%}
        {%- set needed = [] -%}
        {%- for id in selected_resources if id in graph.nodes -%}
            {%- do needed.extend(graph.nodes[id].depends_on.nodes) -%}
        {%- endfor -%}
        {%- for id in needed | unique if id in graph.nodes and id not in selected_resources -%}
            {%- set node = graph.nodes[id] -%}
            {%- set place = folder ~ ('/out/' ~ target.schema ~ '.db/' if 'portable' in node.tags
                else '/in/') ~ node.name -%}
            {%- do run_query('create table ' ~ target.schema ~ '.' ~ node.name
                ~ " using parquet location '" ~ place | replace('\\', '\\\\')
                | replace("'", "\\'") ~ "'") -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}
