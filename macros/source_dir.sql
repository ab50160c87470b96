{#- Folder of a source for the current target. `synthetic` reads only what `ehrbench synth` wrote,
    whatever the variables say; `demo` falls back to the layout of the shared test data: below
    EHRBENCH_SHARED_DIR, else ../shared where that has data, else build, which `ehrbench fetch`
    fills. The completions store and the weights are the folders that python/ehrbench/paths.py
    names. -#}
{% macro source_dir(source_name) -%}
    {%- if source_name == 'completions' -%}
        {{ return(env_var('EHRBENCH_COMPLETIONS_DIR', '')
            or 'build/' ~ target.name ~ '/completions') }}
    {%- endif -%}
    {%- if source_name == 'weights' -%}
        {{ return(env_var('EHRBENCH_MODELS_DIR', '') or 'build/models') }}
    {%- endif -%}
    {%- if target.name == 'synthetic' -%}
        {{ return(env_var('EHRBENCH_SYNTH_DIR', 'build/synthetic') ~ '/'
            ~ ('truth' if source_name == 'truth' else 'raw/' ~ source_name)) }}
    {%- endif -%}
    {%- set given = env_var('EHRBENCH_' ~ source_name | upper ~ '_DIR', '') -%}
    {%- if given or target.name != 'demo' -%}
        {{ return(given) }}
    {%- endif -%}
    {%- set shared = env_var('EHRBENCH_SHARED_DIR', '') -%}
    {%- if not shared -%}
        {%- set found = run_query("select 1 from glob('../shared/data/*/*') limit 1") -%}
        {%- set shared = '../shared' if found.rows | length else 'build' -%}
    {%- endif -%}
    {%- set layout = {
        'mimic_iv': 'mimic-iv-demo', 'mimic_iii': 'mimic-iii-demo',
        'omop': '', 'umls': 'kb-open/umls', 'semmeddb': 'kb-open/semmeddb',
        'drugbank': 'kb-open/drugbank', 'icd': 'kb-open/icd', 'atc': 'kb-open/atc'} -%}
    {{ return(shared ~ '/data/' ~ layout[source_name] if source_name in layout else '') }}
{%- endmacro %}
