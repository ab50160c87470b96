-- Does an order that ids give to the options of an item tell which one is the answer? The
-- point-biserial correlation of the place with being the answer, one item per template. Options are
-- stored in the order of their letters (a test of its own), so the letter stands for storage.
{%- set z = var('set_rule_z') %}
{%- set allowed = var('set_rule_max_correlation') %}
with

templates as (

    select * from {{ ref('int_surface_templates') }}
    where is_drawn

),

items as (

    select * from {{ ref('dim_items') }}
    where released
        and format = 'mcq'

),

options as (

    select * from {{ ref('fct_item_options') }}

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

drawn_items as (

    select
        templates.source,
        templates.task,
        templates.person_group,
        templates.answer_cui_id,
        templates.n_options,
        items.item_id
    from templates
    inner join items
        on templates.template_key = items.template_key
        and templates.n_options = items.n_options
    qualify row_number() over (
        partition by templates.template_key
        order by items.item_id
    ) = 1

),

placed as (

    select
        drawn_items.*,
        options.option_key = answer_keys.gold_option_key as is_gold,
        row_number() over (
            partition by drawn_items.item_id order by options.option_key, options.option_letter
        ) as by_option_key,
        row_number() over (
            partition by drawn_items.item_id
            order by
                {{ key(['drawn_items.item_id', 'options.option_key']) }},
                options.option_letter
        ) as by_item_and_option,
        row_number() over (
            partition by drawn_items.item_id order by options.option_letter
        ) as by_letter
    from drawn_items
    inner join options
        on drawn_items.item_id = options.item_id
    inner join answer_keys
        on drawn_items.item_id = answer_keys.item_id

),

orders as (

    {% for order, stratum in [
        ('by_option_key', 'option_key'),
        ('by_item_and_option', 'item_id and option_key'),
        ('by_letter', 'option_letter'),
    ] -%}
    select
        source,
        task,
        '{{ stratum }}' as stratum,
        person_group,
        answer_cui_id,
        n_options,
        {{ order }} as place
    from placed
    where is_gold
    {% if not loop.last %}union all
    {% endif %}
    {%- endfor %}

),

-- Of k places the mean is (k + 1) / 2, the variance (k² - 1) / 12; one of k options is the answer.
correlations as (

    select
        *,
        1 as n,
        cast(round(
            1000000 * (place - (n_options + 1) / 2.0)
            / sqrt((n_options * n_options - 1) / 12.0 * (n_options - 1))
        ) as bigint) as value
    from orders

),

{{ two_way_error('means', 'correlations', ['source', 'task', 'stratum']) }},

results as (

    select
        cast('L39' as varchar) as rule_id,
        source,
        task,
        cast(stratum as varchar) as stratum,
        cast(n as bigint) as n,
        cast(mean as decimal(18, 6)) as statistic,
        cast(mean - {{ z }} * standard_error as decimal(18, 6)) as low,
        cast(mean + {{ z }} * standard_error as decimal(18, 6)) as high,
        cast({{ allowed }} as decimal(18, 6)) as allowed,
        case
            when n >= {{ var('set_rule_min_templates') }} and n_persons >= 2
                then abs(mean) > {{ allowed }} and abs(mean) > {{ z }} * standard_error
        end as is_found,
        cast(concat('correlation of place and answer over ', n_persons, ' persons') as varchar)
            as evidence
    from means

)

select * from results
