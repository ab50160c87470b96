-- Figures outside their own interval, or intervals with one end.
with

figures as (

    {%- for figure in ['overall', 'dx', 'tx', 'px', 'acc_4', 'acc_5', 'acc_6',
        'parse_failure_rate', 'chance_corrected', 'valid_only', 'rank', 'average_rank',
        'icc_template'] %}
    select
        model,
        mode,
        '{{ figure }}' as figure,
        {{ figure }} as value,
        {{ figure }}_low as low,
        {{ figure }}_high as high
    from {{ ref('rpt_leaderboard') }}
    union all
    {%- endfor %}
    select
        concat(first_model, ' ', second_model) as model,
        mode,
        'difference' as figure,
        difference as value,
        difference_low as low,
        difference_high as high
    from {{ ref('rpt_model_differences') }}
    union all
    select
        model,
        mode,
        concat(source, ' ', task, ' ', n_options) as figure,
        accuracy as value,
        accuracy_low as low,
        accuracy_high as high
    from {{ ref('rpt_accuracy') }}

)

select *
from figures
where value < low
    or value > high
    or (low is null) is distinct from (high is null)
    or (value is null and low is not null)
