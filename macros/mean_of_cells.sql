{#- CTEs of the plain mean of the means of cells, with a standard error by clusters of two kinds
    (person and answer concept), by Cameron, Gelbach and Miller. What a cluster moves the figure
    by is summed over all cells first, so what cells share counts as their covariance. With one
    cell this is two_way_error.

    `rows` names a CTE with the `strata` columns, the column `cell`, person_group, answer_cui_id,
    n (integer) and value (integer: the sum over the n, in 1/`unit`). The last CTE is called
    `name`: strata, n, n_cells, n_persons, n_answers, mean, standard_error (null when a cell has
    rows of one person only) and agreed_variance. A cell whose rows all agree has no linearised
    error: the squared half width of the Wilson interval with one observation per person, over
    interval_z, stands in as its variance (that of the mean's size, for means below zero), and
    agreed_variance is what it adds to the square of standard_error; zero when no cell agrees.
    Moves are whole numbers of 1e-15, so the order of sums decides nothing. -#}
{% macro mean_of_cells(name, rows, strata, cell='cell', unit=1000000000) -%}
{%- set columns = strata | join(', ') -%}
{%- set clusters = {
    'pairs': ['person_group', 'answer_cui_id'],
    'persons': ['person_group'],
    'answers': ['answer_cui_id'],
} -%}
{{ name }}_cells as (

    select
        {{ columns }},
        {{ cell }},
        cast(sum(n) as bigint) as cell_n,
        cast(sum(value) as double) as cell_value,
        min(person_group) = max(person_group) as is_lone,
        min(value * 1.0 / n) = max(value * 1.0 / n) as is_agreed,
        cast(count(*) over (partition by {{ columns }}) as bigint) as n_cells
    from {{ rows }}
    group by {{ columns }}, {{ cell }}

),

{{ name }}_agreed as (

    select
        {% for column in strata -%}
        cells.{{ column }},
        {% endfor -%}
        cells.{{ cell }},
        least(1.0, abs(cells.cell_value / cells.cell_n / {{ unit }})) as mean,
        count(distinct parts.person_group) as n_persons
    from {{ name }}_cells as cells
    inner join {{ rows }} as parts
        on {% for column in strata -%}
        cells.{{ column }} = parts.{{ column }}
        and {% endfor -%}
        cells.{{ cell }} = parts.{{ cell }}
    where cells.is_agreed
    group by all

),

{{ name }}_agreed_variances as (

    select
        {{ columns }},
        sum(cast(power(
            (
                {{ wilson_bound('mean * n_persons', 'n_persons', 'high') }}
                - {{ wilson_bound('mean * n_persons', 'n_persons', 'low') }}
            ) / {{ 2 * var('interval_z') }}, 2
        ) as decimal(18, 12))) as agreed_variance
    from {{ name }}_agreed
    group by {{ columns }}

),

{{ name }}_means as (

    select
        {{ columns }},
        sum(cell_n) as n,
        count(*) as n_cells,
        bool_or(is_lone) as has_lone_cell,
        cast(sum(cast(round(1e15 * (cell_value / cell_n / {{ unit }})) as hugeint)) as double)
            / count(*) / 1e15 as mean
    from {{ name }}_cells
    group by {{ columns }}

),

{{ name }}_moves as (

    select
        {% for column in strata -%}
        parts.{{ column }},
        {% endfor -%}
        parts.person_group,
        parts.answer_cui_id,
        cast(round(
            1e15 * (parts.value - cells.cell_value * parts.n / cells.cell_n)
            / cells.cell_n / cells.n_cells / {{ unit }}
        ) as bigint) as move
    from {{ rows }} as parts
    inner join {{ name }}_cells as cells
        on {% for column in strata -%}
        parts.{{ column }} = cells.{{ column }}
        and {% endfor -%}
        parts.{{ cell }} = cells.{{ cell }}

),

{% for kind, keys in clusters.items() -%}
{{ name }}_{{ kind }}_summed as (

    select
        {{ columns }},
        {{ keys | join(', ') }},
        cast(sum(move) as bigint) as move
    from {{ name }}_{{ 'moves' if kind == 'pairs' else 'pairs_summed' }}
    group by {{ columns }}, {{ keys | join(', ') }}

),

{{ name }}_{{ kind }} as (

    select
        {{ columns }},
        count(*) as n_clusters,
        cast(sum(cast(move as hugeint) * move) as double) * count(*) / nullif(count(*) - 1, 0)
            as squares
    from {{ name }}_{{ kind }}_summed
    group by {{ columns }}

),

{% endfor -%}
{{ name }} as (

    select
        {% for column in strata -%}
        means.{{ column }},
        {% endfor -%}
        means.n,
        means.n_cells,
        persons.n_clusters as n_persons,
        answers.n_clusters as n_answers,
        means.mean,
        case
            when not means.has_lone_cell then sqrt(greatest(
                persons.squares,
                coalesce(answers.squares, 0),
                persons.squares + coalesce(answers.squares, 0) - coalesce(pairs.squares, 0)
            )) / 1e15
        end as standard_error,
        cast(coalesce(agreed.agreed_variance, 0) as double) / (means.n_cells * means.n_cells)
            as agreed_variance
    from {{ name }}_means as means
    {%- for kind in clusters %}
    inner join {{ name }}_{{ kind }} as {{ kind }}
        on {% for column in strata -%}
        means.{{ column }} = {{ kind }}.{{ column }}
        {%- if not loop.last %}
        and {% endif %}
        {%- endfor %}
    {%- endfor %}
    left join {{ name }}_agreed_variances as agreed
        on {% for column in strata -%}
        means.{{ column }} = agreed.{{ column }}
        {%- if not loop.last %}
        and {% endif %}
        {%- endfor %}

)
{%- endmacro %}
