-- Is a letter the answer more often than the others? Chi-squared per source, task, option count and
-- wording, over released items.
with

items as (

    select * from {{ ref('dim_items') }}
    where released
        and format = 'mcq'

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

letters_counted as (

    select
        items.source,
        items.task,
        items.n_options,
        items.variant,
        answer_keys.gold_letter,
        count(*) as n
    from items
    inner join answer_keys
        on items.item_id = answer_keys.item_id
    group by
        items.source,
        items.task,
        items.n_options,
        items.variant,
        answer_keys.gold_letter

),

tested as (

    select
        source,
        task,
        n_options,
        variant,
        sum(n) as n_items,
        -- letters that never hold the answer add their expectation through this form of the sum
        sum(n * n) * n_options / sum(n) - sum(n) as chi_squared,
        {{ chi_squared_limit('(n_options - 1)', var('position_test_z')) }} as allowed,
        max(n) as n_most,
        case when count(*) < n_options then 0 else min(n) end as n_least
    from letters_counted
    group by
        source,
        task,
        n_options,
        variant

),

results as (

    select
        cast('L20' as varchar) as rule_id,
        source,
        task,
        cast(concat(n_options, ' options, wording ', variant) as varchar) as stratum,
        cast(n_items as bigint) as n,
        cast(chi_squared as decimal(18, 6)) as statistic,
        cast(null as decimal(18, 6)) as low,
        cast(null as decimal(18, 6)) as high,
        cast(allowed as decimal(18, 6)) as allowed,
        case
            when n_items >= {{ var('set_rule_min_templates') }} then chi_squared > allowed
        end as is_found,
        cast(concat('answers per letter from ', n_least, ' to ', n_most) as varchar) as evidence
    from tested

)

select * from results
