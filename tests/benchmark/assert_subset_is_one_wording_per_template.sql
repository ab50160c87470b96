-- Templates of the subset whose multiple-choice items are asked in more than one wording or twice at
-- one option count, and tasks with more templates than planned.
with

subset as (

    select * from {{ ref('dim_items') }}
    where in_subset
        and format = 'mcq'

),

templates_counted as (

    select
        source,
        task,
        template_key,
        count(distinct variant) as n_variants,
        count(*) as n_items,
        count(distinct n_options) as n_option_counts
    from subset
    group by
        source,
        task,
        template_key

),

tasks_counted as (

    select
        source,
        task,
        count(*) as n_templates
    from templates_counted
    group by
        source,
        task

)

select
    template_key as found_in,
    n_items as n
from templates_counted
where n_variants > 1
    or n_items > n_option_counts

union all

select
    concat(source, ' ', task) as found_in,
    n_templates as n
from tasks_counted
where n_templates > {{ var('subset_templates_per_task') }}
