-- Tasks and option counts whose answer letters are further from equal numbers than chance allows
-- (chi-squared over one wording per template; critical value by Wilson and Hilferty).
with

items as (

    select * from {{ ref('dim_items') }}
    where released
        and format = 'mcq'

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

one_per_template as (

    select
        items.task,
        items.n_options,
        items.item_id
    from items
    qualify row_number() over (
        partition by items.template_key, items.n_options
        order by items.variant, items.item_id
    ) = 1

),

letters_counted as (

    select
        one_per_template.task,
        one_per_template.n_options,
        answer_keys.gold_letter,
        count(*) as n
    from one_per_template
    inner join answer_keys
        on one_per_template.item_id = answer_keys.item_id
    group by
        one_per_template.task,
        one_per_template.n_options,
        answer_keys.gold_letter

),

tested as (

    select
        task,
        n_options,
        sum(n) as n_items,
        -- letters that never hold the answer add their expectation through this form of the sum
        sum(n * n) * n_options / sum(n) - sum(n) as chi_squared,
        n_options - 1 as df
    from letters_counted
    group by
        task,
        n_options

)

select *
from tested
where chi_squared > df * pow(
    1 - 2 / (9.0 * df) + {{ var('position_test_z') }} * sqrt(2 / (9.0 * df)), 3)
