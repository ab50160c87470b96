{#- CTEs of means with intervals clustered by person and answer concept (mean_of_cells with one cell).
    `rows` names a CTE with the `strata` columns, the column `part` (1), template_key, person_group,
    answer_cui_id, n (integer) and value (bigint: the sum over the n in millionths of millionths).
    A statistic that is no mean comes as its pseudo-values: the statistic plus n times what the row
    moves it by (linearised). The last CTE is called `name`: strata, n, n_templates, n_persons, mean,
    low, high. `bounded` says in SQL whether a figure is a proportion, within [0, 1]; other
    intervals are cut to `lowest` and `highest` (SQL; those of a difference of proportions unless
    given), but hold their figure. -#}
{% macro figure_intervals(name, rows, strata, bounded, lowest='-1.0', highest='1.0') -%}
{%- set columns = strata | join(', ') -%}
{%- set z = var('interval_z') -%}
{%- set error = 'sqrt(means.standard_error * means.standard_error + means.agreed_variance)' -%}
{{ mean_of_cells(name ~ '_means', rows, strata, 'part', 1000000000000) }},

{{ name }}_counted as (

    select
        {{ columns }},
        count(distinct template_key) as n_templates
    from {{ rows }}
    group by {{ columns }}

),

{{ name }} as (

    select
        {% for column in strata -%}
        means.{{ column }},
        {% endfor -%}
        means.n,
        counted.n_templates,
        means.n_persons,
        means.mean,
        {%- for side in ['low', 'high'] %}
        case
            when means.standard_error is null then null
            when {{ bounded }} then {{ clustered_interval(
                'means.mean', 'means.standard_error', 'means.n_persons', side
            ) }}
            {%- if side == 'low' %}
            else least(means.mean, greatest({{ lowest }}, means.mean - {{ z }} * {{ error }}))
            {%- else %}
            else greatest(means.mean, least({{ highest }}, means.mean + {{ z }} * {{ error }}))
            {%- endif %}
        end as {{ side }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ name }}_means as means
    inner join {{ name }}_counted as counted
        on {% for column in strata -%}
        means.{{ column }} = counted.{{ column }}
        {%- if not loop.last %}
        and {% endif %}
        {%- endfor %}

)
{%- endmacro %}
