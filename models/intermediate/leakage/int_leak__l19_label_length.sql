-- The lift of B1, and whether the place of the answer's length among its item's options is spread
-- evenly (chi-squared; equal lengths are ranked by md5). Templates with one answer share its label,
-- so chi-squared is divided by the mean design effect of the places.
{%- set z = var('set_rule_z') %}
with

baselines as (

    select * from {{ ref('rpt_surface_baselines') }}

),

templates as (

    select * from {{ ref('int_surface_templates') }}

),

options as (

    select * from {{ ref('int_surface_options') }}

),

{{ baseline_lift_results('L19', 'B1') }},

-- Every template with the same option count, the smallest, so that places can be compared.
smallest as (

    select * from templates
    where n_options = {{ var('item_option_counts') | min }}

),

placed as (

    select
        smallest.source,
        smallest.task,
        smallest.n_options,
        smallest.person_group,
        smallest.answer_cui_id,
        options.is_gold,
        row_number() over (
            partition by smallest.template_key
            order by
                options.n_characters desc,
                {{ key(['smallest.template_key', 'options.option_key', "'length'"]) }},
                options.option_key
        ) as place
    from smallest
    inner join options
        on smallest.template_key = options.template_key
        and options.rank < smallest.n_options

),

places as (

    select
        placed.source,
        placed.task,
        placed.n_options,
        numbers.place,
        placed.person_group,
        placed.answer_cui_id,
        1 as n,
        case when placed.place = numbers.place then 1000000 else 0 end as value
    from placed
    cross join (
        select unnest(range(1, {{ (var('item_option_counts') | min) + 1 }})) as place
    ) as numbers
    where placed.is_gold

),

{{ two_way_error('shares', 'places', ['source', 'task', 'n_options', 'place']) }},

spread as (

    select
        source,
        task,
        n_options,
        n,
        n_options - 1 as df,
        sum(power(mean - 1.0 / n_options, 2) * n * n_options) as chi_squared,
        -- Variance of a share over that of independent draws.
        greatest(1, avg(
            power(standard_error, 2) * n * n_options * n_options / (n_options - 1)
        )) as design_effect,
        string_agg(cast(round(100 * mean, 1) as varchar), ' ' order by place) as percentages
    from shares
    group by
        source,
        task,
        n_options,
        n

),

tested as (

    select
        *,
        chi_squared / design_effect as adjusted,
        {{ chi_squared_limit('df', z) }} as allowed
    from spread

),

place_results as (

    select
        cast('L19' as varchar) as rule_id,
        source,
        task,
        cast('place by length' as varchar) as stratum,
        cast(n as bigint) as n,
        cast(adjusted as decimal(18, 6)) as statistic,
        cast(null as decimal(18, 6)) as low,
        cast(null as decimal(18, 6)) as high,
        cast(allowed as decimal(18, 6)) as allowed,
        case
            when n >= {{ var('set_rule_min_templates') }} then adjusted > allowed
        end as is_found,
        cast(concat('per cent of answers from longest to shortest: ', percentages) as varchar)
            as evidence
    from tested

),

all_results as (

    select * from results
    union all
    select * from place_results

)

select * from all_results
