{%- set loaders = [
    'mimic_iv', 'mimic_iii', 'omop', 'umls', 'icd', 'semmeddb', 'drugbank', 'pubmed'] -%}
with

{%- for loader in loaders %}

{{ loader }}_bad_rows as (

    select * from {{ ref('int_' ~ loader ~ '__bad_rows') }}

),
{%- endfor %}

united as (
{% for loader in loaders %}
    select source_table, file, row, reason, action from {{ loader }}_bad_rows
    {%- if not loop.last %}
    union all
    {%- endif %}
{%- endfor %}

)

select
    source_table,
    file,
    row,
    reason,
    action
from united
